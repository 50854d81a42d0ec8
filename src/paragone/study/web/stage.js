// One trial on the page: its pictures decoded before they are needed, shown in whole device pixels, all at once.
import { button, dataset, fill, fresh, h, main, now, on, onKey, sleep, status, t } from "./dom.js";
import { later, picture, rest } from "./net.js";
import { pictureFailed } from "./study.js";
import { shown } from "./trials.js";

const BLANK = 250; // ms of grey between two trials
const GUARD = 150; // ms after the onset in which a key that was meant for the last trial is not taken
const { assign } = Object;
const { round, floor, max, min } = Math;
const box = (node) => node.getBoundingClientRect();

let [hidden, since] = [0, 0];
/** Milliseconds for which the page was out of sight. */
const hiddenMs = () => hidden + (document.hidden ? now() - since : 0);
document.addEventListener("visibilitychange", () => (document.hidden ? (since = now()) : (hidden += now() - since)));

/** Trial id -> promise of [{pane, image}]. These very images are shown: the browser's cache is not relied on. */
const album = new Map();
async function load(pane) {
	for (let tries = 0; ; ) {
		try {
			const src = await picture(pane.src, tries);
			const image = assign(new Image(), { decoding: "sync", alt: pane.label, draggable: false, src });
			await image.decode();
			return { pane, image };
		} catch ({ status: code }) {
			if (!later(code)) pictureFailed(code);
			await rest(tries++);
		}
	}
}
/** The decoded pictures of a trial, in the order of its panes. */
export function shotsOf({ id, panes }) {
	if (!album.has(id)) album.set(id, Promise.all(panes.map(load)));
	return album.get(id);
}
/** Load trials one after another; forget all others. */
export async function prepare(trials) {
	for (const [id, made] of album) {
		if (trials.some((trial) => trial.id === id)) continue;
		album.delete(id);
		made.then((shots) => shots.forEach(({ image }) => URL.revokeObjectURL(image.src)));
	}
	for (const trial of trials) await shotsOf(trial);
}

/** Give all pictures one scale: whole device pixels for a picture pixel where there is room, else one reduction. */
export function layout(root, shots) {
	const ratio = devicePixelRatio;
	const size = (scale) => {
		for (const { image } of shots) {
			const [width, height] = [image.naturalWidth, image.naturalHeight].map((side) => `${floor(side * scale) / ratio}px`);
			assign(image.parentElement.style, { width, height, left: 0, top: 0 });
		}
		return box(root.firstChild);
	};
	const fit = (shape) => {
		root.dataset.shape = shape;
		const [none, one] = [size(0), size(1)]; // what surrounds the pictures, and with them at 1:1
		const most = (side, room) => max(room - none[side], 60) / (one[side] - none[side]);
		return min(most("width", root.clientWidth), most("height", root.clientHeight));
	};
	const row = fit("row");
	let scale = fit("grid");
	if (scale < 1 && row >= 1) scale = fit("row");
	const exact = scale >= 1;
	if (exact) scale = min(floor(scale), max(1, floor(ratio)));
	size(scale);
	for (const { image } of shots) {
		const frame = image.parentElement;
		const [left, top] = [box(frame).left, box(frame).top].map((at) => `${round(at * ratio) / ratio - at}px`);
		assign(frame.style, { left, top });
		image.className = exact ? "exact" : "";
	}
	const found = { exact, scale: Number(scale.toFixed(4)) }; // device pixels for a picture pixel
	assign(dataset, found);
	return found;
}

