// Making elements and small waits. Everything that comes from the server is set as text, never as HTML.

/**
 * Make an element: h("p.note#id", {onclick, hidden: true, "aria-label": "x"}, child, "text", null).
 * @param {string} spec tag, then .classes and one #id
 * @param {Object<string, any>} [attributes] functions are listeners, false and null are left out
 * @param {...(Node|string|null|undefined|false|any[])} children
 */
export function h(spec, attributes = {}, ...children) {
  const [, tag, rest] = /^(\w+)(.*)$/.exec(spec);
  const made = document.createElement(tag);
  for (const part of rest.match(/[.#][\w-]+/g) ?? []) {
    if (part[0] === "#") made.id = part.slice(1);
    else made.classList.add(part.slice(1));
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat(9).filter((child) => child != null && child !== false));
  return made;
}

/** Text with *marked* words as nodes; asterisks stand in pairs. */
export const rich = (text) => text.split("*").map((part, at) => (at % 2 ? h("em", {}, part) : part));

/** Paragraphs, given as a list or as one text. */
export const paragraphs = (texts) => [texts ?? []].flat().map((text) => h("p", {}, rich(text)));

export const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

/** When what is in the page now has been painted, on the clock of event.timeStamp. */
export const painted = () =>
  new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go(performance.now()))));

/** A random id; crypto.randomUUID is missing on plain http. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** How a click was made: a click from the keyboard has no detail. */
export const inputKind = (event) =>
  event.type.startsWith("key") || event.detail === 0 ? "key" : event.pointerType || "mouse";

let hidden = 0;
let hiddenSince = document.hidden ? performance.now() : null;
document.addEventListener("visibilitychange", () => {
  if (document.hidden) hiddenSince = performance.now();
  else if (hiddenSince !== null) {
    hidden += performance.now() - hiddenSince;
    hiddenSince = null;
  }
});
/** Milliseconds for which the page was out of sight since it was opened. */
export const hiddenMs = () => hidden + (hiddenSince === null ? 0 : performance.now() - hiddenSince);
