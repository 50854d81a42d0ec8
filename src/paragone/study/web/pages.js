// Everything around the trials: one function for each phase, which fills the page and says which step was taken.
import { $, bar, button, fresh, h, main, on, p, paragraphs, rich, sheet, sleep, t, uuid } from "./dom.js";
import { call } from "./net.js";
import { queue, run } from "./outbox.js";
import { layout, pane, prepare, shotsOf } from "./stage.js";
import { fullScreen, go, refresh, retry, step } from "./study.js";
import { ask } from "./trials.js";

const parts = (list) => list.map(({ head, text }) => [h("h2", head), paragraphs(text)]);
const onward = (act, key = "continue") => bar(button(key, act, ".main"));
const live = (...words) => h("p", { role: "status" }, words);
const tick = (text, more) => h("label.tick", h("input", { type: "checkbox", ...more }), h("span", rich(text)));
const submit = (key, ...more) => bar(h("button.main", t(`button.${key}`), { type: "submit" }), more);
const form = (act, ...nodes) =>
	h("form", nodes, {
		onsubmit(e) {
			e.preventDefault();
			act(Object.fromEntries(new FormData(e.target)));
		},
	});
const moment = (at) =>
	new Date(at * 1000).toLocaleString(document.documentElement.lang, { dateStyle: "full", timeStyle: "short" });

function consent({ consent: { head, parts: told, boxes, version }, study: { language, languages } }) {
	const name = (code) => new Intl.DisplayNames(code, { type: "language" }).of(code);
	const others = languages.filter((code) => code !== language);
	const leave = h("dialog", { ariaLabel: t("button.decline") }, p("decline-sure"), [
		bar(button("decline", () => step("decline")), button("stay", () => leave.close())),
	]);
	sheet(head, [
		others.map((code) => h("button.small", name(code), { lang: code, onclick: () => refresh(`?lang=${code}`) })),
		parts(told),
		form(() => step("consent", { version }), [
			boxes.map((text) => tick(text, { required: true })),
			submit("agree", button("decline", () => leave.showModal())),
		]),
		leave,
	]);
}

const instructions = (state) => sheet(t("head.instructions"), parts(state.instructions.parts), onward(() => step("instructions")));

/** One card after another; one with a question lets the person try before it explains. */
async function tutorial(state, at = 0) {
	const signal = fresh();
	const { cards } = state.tutorial;
	const { head, text, panes, question, answer, why } = cards[at];
	const shots = await shotsOf({ id: `card${at}`, panes });
	if (signal.aborted) return;
	const said = live();
	const tries = panes.some(({ role }) => role === answer);
	const tell = (picked) => {
		const word = picked === answer ? "right" : "wrong";
		said.replaceChildren(picked ? h("b", t(`tutorial.${word}`), " ") : "", ...rich(why ?? ""));
		for (const one of main.querySelectorAll("[data-side]")) one.classList.toggle("picked", one.dataset.side === picked);
	};
	const choice = (role) => tries && ["left", "right", "item"].includes(role) && { "data-side": role, onclick: () => tell(role) };
	const root = h("div.root", h("div.grid", h("div.line", shots.map((shot) => pane(shot, shot.pane.label, choice(shot.pane.role))))));
	const move = (by) => (cards[at + by] ? tutorial(state, at + by) : step("tutorial"));
	sheet(head, [
		h("p.count", t("head.tutorial"), " ", t("tutorial.card", { n: at + 1, m: cards.length })),
		paragraphs(text),
		question && h("h2", rich(question)),
		shots[0] && root,
		tries && p("tutorial.try"),
		said,
		bar(
			at > 0 && button("previous", () => move(-1)),
			why && question && !tries && button("show", () => tell()),
			button("continue", () => move(1), ".main"),
		),
	]);
	if (!question) tell();
	if (!shots[0]) return;
	layout(root, shots);
	on(window, "resize", () => layout(root, shots));
}

