// One trial on the page: its pictures decoded before they are needed, shown in whole device pixels, all at once.
import { button, dataset, fill, fresh, h, main, now, on, onKey, sleep, status, t } from "./dom.js";
import { later, picture, rest } from "./net.js";
import { pictureFailed, shown } from "./study.js";

const BLANK = 250; // ms of grey between two trials
const GUARD = 150; // ms after the onset in which a key that was meant for the last trial is not taken

let hidden = 0;
let since = 0;
/** Milliseconds for which the page was out of sight. */
const hiddenMs = () => hidden + (document.hidden ? now() - since : 0);
document.addEventListener("visibilitychange", () => (document.hidden ? (since = now()) : (hidden += now() - since)));

/** Trial id -> promise of [{pane, image}]. These very images are shown: the browser's cache is not relied on. */
const album = new Map();
async function load(pane) {
	for (let tries = 0; ; ) {
		try {
			const image = new Image();
			Object.assign(image, { decoding: "sync", alt: pane.label, draggable: false, src: await picture(pane.src) });
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
	const boxes = shots.map(({ image }) => image.parentElement);
	const size = (scale) => {
		shots.forEach(({ image }, n) => {
			const side = (name) => `${Math.floor(image[`natural${name}`] * scale) / ratio}px`;
			Object.assign(boxes[n].style, { width: side("Width"), height: side("Height"), left: 0, top: 0 });
		});
		return root.firstChild.getBoundingClientRect();
	};
	const fit = (shape) => {
		root.dataset.shape = shape;
		const [none, one] = [size(0), size(1)]; // what surrounds the pictures, and with them at 1:1
		const most = (side, room) => Math.max(room - none[side], 60) / (one[side] - none[side]);
		return Math.min(most("width", root.clientWidth), most("height", root.clientHeight));
	};
	const row = fit("row");
	let scale = fit("grid");
	if (scale < 1 && row >= 1) scale = fit("row");
	const exact = scale >= 1;
	if (exact) scale = Math.min(Math.floor(scale), Math.max(1, Math.floor(ratio)));
	size(scale);
	for (const box of boxes) {
		const { left, top } = box.getBoundingClientRect();
		const whole = (at) => `${Math.round(at * ratio) / ratio - at}px`;
		Object.assign(box.style, { left: whole(left), top: whole(top) });
		box.firstChild.className = exact ? "exact" : "";
	}
	const found = { exact, scale: Number(scale.toFixed(4)) }; // device pixels for a picture pixel
	Object.assign(dataset, found);
	return found;
}

/** Enlarge the same point of all pictures to square pixels 2, 4 or 8 wide: Z, Shift and wheel, or the button. */
function zoomable(root, shots) {
	let [at, x, y, turned] = [0, 50, 50, 0];
	const zoom = { uses: 0, scale: 1, button: button("zoom", () => step((at + 1) % 4), ".small") };
	const step = (to) => {
		if (!at && to > 0) zoom.uses++;
		at = Math.min(3, Math.max(0, to));
		zoom.show();
	};
	zoom.show = () => {
		const factor = 2 ** at;
		const transform = at ? `scale(${(factor * Math.max(1, zoom.scale)) / zoom.scale})` : "";
		for (const { image } of shots) Object.assign(image.style, { transform, transformOrigin: `${x}% ${y}%` });
		root.classList.toggle("near", at);
		zoom.button.textContent = at ? t("pair.zoomed", { factor }) : t("button.zoom");
		dataset.zoom = factor;
	};
	const point = (e) => {
		const box = e.target.closest(".frame")?.getBoundingClientRect();
		const part = (value) => Math.min(100, Math.max(0, 100 * value));
		if (box) [x, y] = [part((e.clientX - box.left) / box.width), part((e.clientY - box.top) / box.height)];
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
	onKey(({ key }) => (key === "z" ? step((at + 1) % 4) : key === "Escape" && step(0)));
	zoom.show();
	return zoom;
}

/** A question in three parts, the judged word marked. */
export const question = ([before, word, after]) => [before, word && h("em", word), after];
export const key = (word) => h("kbd", word, { ariaHidden: "true" });
/** A picture with its caption; with a choice it is a button. */
export const pane = (shot, caption = shot.pane.label, choice) =>
	h(choice ? "button.pane" : "figure.pane", choice, h("span.frame", shot.image), caption && h("span.cap", caption, { ariaHidden: "true" }));

/** Begin a trial: resolves when its pictures are here and the page has been grey for a moment. */
export async function stageOf(trial) {
	const signal = fresh();
	const begun = now();
	const late = setTimeout(() => signal.aborted || status("loading"), 1000);
	delete dataset.onset;
	Object.assign(dataset, { trial: trial.id, page: trial.page });
	const shots = await shotsOf(trial);
	const load = now() - begun;
	clearTimeout(late);
	await sleep(BLANK - load);
	if (signal.aborted) return new Promise(() => {});
	status();
	let root, measured, onset, then;
	const frame = () => new Promise(requestAnimationFrame);
	const stage = { shots };
	/** The room of the pictures; `stage.zoom` is the button that enlarges them, where the study has one. */
	stage.root = (...nodes) => {
		root = h("div.root.unshown", nodes);
		stage.zooming = trial.zoom && zoomable(root, shots);
		stage.zoom = stage.zooming && stage.zooming.button;
		return root;
	};
	/** Show what was built; the clock starts when it is painted. */
	stage.show = async (criterion, ...nodes) => {
		const place = () => {
			measured = layout(root, shots);
			if (stage.zooming) Object.assign(stage.zooming, measured).show();
		};
		fill(trial.page, nodes);
		place();
		on(window, "resize", place);
		on(matchMedia(`(resolution: ${devicePixelRatio}dppx)`), "change", place);
		await Promise.all(shots.map(({ image }) => image.decode().catch(() => {})));
		root.classList.remove("unshown");
		await stage.mark(criterion);
		shown();
	};
	/** A criterion is asked from now on: its clock starts when two frames have been painted. */
	stage.mark = async (criterion) => {
		dataset.criterion = criterion;
		await frame();
		await frame();
		onset = now();
		then = [hiddenMs(), stage.zooming?.uses];
		dataset.onset = Math.round(onset);
	};
	/** Whether an input is meant for what is shown now. */
	stage.takes = (e) => !e.repeat && !main.inert && e.timeStamp - onset >= GUARD;
	/** What is kept of an answer. A click that a key made has no detail. */
	stage.answer = (e, criterion, value, more) => ({
		criterion,
		value,
		seconds: Math.round(e.timeStamp - onset) / 1000,
		body: {
			onset_ms: Math.round(onset),
			load_ms: Math.round(load),
			input: e.key || !e.detail ? "key" : e.pointerType || "mouse",
			hidden_ms: Math.round(hiddenMs() - then[0]),
			...measured,
			zoom: stage.zooming ? stage.zooming.uses - then[1] : 0,
			order: trial.criteria.findIndex(({ id }) => id === criterion),
			...more,
		},
	});
	return stage;
}