/** Enlarge the same point of all pictures to square pixels 2, 4 or 8 wide: Z, Shift and wheel, or the button. */
function zoomable(root, shots) {
	let [at, x, y, turned] = [0, 50, 50, 0];
	const step = (to) => {
		if (!at && to > 0) zoom.uses++;
		at = max(0, min(3, to));
		zoom.show();
	};
	const next = () => step((at + 1) % 4);
	const zoom = { uses: 0, scale: 1, button: button("zoom", next, ".small") };
	zoom.show = () => {
		const factor = 2 ** at;
		const transform = at ? `scale(${(factor * max(1, zoom.scale)) / zoom.scale})` : "";
		for (const { image } of shots) assign(image.style, { transform, transformOrigin: `${x}% ${y}%` });
		root.classList.toggle("near", at);
		zoom.button.textContent = t(at ? "pair.zoomed" : "button.zoom", { factor });
		dataset.zoom = factor;
	};
	const point = (e) => {
		const frame = e.target.closest(".frame");
		const part = (from, size, value) => max(0, min(100, (100 * (value - from)) / size));
		if (!frame) return;
		const { left, top, width, height } = box(frame);
		[x, y] = [part(left, width, e.clientX), part(top, height, e.clientY)];
		if (at) zoom.show();
	};
	const wheel = (e) => {
		if (!e.shiftKey) return;
		e.preventDefault();
		if (e.timeStamp - turned < 120) return;
		turned = e.timeStamp;
		point(e);
		step(at + ((e.deltaY || e.deltaX) < 0 ? 1 : -1));
	};
	on(root, "wheel", wheel, { passive: false });
	on(root, "pointermove", point);
	onKey(({ key }) => (key === "z" ? next() : key === "Escape" && step(0)));
	zoom.show();
	return zoom;
}

/** A question in three parts, the judged word marked. */
export const question = ([before, word, after]) => [before, word && h("em", word), after];
const ariaHidden = "true";
export const key = (word) => h("kbd", word, { ariaHidden });
/** A picture with its caption; with a choice it is a button. */
export const pane = ({ pane: { label }, image }, caption = label, choice) =>
	h(choice ? "button.pane" : "figure.pane", choice, h("span.frame", image), caption && h("span.cap", caption, { ariaHidden }));

/** Begin a trial: resolves when its pictures are here and the page has been grey for a moment. */
export async function stageOf(trial) {
	if (dataset.phase[0] !== "t") return new Promise(() => {}); // another page came while this one was on its way
	const signal = fresh();
	const begun = now();
	const late = setTimeout(() => signal.aborted || status("loading"), 1000);
	delete dataset.onset;
	assign(dataset, { trial: trial.id, page: trial.page });
	const shots = await shotsOf(trial);
	const load = now() - begun;
	clearTimeout(late);
	await sleep(BLANK - load);
	if (signal.aborted) return new Promise(() => {});
	if (load > 1000) status();
	let root, measured, onset, then;
	const frame = () => new Promise(requestAnimationFrame);
	const stage = { shots };
	/** The room of the pictures; `stage.zoom` enlarges them, where the study has that. */
	stage.root = (...nodes) => {
		root = h("div.root.unshown", nodes);
		stage.zoom = trial.zoom && zoomable(root, shots);
		return root;
	};
	/** Show what was built and ask; the clock starts when it is painted. */
	stage.show = async (criterion, ...nodes) => {
		const place = () => {
			measured = layout(root, shots);
			if (stage.zoom) assign(stage.zoom, measured).show();
		};
		fill(trial.page, nodes);
		place();
		on(window, "resize", place);
		on(matchMedia(`(resolution: ${devicePixelRatio}dppx)`), "change", place);
		await Promise.all(shots.map(({ image }) => image.decode().catch(() => {})));
		root.classList.remove("unshown");
		await stage.ask(criterion);
		shown();
	};
	/** A criterion is asked from now on: its clock starts when two frames have been painted. */
	stage.ask = async (criterion) => {
		dataset.criterion = criterion;
		await frame();
		await frame();
		onset = now();
		then = [hiddenMs(), stage.zoom.uses];
		dataset.onset = round(onset);
	};
	/** Whether an input is meant for what is shown now. */
	stage.takes = (e) => !e.repeat && !main.inert && e.timeStamp - onset >= GUARD;
	/** What is kept of an answer. A click that a key made has no detail. */
	stage.answer = (e, criterion, value, more) => ({
		criterion,
		value,
		seconds: round(e.timeStamp - onset) / 1000,
		body: {
			onset_ms: round(onset),
			load_ms: round(load),
			input: e.key || !e.detail ? "key" : e.pointerType || "mouse",
			hidden_ms: round(hiddenMs() - then[0]),
			...measured,
			zoom: stage.zoom.uses - then[1] || 0,
			order: trial.criteria.findIndex(({ id }) => id === criterion),
			...more,
		},
	});
	return stage;
}
