// Answers on their way: kept in the browser's database before they are sent, deleted when the server has them.
import { later, rest, send, token } from "./net.js";

/** Entries {key, at, bearer, answers}; here also where there is no database. */
export let queue = [];
let base, running, tell;

const asked = (request) =>
	new Promise((onsuccess, onerror) => Object.assign(request, { onsuccess, onerror })).then(() => request.result);
const shelf = () => base.transaction("out", "readwrite").objectStore("out");
/** Wait until what was done to the shelf lasts. Nothing lasts where the browser forbids it. */
async function lasting(act) {
	try {
		const { transaction } = act(shelf());
		await new Promise((done) => (transaction.oncomplete = transaction.onabort = done));
	} catch {}
}

/**
 * Open the database; gives the answers that an earlier page left. Tells sent(answers, status): the server's last word;
 * gone(): another tab took over; early(): not their time yet; changed(tries): the first was tried so often in vain.
 */
export async function unpack(told) {
	tell = told;
	try {
		const opening = indexedDB.open("paragone");
		opening.onupgradeneeded = () => opening.result.createObjectStore("out", { keyPath: "key" });
		base = await asked(opening);
		queue = (await asked(shelf().getAll())).sort((a, b) => a.at - b.at);
	} catch {}
	return queue.flatMap(({ answers }) => answers);
}

/** Keep answers of one trial, then send them. Resolves when they are kept. */
export async function put(answers) {
	const entry = { key: answers[0].id, at: Date.now(), bearer: token, answers };
	queue.push(entry);
	tell.changed();
	await lasting((kept) => kept.put(entry));
	run();
}

/** Send one after another until none is left. */
export async function run() {
	if (running) return;
	running = true;
	for (let tries = 0; queue[0]; ) {
		const [{ key, answers, bearer }] = queue;
		const code = await post(answers, bearer);
		if (code === 410) {
			tell.gone();
			break;
		}
		if (later(code)) {
			tell.changed(++tries);
			if (code === 425) tell.early();
			await rest(tries - 1);
			continue;
		}
		// 200, 201, 409: it has an answer to this; anything else: it will never take it
		tries = 0;
		queue.shift();
		await lasting((kept) => kept.delete(key));
		tell.changed();
		tell.sent(answers, code);
	}
	running = false;
}

/** Send under the token an answer was given with; where that has ended, under ours (a new tab of the same person). */
async function post(answers, bearer) {
	const go = async (by) => (await send("/api/answers", { answers }, by)).status;
	let code = await go(bearer);
	if (bearer !== token && [401, 403, 404, 410].includes(code)) code = await go(token);
	return code === 401 ? 425 : code; // the page renews its session, then this goes on
}
