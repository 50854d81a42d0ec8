// Trial after trial: what is answered here and not yet there, what comes next, what is loaded ahead.
import { sleep, uuid } from "./dom.js";
import { pairs } from "./pairs.js";
import { rating } from "./rating.js";

const AHEAD = 2;

export class Runner {
  /** @param {object} app study.js: main, t, outbox, album, refresh, status */
  constructor(app) {
    this.app = app;
    this.given = new Map(); // trial id -> {values, revision, distortions} that the server may not have yet
    this.back = 0; // how many trials before the first open one is shown
    this.wake = () => {};
  }

  /** Answers that an earlier page left in the outbox count as given. */
  recall(entries) {
    for (const { answers } of entries) this.#keep(answers);
  }

  #keep(answers) {
    for (const { trial, criterion, value, revision, body } of answers) {
      const kept = this.given.get(trial) ?? { values: {}, revision: -1, distortions: [] };
      kept.values[criterion] = value;
      kept.revision = Math.max(kept.revision, revision);
      kept.distortions = body.distortions ?? kept.distortions;
      this.given.set(trial, kept);
    }
  }

  /** What is known of a trial's answers: the server's, then ours. */
  #known(trial) {
    const { revision = -1, distortions = [], ...values } = trial.given ?? {};
    const ours = this.given.get(trial.id);
    if (!ours) return { values, revision, distortions };
    return {
      values: { ...values, ...ours.values },
      revision: Math.max(revision, ours.revision),
      distortions: ours.distortions,
    };
  }

  #open(trial) {
    const { values } = this.#known(trial);
    return trial.criteria.some(({ id }) => !(id in values));
  }

  /** Take the server's newer list. */
  update(state) {
    this.state = state;
    const seen = new Set(state.trials.map(({ id }) => id));
    this.list = [...(state.earlier ?? []).filter(({ id }) => !seen.has(id)), ...state.trials];
    this.app.progress(this.#done());
    if (!this.entering) this.#prepare();
    this.wake();
  }

  /** Nothing here is ahead of the server any more. */
  forget() {
    this.given.clear();
  }

  /** Whether a trial of the list still asks something. */
  opens(id) {
    const trial = this.list?.find((one) => one.id === id);
    return Boolean(trial) && this.#open(trial);
  }

  #done() {
    return this.state.progress.done + this.state.trials.filter((trial) => !this.#open(trial)).length;
  }

  #prepare() {
    const at = this.#at();
    if (at !== null) this.app.album.prepare(this.list.slice(at, at + 1 + AHEAD));
  }

  /** Index of what is to be shown; null: nothing is open here. */
  #at() {
    const open = this.list.findIndex((trial) => this.#open(trial));
    if (open < 0 && !this.back) return null;
    const first = open < 0 ? this.list.length : open;
    return Math.max(0, first - this.back);
  }

  /** Show trials until the page is left. */
  async run(page) {
    while (!page.aborted) {
      const at = this.#at();
      if (at === null) await this.#wait(page);
      else await this.#one(page, this.list[at], at);
    }
  }

  async #one(page, trial, at) {
    const { app } = this;
    const turn = new AbortController();
    page.addEventListener("abort", () => turn.abort(), { once: true });
    const view = app.view(turn.signal);
    this.entering = true;
    document.body.dataset.page = trial.page;
    app.main.replaceChildren();
    app.main.focus({ preventScroll: true });
    const shown = () => {
      this.entering = false;
      this.#prepare();
    };
    view.shown = shown;
    if (trial.page === "pairs") {
      await pairs(view, trial, this.#known(trial).values, (answers) => this.#put(trial, answers));
    } else {
      const known = this.#known(trial);
      const put = (answers) => this.#put(trial, answers, known.revision + 1);
      const step = await rating(view, trial, known, { previous: at > 0, put });
      this.back = Math.max(0, this.back - step);
    }
    turn.abort();
  }

  async #put(trial, answers, revision = 0) {
    const rows = answers.map((answer) => ({ id: uuid(), trial: trial.id, revision, ...answer }));
    this.#keep(rows);
    await this.app.outbox.put(rows);
    this.app.progress(this.#done());
  }

  /** Nothing left to show: until the server has everything and says what comes. */
  async #wait(page) {
    const { app } = this;
    const news = new Promise((go) => (this.wake = go));
    const calm = setTimeout(() => app.waiting(), 700);
    app.main.replaceChildren();
    delete document.body.dataset.onset;
    if (!app.outbox.waiting) app.refresh({ afresh: true });
    await Promise.race([news, sleep(15000)]);
    clearTimeout(calm);
    if (this.#at() === null) await sleep(500);
  }
}
