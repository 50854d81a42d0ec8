// Talking to the server: bearer token, time-outs, retries. Whatever is asked may be asked twice.
import { sleep, status } from "./dom.js";

const PATIENCE = 8000; // ms for one try

/** Wait before another try: 0.25 s to 15 s, drawn so that many do not come back at once; less if the line is back. */
export const rest = (tries) =>
	Promise.race([
		sleep(Math.min(15000, 250 * 2 ** tries) * (0.5 + Math.random() / 2)),
		new Promise((go) => addEventListener("online", go, { once: true })),
	]);
/** Whether a status says "not now" and not "no"; 0: nothing came. */
export const later = (code) => !code || code >= 500 || [408, 425, 429].includes(code);

export let token;
try {
	token = sessionStorage.paragone;
} catch {} // blocked in some frames: the token then lives as long as the page
/** Keep the token for a reload. */
export function remember(given) {
	token = given;
	try {
		sessionStorage.paragone = given;
	} catch {}
}

const ask = (path, ms, more, bearer = token) =>
	fetch(path, {
		headers: { "Content-Type": "application/json", ...(bearer && { Authorization: `Bearer ${bearer}` }) },
		signal: AbortSignal.timeout(ms),
		...more,
	});

/**
 * One try: {status, data}; status 0 where the network or the time fails before the answer has come whole, and where a
 * yes is no word of the server's: walls of hotels say yes to everything.
 */
export async function send(path, body, bearer) {
	const post = body && { method: "POST", body: JSON.stringify(body), keepalive: true };
	try {
		const answer = await ask(path, PATIENCE, { cache: "no-store", ...post }, bearer);
		const { ok, status } = answer;
		const data = await answer.json().catch((fault) => {
			if (ok || fault.name !== "SyntaxError") throw fault;
		});
		return { status, data };
	} catch {
		return { status: 0 };
	}
}

/** Try until there is an answer: what came with 200, 201 or 409. Throws {status, data} where the server says no. */
export async function call(path, body) {
	for (let tries = 0, renewed; ; ) {
		const answer = await send(path, body);
		const { status: code, data } = answer;
		if (data && (code < 300 || code === 409)) {
			if (tries > 1) status();
			return data;
		}
		if (code === 401 && !renewed && path !== SESSION) {
			renewed = true;
			await open({});
		} else if (later(code)) {
			if (tries) status(navigator.onLine ? "retry" : "offline");
			await rest(tries++);
		} else throw answer;
	}
}

const SESSION = "/api/session";
/** Get a token for the key of the address, or for the cookie. The newest token wins. */
export const open = async (body) => remember((await call(SESSION, body)).token);

/** A picture's bytes, as the address of a blob; `again`: not what a browser may have kept of an earlier try. */
export async function picture(path, again) {
	const answer = await ask(path, 60000, again && { cache: "reload" });
	if (!answer.ok) throw answer;
	return URL.createObjectURL(await answer.blob());
}
