// Fresh numbers: the page is fetched again every so often, and its parts marked data-live are exchanged. Without this script
// everything works; one reloads the page by hand.
const seconds = Number(document.body.dataset.refresh || 0);

const busy = (part) => part.contains(document.activeElement) && document.activeElement !== document.body;

async function refresh() {
  if (document.hidden) return;
  const url = new URL(location.href);
  url.searchParams.delete("told");
  url.searchParams.delete("on");
  const answer = await fetch(url, { headers: { accept: "text/html" }, redirect: "error" });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
    if (!next || busy(part) || next.innerHTML === part.innerHTML) continue;
    const open = [...part.querySelectorAll("details")].map((details) => details.open);
    const at = [part, ...part.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    part.replaceChildren(...next.childNodes);
    part.querySelectorAll("details").forEach((details, place) => (details.open = open[place] ?? details.open));
    [part, ...part.querySelectorAll(".scroll")].forEach((box, place) => (box.scrollLeft = at[place] ?? 0));
  }
}

if (seconds > 0) setInterval(() => refresh().catch(() => {}), seconds * 1000);
