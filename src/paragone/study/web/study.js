// The study in the browser: opens the session, shows the page of the phase that the server names, tells when it waits.
import { $, bar, button, dataset, fresh, h, main, p, sheet, speak, status, t, uuid } from "./dom.js";
import { call, open, remember, token } from "./net.js";
import * as outbox from "./outbox.js";
import { PAGES } from "./pages.js";
import * as trials from "./trials.js";

let state, timer;
let stopped; // by another tab, or a fault

/** Wait for what talks to the server; tell the person where that cannot go on. */
export const guarded = (talk) =>
	Promise.resolve(talk).catch((fault) => {
		fault.status === 410 ? replaced() : broken(fault);
		return new Promise(() => {});
	});

/** Take a step; then show what follows, or give it. */
export async function step(name, body = {}, quiet) {
	for (const made of main.querySelectorAll("button, input, select, textarea")) made.disabled = true;
	const next = await guarded(call("/api/step", { id: uuid(), step: name, body }));
	return quiet ? next : go(next, true);
}

let asking, again, anew;
/** Ask the server where we are. Two calls at a time are one. */
export async function refresh(query = "", afresh = Boolean(query)) {
	again = true;
	anew ||= afresh;
	if (asking) return;
	for (asking = true; again; anew = false) {
		again = false;
		go(await guarded(call(`/api/state${query}`)), anew);
	}
	asking = false;
}
/** Do something after some seconds, unless another page comes before; left out: ask again, and so on. */
export function retry(seconds, act) {
	clearTimeout(timer);
	timer = setTimeout(act ?? (() => (refresh(), retry(seconds))), seconds * 1000);
}

/** Show what a state says; what is on the page stays where nothing has changed. */
export function go(next, afresh) {
	// the code stays until it was read: what was asked before the end may tell of what comes after it
	if (!afresh && !stopped && /^(done|finish)$/.test(state?.phase) && next.session.number > state.session.number) return;
	const same = state?.phase === next.phase && !afresh && !stopped;
	const { study, session, phase, texts } = (state = next);
	if (texts) speak(texts);
	if (phase === "trial") trials.update(state);
	if (same) return;
	stopped = false;
	clearTimeout(timer);
	fresh();
	for (const name of ["trial", "criterion", "onset", "exact", "scale", "zoom"]) delete dataset[name];
	dataset.phase = phase;
	document.documentElement.lang = study.language;
	document.title = study.title;
	const sitting = session.of > 1 && t("session", { n: session.number, m: session.of });
	$("#where").textContent = [study.title, sitting, study.preview && t("preview")].filter(Boolean).join(" · ");
	if (($("#bar").hidden = phase !== "trial")) $("#count").textContent = "";
	status();
	gate();
	scrollTo(0, 0);
	guarded(phase === "trial" ? trials.run() : PAGES[phase](state));
}

export function progress(done) {
	const { of } = state.progress;
	const words = t("progress", { n: Math.min(done + 1, of), m: of });
	Object.assign($("#bar"), { ariaValueMax: of, ariaValueNow: done, ariaLabel: words });
	$("#bar div").style.width = `${(100 * done) / of}%`;
	$("#count").textContent = words;
}

export const calm = () => sheet(t("head.error"), p(navigator.onLine ? "retry" : "offline"));

/** Nothing more happens here until a button is pressed. */
function stop(phase, words, act, key) {
	fresh();
	stopped = true;
	asking = false;
	dataset.phase = phase;
	sheet(t("head.error"), h("p", words), bar(button(key, act, ".main")));
}
function replaced() {
	stop("replaced", t("replaced"), async () => {
		await guarded(open({}));
		announce();
		outbox.run();
		refresh();
	}, "here");
}
function broken(fault) {
	if (!fault.status) console.error(fault);
	stop("error", fault.data?.error?.message ?? t("error"), () => location.reload(), "reload");
}
export function pictureFailed(code) {
	status("picture-failed");
	code === 410 ? replaced() : refresh();
}

export const fullScreen = (needs) => needs.full_screen && document.documentElement.requestFullscreen?.().catch(() => {});

/** Too small a window: say so, and go on by itself when there is room. */
function gate() {
	const { min_width, min_height } = state.device ?? {};
	const [width, height] = [innerWidth, innerHeight];
	const small = !stopped && (width < min_width || height < min_height);
	main.hidden = main.inert = small;
	$("#gate").hidden = !small;
	if (!small) return;
	const key = Math.max(screen.width, screen.height) < min_width ? "phone" : "size";
	const words = p(`device.${key}`, { width, height, min_width, min_height });
	$("#gate").replaceChildren(h("h1", t("head.device")), words, key === "size" && outerWidth > 1.1 * width ? p("device.zoom") : "");
}

/** Other tabs that carry the same token (this tab was duplicated) end when this one says it. */
const channel = new BroadcastChannel("paragone");
const announce = () => channel.postMessage(token);

/** Speak of answers that wait, once the first of them has been tried in vain. */
let told;
function changed(tries) {
	const n = (dataset.waiting = outbox.queue.length);
	if (told && !n) status("saved");
	told = n && (told || tries);
	if (told) status(navigator.onLine ? "saving" : "offline", { n });
}

async function start() {
	const [, kind, word] = /^#([kt])=(.+)$/.exec(location.hash) ?? [];
	history.replaceState(null, "", location.pathname);
	if (kind === "t") remember(word);
	if (kind === "k" || !token) await open(kind ? { key: word } : {});
	announce();
	channel.onmessage = ({ data }) => data === token && replaced();
	const sent = ([{ trial }], code) => {
		if (code > 201) trials.forget();
		if (!trials.opens(trial)) refresh();
	};
	trials.keep(await outbox.unpack({ changed, sent, gone: replaced, early: refresh }));
	changed();
	await refresh();
	outbox.run();
	addEventListener("resize", gate);
	addEventListener("beforeunload", (e) => told && e.preventDefault());
	// a key that is held down presses no button again
	addEventListener("keydown", (e) => e.repeat && e.target.localName === "button" && e.preventDefault());
	// the Back button: the page stays; nothing is answered twice
	const hold = () => history.pushState(1, "");
	addEventListener("pointerdown", hold, { once: true });
	addEventListener("keydown", hold, { once: true });
	addEventListener("popstate", () => {
		hold();
		status("back");
	});
	if (window.top === window) return;
	$("footer").append(
		h("p", t("framed"), " ", button("new-tab", () => window.open(`/study#t=${token}`) && replaced(), ".small")),
	);
}
guarded(start());