/** One question after another, told at once whether it was right; the server decides what follows an attempt. */
async function training(state) {
	const { head, text, again, questions, attempt, attempts, feedback } = state.training;
	const at = Math.max(0, questions.findIndex((_, n) => !feedback?.[n]));
	const { id: trial, number: n, of: m } = questions[at];
	if (!at) await new Promise((begin) => sheet(head, paragraphs(text), parts(again), onward(begin)));
	$("#count").textContent = `${t("training.question", { n, m })} · ${t("training.attempt", { n: attempt, m: attempts })}`;
	const answers = [];
	await ask({ ...questions[at], back: false }, { values: {}, distortions: [] }, async (given) => {
		answers.push(...given.map(({ criterion, value, seconds }) => ({ trial, criterion, value, seconds })));
	});
	const next = await step("training", { answers }, true);
	const told = next.training?.feedback?.[at] ?? { right: next.phase !== "done" };
	const verdict = live(h("b", t(`training.${told.right ? "right" : "wrong"}`), " "), rich(told.text));
	const on = button("continue", () => go(next, true), ".main");
	$("main .bar").replaceWith(h("div.bar.told", verdict, on));
	on.focus();
}

function ready({ ready: { head, text }, device: needs, trials }) {
	prepare(trials);
	const begin = () => {
		fullScreen(needs);
		step("begin");
	};
	sheet(head, paragraphs(text), p(trials[0]?.page === "pairs" ? "pair.keys" : "rating.keys"), onward(begin, "ready"));
}

/** By the server's seconds; this clock only counts them down. */
function pause(state) {
	prepare(state.trials ?? []);
	const left = h("p.left", { role: "timer" });
	const over = live();
	const next = onward(() => step("break"));
	sheet(t("head.break"), p("break.text"), left, over, next);
	next.firstChild.disabled = true;
	countdown(state.break.seconds, left, "break.left", () => {
		next.firstChild.disabled = false;
		left.textContent = "";
		over.textContent = t("break.over");
	});
}
/** Tell the seconds that are left; then do something. */
function countdown(from, left, key, over) {
	const end = Date.now() + from * 1000;
	const count = () => {
		const seconds = Math.ceil((end - Date.now()) / 1000);
		left.textContent = t(key, { seconds });
		seconds > 0 ? retry(0.25, count) : over();
	};
	count();
}

function questionnaire({ questionnaire: { head, text, fields, remark } }) {
	const field = (label, control, help) => h("label.field", label, control, help && h("small", help));
	const skip = { id: "", label: t("questionnaire.skip") };
	const select = (name, choices) => h("select", { name }, [skip, ...choices].map(({ id, label }) => h("option", label, { value: id })));
	const send = ({ remark: words = "", ...chosen }) => {
		for (const id in chosen) if (!chosen[id]) delete chosen[id];
		step("questionnaire", { answers: chosen, remark: words });
	};
	sheet(head, paragraphs(text), form(send, [
		fields.map(({ id, label, choices }) => field(label, select(id, choices))),
		remark && field(t("questionnaire.remark"), h("textarea", { name: "remark", rows: 4, maxLength: 2000 }), t("questionnaire.remark-help")),
		submit("send"),
	]));
}

/** The code comes only when the server has every answer. */
async function finish(state) {
	const signal = fresh();
	const waiting = live();
	sheet(t("head.finish"), p("finish.text"), waiting);
	for (run(); queue[0]; await sleep(200)) {
		if (signal.aborted) return;
		waiting.textContent = t("finish.waiting", { n: queue.length });
	}
	const end = await call("/api/finish", { id: uuid() });
	if (!signal.aborted) go(end.phase ? end : { ...state, phase: "done", done: end }, true);
}

function done({ phase, done: { text, code, redirect, form: back, next }, study, session, participant: name }) {
	const shown = h("output.code", code ?? "");
	const copy = button("copy", async () => {
		getSelection().selectAllChildren(shown);
		if (document.execCommand("copy")) copy.textContent = t("button.copied");
	});
	const hidden = back && Object.entries(back.fields).map(([key, value]) => h("input", { type: "hidden", name: key, value }));
	const open = next && next.at * 1000 <= Date.now();
	sheet(t(`head.${phase}`), [
		paragraphs(text),
		code && [h("h2", t("done.code")), bar(shown, copy), p("done.code-text")],
		(back || redirect) && p("done.return"),
		back ? h("form", { method: "post", action: back.action }, hidden, submit("return")) : redirect && bar(h("a.main", t("button.return"), { href: redirect })),
		next && p(open ? "done.next-now" : "done.next-later", { n: next.session, m: session.of, when: moment(next.at) }),
		open && onward(() => refresh("", true), "start"),
		!back && !redirect && !next && p("done.close"),
		study.lab && handOver(),
		name && h("small", t("participant", { name })),
	]);
}

/** On the one machine of a lab: the start page for the next person, by a button or after a while. Nothing of this one stays. */
function handOver() {
	const left = h("p", { role: "timer" });
	const leave = () => {
		sessionStorage.clear();
		location.replace("/");
	};
	countdown(60, left, "lab.left", leave);
	return [onward(leave, "next-person"), left];
}

