// Two results, with their references: which one? One criterion at a time, or all on one page.
import { $, bar, button, dataset, h, main, on, onKey, sleep, t } from "./dom.js";
import { key, pane, question, stageOf } from "./stage.js";

const CHANGE = 400; // ms between an answer and the next question about the same pair
const KEYS = { 1: "left", ArrowLeft: "left", 2: "right", ArrowRight: "right", 0: "tie", 3: "tie" };
const SHORTCUTS = { left: "1 ArrowLeft", right: "2 ArrowRight", tie: "0 3" };
const SIDES = ["left", "right"];
const choice = (side) => ({ "data-side": side, ariaKeyShortcuts: SHORTCUTS[side] });

/** Show a pair and take its answers. `values` has those there are; `put` keeps new ones. */
export async function show(trial, { values }, put) {
	const stage = await stageOf(trial);
	const open = trial.criteria.filter(({ id }) => !(id in values));
	const all = trial.ask === "all";
	const third = trial.third && t(`third.${trial.third}`);
	const line = (...test) => stage.shots.filter(({ pane: { role, side } }) => !SIDES.includes(role) && test.includes(side));
	const refs = (...sides) => h("div.line", line(...sides).map((shot) => pane(shot)));
	const results = SIDES.map((side) => stage.shots.find((shot) => shot.pane.role === side));
	const [left, right] = results.map((shot, n) => {
		const words = [key(t(`pair.key-${SIDES[n]}`)), shot.pane.label];
		return all ? pane(shot) : pane(shot, n ? words.reverse() : words, choice(SIDES[n]));
	});
	// two whole triplets side by side; or the references on top and the two results below
	const root = stage.root(
		trial.layout === "six"
			? h("div.grid.six", h("div.triplet", refs("left"), left), h("div.triplet", refs("right"), right))
			: h("div.grid", refs(null), h("div.line", left, right)),
	);
	const zoom = h("span", stage.zoom.button);
	if (!all) {
		const tie = h("span", third && h("button", choice("tie"), key(t("pair.key-third")), third));
		await stage.show(open[0].id, h("h1", question(open[0].question)), root, bar(h("span"), tie, zoom));
		return oneByOne(stage, root, open, put);
	}
	const rows = open.map((criterion, at) => {
		const pick = (side, text) => h("button", text, choice(side), { "aria-describedby": `q${at}` });
		const [a, b] = results.map((shot, n) => pick(SIDES[n], shot.pane.label));
		const asked = h("span", question(criterion.question), { id: `q${at}` });
		return h("div.row", { role: "group", "data-criterion": criterion.id }, asked, a, third && pick("tie", third), b);
	});
	const next = button("next", null, ".main");
	await stage.show(open[0].id, h("h1", t("pair.pictures")), root, rows, bar(h("span"), next, zoom));
	return together(stage, rows, next, put);
}

/** Clicks and keys that choose: take(button, event). Keys choose in what `active` gives. */
function listen(stage, active, take) {
	const found = (e, picked) => picked && stage.takes(e) && take(picked, e);
	on(main, "click", (e) => found(e, e.target.closest("[data-side]")));
	onKey((e) => found(e, active()?.querySelector(`[data-side=${KEYS[e.key]}]`)));
}

/** One question after another about the same pair; the first input to each is its answer. */
async function oneByOne(stage, root, open, put) {
	let answered;
	listen(stage, () => main, (...given) => answered?.(given));
	const moment = async () => {
		await sleep(CHANGE / 2);
		if (!root.isConnected) await new Promise(() => {}); // another page came: nothing more is asked here
	};
	for (const [at, { id, question: asked }] of open.entries()) {
		const head = $("h1");
		if (at) {
			await moment();
			$(".picked").classList.remove("picked");
			head.className = "leaving";
			await moment();
			head.replaceChildren(...question(asked));
			head.className = "";
			$("#say").textContent = head.textContent;
			await stage.ask(id);
		}
		const [picked, e] = await new Promise((go) => (answered = go));
		answered = null;
		delete dataset.onset;
		picked.classList.add("picked");
		await put([stage.answer(e, id, picked.dataset.side)]);
	}
}

/** All questions at once: answers may be changed until they are sent. */
function together(stage, rows, next, put) {
	const given = new Map();
	const current = () => rows.find((row) => !given.has(row));
	const light = () => {
		next.disabled = Boolean(current());
		rows.forEach((row) => row.classList.toggle("now", row === current()));
	};
	light();
	listen(stage, current, (picked, e) => {
		const row = picked.parentElement;
		for (const one of row.querySelectorAll("button")) one.ariaPressed = one === picked;
		given.set(row, stage.answer(e, row.dataset.criterion, picked.dataset.side));
		light();
	});
	onKey((e) => e.key === "Enter" && e.target === main && next.click());
	return new Promise((done) => {
		next.onclick = async () => {
			next.disabled = true;
			await put(rows.map((row) => given.get(row)));
			done();
		};
	});
}
