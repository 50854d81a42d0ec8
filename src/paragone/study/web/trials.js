// Trial after trial: what is answered here and not yet there, what comes next, what is loaded ahead.
import { fresh, sleep, uuid } from "./dom.js";
import { rest } from "./net.js";
import * as outbox from "./outbox.js";
import { prepare } from "./stage.js";
import { calm, progress, refresh } from "./study.js";

const AHEAD = 2;
const SCRIPTS = { pairs: "pairs", slider: "rating", acr: "rating", dcr: "rating" };

const given = new Map(); // trial id -> answers that the server may not have yet: {values, revision, distortions}
let state; // the newest of the server
let list; // its trials, those before among them
let entering; // a trial is about to be painted
let back = 0; // how many trials before the first open one is shown
let wake = () => {};

const scripts = {};
/** Get what shows a page. A browser does not fetch again what once did not come: a try has an address of its own. */
async function script(path) {
	for (let tries = 0; !scripts[path]; ) {
		try {
			scripts[path] = (await import(tries ? `${path}?${tries}` : path)).show;
		} catch (fault) {
			if (tries > 8) throw fault; // a minute
		}
		scripts[path] ?? (await rest(tries++));
	}
	return scripts[path];
}
/** Show one trial on its page. */
export async function ask(trial, ...more) {
	const show = await script(`/static/${SCRIPTS[trial.page] ?? `page-${trial.page}`}.js`);
	return show(trial, ...more);
}

/** Count answers as given. */
export function keep(answers) {
	for (const { trial, criterion, value, revision, body } of answers) {
		const values = { ...given.get(trial)?.values, [criterion]: value };
		given.set(trial, { values, revision, distortions: body.distortions ?? [] });
	}
}
/** Nothing here is ahead of the server any more. */
export const forget = () => given.clear();

/** What is known of a trial's answers: the server's, then ours. */
function known(trial) {
	const { revision = -1, distortions = [], ...values } = trial.given;
	const ours = given.get(trial.id);
	return { revision, distortions, ...ours, values: { ...values, ...ours?.values } };
}
const isOpen = (trial) => trial.criteria.some(({ id }) => !(id in known(trial).values));
/** Whether a trial still asks something. */
export const opens = (id) => list?.some((trial) => trial.id === id && isOpen(trial));

/** Index of what is to be shown; -1: nothing is open here. */
function place() {
	const open = list.findIndex(isOpen);
	return Math.max(-1, (open < 0 && back ? list.length : open) - back);
}

/** Take the server's newer list. */
export function update(newer) {
	state = newer;
	list = [...(state.earlier ?? []), ...state.trials];
	ahead();
	wake();
}
/** Progress, and pictures for what comes; not while a trial is about to be painted. */
function ahead() {
	progress(state.progress.done + state.trials.filter((trial) => !isOpen(trial)).length);
	if (!entering && place() >= 0) prepare(list.slice(place(), place() + 1 + AHEAD));
}
/** The pictures are painted. */
export function shown() {
	entering = false;
	if (list) ahead();
}

/** Show trials until the page is left. */
export async function run() {
	for (;;) {
		const trial = list[place()];
		if (!trial) {
			if (await left()) return;
			continue;
		}
		entering = true;
		const before = known(trial);
		const revision = trial.back ? before.revision + 1 : 0;
		const put = (answers) => {
			const rows = answers.map((answer) => ({ id: uuid(), trial: trial.id, revision, ...answer }));
			keep(rows);
			return outbox.put(rows);
		};
		const by = await ask(trial, before, put, trial === list[0]);
		back = Math.max(0, back - (by ?? 1));
	}
}

/** Nothing is left to show, until the server has everything and says what comes. Gives whether the page was left. */
async function left() {
	const signal = fresh();
	const late = setTimeout(() => signal.aborted || calm(), 700);
	const news = new Promise((go) => (wake = go));
	if (!outbox.queue[0]) {
		forget();
		refresh();
	}
	await Promise.race([news, sleep(15000)]);
	clearTimeout(late);
	if (place() < 0) await sleep(500);
	return signal.aborted;
}