/** Pages that only tell something, and ask again after a while where that may change. */
const plain = (key, seconds) => ({ study }) => {
	if (seconds) retry(seconds);
	sheet(t(`head.${key}`), p(`wait.${key}`), study.lab && handOver());
};
/** The next session comes later; what the last one ended with can be read again. */
function wait(state) {
	retry(Math.max(5, Math.min(600, state.wait.until - state.now)));
	done(state);
}

const CARD = 8.56; // cm wide, ISO/IEC 7810 ID-1
const media = (...query) => query.some((one) => matchMedia(`(${one})`).matches);

/** What is kept of the screen, and whether something paints this page in other colours than ours. */
function screenFacts() {
	const { backgroundColor, color, filter } = getComputedStyle(document.documentElement);
	return {
		width: innerWidth,
		height: innerHeight,
		screen_width: screen.width,
		screen_height: screen.height,
		ratio: devicePixelRatio,
		depth: screen.colorDepth,
		zoom: Math.round((outerWidth / innerWidth) * visualViewport.scale * 100) || 100,
		gamut: ["rec2020", "p3", "srgb"].find((name) => media(`color-gamut: ${name}`)) ?? "",
		high_range: media("dynamic-range: high"),
		dark: media("prefers-color-scheme: dark"),
		recoloured:
			backgroundColor + color + filter !== "rgb(108, 108, 108)rgb(255, 255, 255)none" ||
			media("forced-colors: active", "inverted-colors: inverted"),
		touch: media("pointer: coarse"),
		full_screen: Boolean(document.fullscreenElement),
		automated: navigator.webdriver,
	};
}

async function device({ device: needs }) {
	const signal = fresh();
	const plates = [];
	for (const { id, choices, src = `/i/${id}/a` } of needs.plates) {
		const [{ image }] = await shotsOf({ id, panes: [{ src, label: t("device.plates") }] });
		const option = (value, text) => h("label.tick", h("input", { type: "radio", name: id, value, required: true }), text);
		const legend = h("legend", t("device.plates-count", { n: plates.length + 1, m: needs.plates.length }));
		plates.push(h("fieldset.plate", legend, image, h("div", choices.map((one) => option(one, one)), option("none", t("device.plates-nothing")))));
	}
	if (signal.aborted) return;
	const checks = h("ul");
	const look = () => {
		const { width, height, ratio, zoom, recoloured } = screenFacts();
		const lines = [Math.abs(zoom - 100) > 10 && t("device.zoom"), recoloured && t("device.recoloured")].filter(Boolean);
		const size = `${width} × ${height}. ${t("device.ratio", { ratio: Number(ratio.toFixed(2)) })}`;
		checks.replaceChildren(...[lines[0] ? lines : t("device.ok"), size].flat().map((line) => h("li", line)));
	};
	const send = ({ fits, none, width, ...seen }) => {
		fullScreen(needs);
		step("device", { ...screenFacts(), px_per_cm: fits ? Number((width / CARD).toFixed(2)) : null, plates: seen });
	};
	sheet(t("head.device"), p("device.text"), checks, form(send, [
		needs.card && card(),
		plates[0] && [h("h2", t("device.plates-head")), p("device.plates"), plates],
		needs.full_screen && p("device.full-screen"),
		submit("continue", button("check", look)),
	]));
	look();
	on(window, "resize", look);
}

/** A frame to be made as wide as a bank card. */
function card() {
	const shape = h("div.card");
	const size = () => (shape.style.width = `${slider.value}px`);
	const slider = h("input", { type: "range", name: "width", min: 160, max: 720, value: 324, ariaLabel: t("device.card-label"), oninput: size });
	const fits = tick(t("device.card-done"), { name: "fits", required: true });
	const none = tick(t("device.card-skip"), { name: "none", onchange: (e) => (fits.firstChild.required = !e.target.checked) });
	size();
	return [h("h2", t("device.card-head")), p("device.card"), shape, slider, fits, none];
}

/** Phase -> page. */
export const PAGES = {
	consent,
	device,
	instructions,
	tutorial,
	training,
	ready,
	break: pause,
	questionnaire,
	finish,
	done,
	wait,
	full: plain("full", 60),
	paused: plain("paused", 15),
	closed: plain("closed"),
	"preview-end": plain("preview-end"),
};
