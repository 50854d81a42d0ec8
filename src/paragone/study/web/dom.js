// Elements, words, listeners, waits. What comes from the server is set as text, never as HTML.
export const $ = (selector) => document.querySelector(selector);
export const main = $("#page");
export const { dataset } = document.body; // what the page tells of itself, to style sheets and tests
export const now = () => performance.now();
export const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

/** h("p.note", "text", {hidden: true, onclick}, [more]); what is null or false is left out. */
export function h(spec, ...rest) {
	const [tag, ...classes] = spec.split(".");
	const made = document.createElement(tag);
	made.className = classes.join(" ");
	if (tag === "button") made.type = tag;
	for (const part of rest.flat(9)) {
		if (part?.constructor !== Object) made.append(part || part === 0 ? part : "");
		else for (const name in part) name in made ? (made[name] = part[name]) : made.setAttribute(name, part[name]);
	}
	return made;
}

let texts = {};
export const speak = (words) => (texts = words);
/** A text in the study's language, its {fields} filled in. */
export const t = (key, fields) => (texts[key] ?? key).replace(/{(\w+)}/g, (_, name) => fields[name]);
export const status = (key, fields) => ($("#status").textContent = key ? t(key, fields) : "");

/** Text with *marked* words, as nodes; the asterisks stand in pairs. */
export const rich = (text = "") => text.split("*").map((part, at) => (at % 2 ? h("em", part) : part));
export const paragraphs = (list = []) => [list].flat().map((text) => h("p", rich(text)));
export const p = (key, fields) => h("p", t(key, fields));
export const bar = (...nodes) => h("div.bar", nodes);
export const button = (key, onclick, kind = "") => h(`button${kind}`, t(`button.${key}`), { onclick });

let turn = new AbortController();
/** Begin a new page or trial: listeners of the last one end, and so does the signal that this gives. */
export function fresh() {
	turn.abort();
	turn = new AbortController();
	main.replaceChildren();
	return turn.signal;
}
/** Listen until the page or trial ends. */
export const on = (target, names, act, more) =>
	names.split(" ").forEach((name) => target.addEventListener(name, act, { signal: turn.signal, ...more }));
/** Keys that are pressed alone and not held down. */
export const onKey = (act) =>
	on(document, "keydown", (e) => e.repeat || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey || act(e));

/** Fill the page and put the reader at its beginning. */
export function fill(page, ...nodes) {
	dataset.page = page;
	main.replaceChildren(...h("p", nodes).childNodes);
	$("#page h1").id = "head"; // names the group that gets the focus
	main.focus({ preventScroll: true });
}
export const sheet = (head, ...nodes) => fill("sheet", h("div.sheet", h("h1", head), nodes));

/** A random id; crypto.randomUUID is missing on plain http. */
export function uuid() {
	const hex = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, 0));
	return hex.join("").replace(/(.{8})(....).(...).(...)/, "$1-$2-4$3-8$4-");
}
