// One picture and its score: a slider, or a button for each grade (acr; dcr beside a reference).
import { bar, button, h, main, on, onKey, t } from "./dom.js";
import { key, pane, question, stageOf } from "./stage.js";

/**
 * Show a picture and take its scores. `known` has those there are, which may be changed; `put` keeps new ones; `first`:
 * nothing comes before. Gives how many trials to go on.
 */
export async function show(trial, known, put, first) {
	const { criteria, text, distortions, scale } = trial;
	const stage = await stageOf(trial);
	const { shots } = stage;
	const values = { ...known.values };
	let go;
	const gone = new Promise((done) => (go = done));
	const leave = async (e, by) => {
		if (!go || !stage.takes(e)) return;
		const left = go;
		go = null;
		// what has not changed is not sent again
		const marks = [...main.querySelectorAll("[name=tick]:checked")].map(({ value }) => value);
		const same = `${marks}` === `${known.distortions}`;
		const changed = criteria.filter(({ id }) => by > 0 && (values[id] !== known.values[id] || !same));
		if (changed[0]) await put(changed.map(({ id }) => stage.answer(e, id, values[id], { distortions: marks })));
		left(by);
	};
	const next = button("next", (e) => leave(e, 1), ".main");
	const previous = button("previous", (e) => leave(e, -1));
	const hint = h("p.hint", t("rating.touch"));
	const ready = () => {
		next.disabled = criteria.some(({ id }) => !(id in values));
		hint.style.visibility = next.disabled ? "visible" : "hidden"; // its place stays, so that the scale does not grow
	};
	const kind = trial.page === "slider" ? slider : grades;
	const scales = criteria.map(({ id, question: asked }) =>
		h("div.scale", h("p", criteria[1] && question(asked)), kind(scale, id, asked, values[id], (value) => {
			values[id] = value;
			ready();
		})),
	);
	const tick = ({ id, label }) =>
		h("label", h("input", { type: "checkbox", name: "tick", value: id, checked: known.distortions.includes(id) }), label);
	const root = stage.root(h("div.grid", h("div.line", shots.map((shot) => pane(shot, shots[1] ? shot.pane.label : "")))));
	const words = h("div.words", { tabIndex: 0 }, [
		h("dl", text.map(([name, said]) => h("div", h("dt", name), h("dd", said)))),
		distortions[0] && h("fieldset", h("legend", t("rating.distortions")), distortions.map(tick)),
		stage.zoom.button,
	]);
	previous.disabled = first;
	ready();
	await stage.show(
		criteria[0].id,
		h("h1", criteria[1] ? t("rating.scale") : question(criteria[0].question)),
		h("div.rating", [
			h("div.shown", root, words),
			h("div.side", h("div.scales", scales), hint, bar(trial.back && previous, next)),
		]),
	);
	onKey((e) => {
		main.querySelector(`[data-key="${e.key}"]`)?.click();
		if (e.key === "Enter" && e.target.localName !== "button" && !next.disabled) leave(e, 1);
	});
	return gone;
}

/** A value of the scale as it is stored: no 0.30000000000000004. */
const digits = (step) => `${step}`.split(".")[1]?.length ?? 0;
const valueAt = ({ low, step }, n) => `${Number((low + n * step).toFixed(Math.max(digits(low), digits(step))))}`;
const steps = ({ low, high, step }) => Math.round((high - low) / step);

/** A vertical slider in whole steps. It has no thumb until it is touched: where it starts is no score. */
function slider(scale, id, asked, value, set) {
	const { low, high, step, labels, at } = scale;
	const max = steps(scale);
	const local = (number, least = 0) =>
		Number(number).toLocaleString(document.documentElement.lang, { minimumFractionDigits: least });
	const shown = h("output");
	const start = Math.round(value === undefined ? max / 2 : (value - low) / step);
	const input = h("input.slider", { type: "range", max, value: start, ariaLabel: asked.join(""), ariaOrientation: "vertical" });
	const tell = (touched) => {
		const number = valueAt(scale, input.valueAsNumber);
		const near = at.map((where) => Math.abs(where - number));
		shown.textContent = touched ? local(number, digits(step)) : "–";
		input.classList.toggle("untouched", !touched);
		const word = labels[near.indexOf(Math.min(...near))] ?? "";
		input.ariaValueText = touched ? `${shown.textContent} ${word}` : t("rating.unset");
		if (touched) set(number);
	};
	on(input, "pointerdown touchstart input change", tell);
	on(input, "keydown", (e) => {
		const by = { PageUp: 5, PageDown: -5 }[e.key];
		if (by) {
			e.preventDefault();
			input.valueAsNumber += by;
		}
		if (/^(Arrow|Home|End|Page)/.test(e.key)) tell(e);
	});
	const place = (tag, where, words = local(where)) => {
		const made = h(tag, words);
		made.style.bottom = `${(100 * (where - low)) / (high - low)}%`;
		return made;
	};
	tell(value !== undefined);
	const names = labels.map((words, n) => place("span", at[n], words));
	return [shown, h("div.track", input, h("div.names", { ariaHidden: "true" }, names, place("b", low), place("b", high)))];
}

/** One button for each grade, the best on top; digits choose too. */
function grades(scale, name, asked, given, set) {
	const choices = Array.from({ length: steps(scale) + 1 }, (_, n) => {
		const value = valueAt(scale, n);
		const onchange = () => set(value);
		const input = h("input", { type: "radio", name, value, checked: given === value, "data-key": value, onchange });
		return h("label.grade", input, key(value), scale.labels[scale.at.indexOf(Number(value))]);
	});
	return h("fieldset", h("legend.unseen", question(asked)), choices.reverse());
}
