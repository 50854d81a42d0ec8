"use strict";
(() => {
  const large = document.getElementById("large");
  const place = large.querySelector(".three");
  const words = large.querySelector("p");

  for (const box of document.querySelectorAll("[data-column]")) {
    box.addEventListener("change", () => {
      for (const cell of document.querySelectorAll(`.c${box.dataset.column}`)) cell.hidden = !box.checked;
    });
  }

  document.querySelector(".sheet").addEventListener("click", (event) => {
    const link = event.target.closest("a.shot");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const row = link.closest("tr");
    const links = [...row.querySelectorAll(".refs a.shot")];
    if (!links.includes(link)) links.push(link);
    place.replaceChildren(
      ...links.map((one) => {
        const picture = document.createElement("img");
        picture.src = one.href;
        picture.alt = one.querySelector("img").alt;
        return picture;
      }),
    );
    words.textContent = link.querySelector("img").alt;
    large.showModal();
  });

  large.querySelector("button").addEventListener("click", () => large.close());
})();
