// Talking to the server: bearer token, time-outs, retries. Whatever is asked may be asked twice.
import { sleep } from "./dom.js";

const KEY = "paragone";
const PATIENCE = 8000; // ms for one try

/** Another tab has taken over, or the sheet is gone. */
export class Gone extends Error {}
/** The server will not do it, however often it is asked. */
export class Refused extends Error {
  constructor(status, data) {
    super(data?.error?.message ?? `${status}`);
    this.status = status;
    this.kind = data?.error?.kind ?? "";
  }
}

export const session = { token: null, language: null };

export function remember(token) {
  session.token = token;
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // storage is blocked in some frames: the token then lives as long as the page
  }
}

export function recall() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** What shows that the network fails: called with the number of tries that failed in a row, 0 when it works again. */
let trouble = () => {};
export const onTrouble = (tell) => (trouble = tell);

/** ms before try n + 1: 0.25 s to 15 s, drawn so that many people do not come back at once. */
export const backoff = (n) => Math.min(15000, 250 * 2 ** n) * (0.5 + Math.random() / 2);

/** Wait, but no longer than until the connection is back. */
export const rest = (ms) =>
  Promise.race([sleep(ms), new Promise((go) => addEventListener("online", go, { once: true }))]);

/** One try. Rejects when the network or the time fails. */
export async function send(method, path, body, token = session.token) {
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (body) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {
    method,
    headers,
    body: body && JSON.stringify(body),
    keepalive: method === "POST",
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE),
  });
  const text = await answer.text();
  let data = null;
  try {
    data = JSON.parse(text);
  } catch {
    // a proxy's error page
  }
  return { status: answer.status, data };
}

/** Whether a status says "not now" and not "no". */
export const later = (status) => status >= 500 || status === 408 || status === 425 || status === 429;

/** Try until there is an answer: 200, 201 or 409. */
export async function call(method, path, body) {
  let renewed = false;
  for (let n = 0; ; n++) {
    const { status, data } = await send(method, path, body).catch(() => ({ status: 0, data: null }));
    if (status && !later(status)) trouble(0);
    if ((status === 200 || status === 201 || status === 409) && data) return { status, data };
    if (status === 410) throw new Gone();
    if (status === 401 && !renewed && path !== "/api/session") {
      renewed = true;
      await open({});
      continue;
    }
    if (status && !later(status)) throw new Refused(status, data);
    trouble(n + 1, data?.error?.message);
    await rest(backoff(n));
  }
}

/** Get a token for the key of the address, or for the cookie. The newest token wins. */
export async function open(body) {
  const { data } = await call("POST", "/api/session", body);
  remember(data.token);
  session.language = data.language;
}

/** A picture's bytes as an object URL. */
export async function picture(path) {
  const answer = await fetch(path, {
    headers: { Authorization: `Bearer ${session.token}` },
    signal: AbortSignal.timeout(60000),
  });
  if (!answer.ok) throw new Refused(answer.status, null);
  return URL.createObjectURL(await answer.blob());
}
