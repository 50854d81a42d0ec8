// Answers on their way: kept in the browser's database before they are sent, deleted when the server has them.
import { backoff, later, rest, send, session } from "./net.js";

const NAME = "paragone";
const SHELF = "out";

/** The same five calls on IndexedDB; where that is blocked, on memory. */
async function shelf() {
  const ask = (request) =>
    new Promise((done, fail) => {
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(request.error);
    });
  try {
    const opening = indexedDB.open(NAME, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(SHELF, { autoIncrement: true });
    const base = await ask(opening);
    const on = (mode) => base.transaction(SHELF, mode).objectStore(SHELF);
    const put = async (entry) => {
      const job = on("readwrite");
      const key = await ask(job.add(entry));
      await new Promise((done, fail) => {
        job.transaction.oncomplete = done;
        job.transaction.onabort = fail;
      });
      return key;
    };
    const first = async () => {
      const at = await ask(on("readonly").openCursor());
      return at && { key: at.key, entry: at.value };
    };
    return {
      put,
      first,
      all: () => ask(on("readonly").getAll()),
      drop: (key) => ask(on("readwrite").delete(key)),
    };
  } catch {
    return memory();
  }
}

function memory() {
  const kept = new Map();
  let next = 1;
  return {
    put: async (entry) => kept.set(next, entry) && next++,
    first: async () => {
      const [found] = kept;
      return found && { key: found[0], entry: found[1] };
    },
    all: async () => [...kept.values()],
    drop: async (key) => kept.delete(key),
  };
}

export class Outbox {
  /**
   * @param {{sent: Function, gone: Function, early: Function, changed: Function}} tell
   *   sent(entry, status): the server has an answer; gone(): another tab took over; early(): not its time yet;
   *   changed(waiting, tries): how many wait, and how often the first has been tried in vain
   */
  constructor(tell) {
    this.tell = tell;
    this.waiting = 0;
    this.running = false;
    this.stopped = false;
    this.spare = memory(); // for a browser whose database fails in mid-study
  }

  /** Open the database; gives the entries that an earlier page left. */
  async open() {
    this.shelf = await shelf();
    const left = await this.shelf.all();
    this.waiting = left.length;
    return left;
  }

  /** Keep answers of one trial, then send them. Resolves when they are kept. */
  async put(answers) {
    const entry = { token: session.token, answers };
    this.waiting++;
    this.tell.changed(this.waiting, 0);
    try {
      await this.shelf.put(entry);
    } catch {
      await this.spare.put(entry);
    }
    this.run();
  }

  /** Send one after another until none is left. */
  async run() {
    if (this.running || this.stopped) return;
    this.running = true;
    for (let tries = 0; !this.stopped; ) {
      const from = (await this.#first(this.shelf)) ? this.shelf : this.spare;
      const next = await this.#first(from);
      if (!next) break;
      const { status, own } = await this.#send(next.entry);
      if (status === 410 && own) {
        this.stopped = true;
        this.tell.gone();
      } else if (!status || later(status)) {
        tries++;
        this.tell.changed(this.waiting, tries);
        if (status === 425) this.tell.early();
        await rest(backoff(tries - 1));
      } else {
        // 200, 201, 409: the server has an answer to this; anything else: it will never take it
        tries = 0;
        await from.drop(next.key);
        this.waiting = Math.max(0, this.waiting - 1);
        this.tell.changed(this.waiting, 0);
        await this.tell.sent(next.entry, status);
      }
    }
    this.running = false;
  }

  async #first(from) {
    return from.first().catch(() => null);
  }

  /** With the token under which it was given; where that has ended, with ours (a new tab of the same person). */
  async #send(entry) {
    const go = (token) =>
      send("POST", "/api/answers", { answers: entry.answers }, token).then(
        (answer) => answer.status,
        () => 0,
      );
    let status = await go(entry.token);
    const ended = status === 401 || status === 403 || status === 404 || status === 410;
    const other = entry.token !== session.token;
    if (ended && other) {
      status = await go(session.token);
      return { status: status === 410 || status === 401 ? 404 : status, own: false };
    }
    if (status === 401) return { status: 425, own: true }; // the page renews its session, then it goes on
    return { status, own: !other };
  }
}
