"use strict";
(() => {
  const tip = document.getElementById("tip");
  let shown = null;

  for (const spot of document.querySelectorAll(".spot")) {
    const title = spot.querySelector("title");
    spot.setAttribute("aria-label", title.textContent);
    title.remove();
  }

  function hide() {
    tip.hidden = true;
    shown = null;
  }

  function show(spot) {
    shown = spot;
    tip.replaceChildren();
    const source = spot.dataset.picture ? document.getElementById(spot.dataset.picture) : null;
    if (source) {
      const picture = document.createElement("img");
      picture.src = source.src;
      picture.alt = "";
      tip.append(picture);
    }
    tip.append(spot.getAttribute("aria-label"));
    tip.hidden = false;
    const at = spot.getBoundingClientRect();
    const box = tip.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left + 16), document.documentElement.clientWidth - box.width - 8);
    const above = at.top - box.height - 8;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above > 8 ? above : at.bottom + 8) + scrollY}px`;
  }

  document.addEventListener("pointerover", (event) => {
    const spot = event.target.closest?.(".spot");
    if (spot) show(spot);
    else if (shown && event.pointerType === "mouse") hide();
  });
  document.addEventListener("focusin", (event) => {
    const spot = event.target.closest?.(".spot");
    if (spot) show(spot);
    else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  function opened() {
    const target = location.hash.length > 1 ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    for (let part = target; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
    if (target) target.scrollIntoView({ block: "center" });
    hide();
  }
  addEventListener("hashchange", opened);
  if (location.hash) opened();

  const closed = [];
  addEventListener("beforeprint", () => {
    for (const part of document.querySelectorAll("details[data-printed]:not([open])")) {
      closed.push(part);
      part.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const part of closed.splice(0)) part.open = false;
  });

  function sort(table, column, head) {
    const up = head.getAttribute("aria-sort") === "descending";
    for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const key = (row) => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
    };
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (typeof x !== typeof y) return typeof x === "number" ? -1 : 1;
      const order = typeof x === "number" ? x - y : x.localeCompare(y);
      return up ? order : -order;
    });
    body.append(...rows);
  }
  for (const table of document.querySelectorAll("table.sortable")) {
    if (table.tBodies[0].rows.length < 3) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.dataset.sortable = "";
      head.tabIndex = 0;
      head.addEventListener("click", () => sort(table, column, head));
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          sort(table, column, head);
        }
      });
    });
  }
})();
