// Everything around the trials: one function for each phase, which fills the page and says which step was taken.
import { h, paragraphs, rich, sleep, uuid } from "./dom.js";
import { frame, layout, onResize } from "./pictures.js";
import { call } from "./net.js";
import { device } from "./device.js";
import { pairs } from "./pairs.js";
import { rating } from "./rating.js";

const button = (text, onclick, kind = "main") => h(`button.${kind}`, { type: "button", onclick }, text);
const parts = (list) => list.map(({ head, text }) => h("section", {}, head && h("h2", {}, head), paragraphs(text)));
const headed = (app, key, ...rest) => app.sheet(h("h1", {}, app.t(`head.${key}`)), ...rest);

function consent(app, { consent: { parts: told, boxes, version } }) {
  const form = h(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        app.step("consent", { version });
      },
    },
    boxes.map((text) => h("label.tick", {}, h("input", { type: "checkbox", required: true }), h("span", {}, rich(text)))),
    h("div.bar", {}, h("button.main", { type: "submit" }, app.t("button.agree")), button(app.t("button.decline"), () => sure.showModal(), "plain")),
  );
  const sure = h(
    "dialog",
    { "aria-labelledby": "sure" },
    h("p#sure", {}, app.t("decline-sure")),
    h(
      "div.bar",
      {},
      button(app.t("button.decline"), () => (sure.close(), app.step("decline", {}))),
      button(app.t("button.previous"), () => sure.close(), "plain"),
    ),
  );
  app.sheet(h("h1", {}, app.state.study.title), app.languages(), parts(told), form, sure);
}

function instructions(app, state) {
  const go = button(app.t("button.continue"), () => app.step("instructions", {}));
  headed(app, "instructions", parts(state.instructions.parts), h("div.bar", {}, go));
}

/** Small pictures of a card or an example, side by side, at one scale. */
async function panes(app, trial, clickable) {
  const shots = await app.album.get(trial);
  const root = h(
    "div.root.cards",
    {},
    h(
      "div.grid",
      {},
      shots.map((shot) => {
        const { pane } = shot;
        const cap = h("span.cap", { "aria-hidden": "true" }, pane.label);
        const able = clickable && (pane.role === "left" || pane.role === "right" || pane.role === "item");
        return able ? h("button.pane", { type: "button", "data-pick": pane.role }, frame(shot), cap) : h("figure.pane", {}, frame(shot), cap);
      }),
    ),
  );
  const sum = shots.reduce((total, { image }) => total + image.naturalWidth, 0);
  const span = [sum, Math.max(...shots.map(({ image }) => image.naturalHeight))];
  return { root, place: () => layout(root, [{ name: "row", span }], shots) };
}

/** One card after another; a card with a question lets the person try before it explains. */
async function tutorial(app, state, at = 0) {
  const { cards } = state.tutorial;
  const card = cards[at];
  const signal = app.signal;
  const move = (by) => {
    const to = at + by;
    if (to >= cards.length) app.step("tutorial", {});
    else app.again(() => tutorial(app, state, to));
  };
  const why = h("div.why", { role: "status" });
  const sides = card.panes.some(({ role }) => role === card.answer);
  const shown = card.panes.length ? await panes(app, { id: `card${at}`, panes: card.panes }, Boolean(card.answer) && sides) : null;
  if (signal.aborted) return;
  const tell = (picked) => {
    const verdict = picked && h("strong", {}, app.t(picked === card.answer ? "tutorial.right" : "tutorial.wrong"), " ");
    why.replaceChildren(h("p", {}, verdict, rich(card.why ?? "")));
    for (const pane of app.main.querySelectorAll("[data-pick]")) pane.setAttribute("aria-pressed", String(pane.dataset.pick === picked));
  };
  app.sheet(
    h("p.count", {}, app.t("head.tutorial"), " · ", app.t("tutorial.card", { n: at + 1, m: cards.length })),
    h("h1", {}, card.head),
    paragraphs(card.text),
    card.question && h("p.ask", {}, rich(card.question)),
    shown?.root,
    sides && card.answer ? h("p.hint", {}, app.t("tutorial.try")) : null,
    why,
    h(
      "div.bar",
      {},
      at > 0 && button(app.t("button.previous"), () => move(-1), "plain"),
      !sides && card.why ? button(app.t("button.show"), () => tell(null), "plain") : null,
      button(app.t("button.continue"), () => move(1)),
    ),
  );
  if (!shown) return;
  shown.place();
  onResize(signal, shown.place);
  shown.root.addEventListener("click", (event) => {
    const pane = event.target.closest("[data-pick]");
    if (pane) tell(pane.dataset.pick);
  });
  app.album.prepare(cards.slice(at, at + 2).map((next, n) => ({ id: `card${at + n}`, panes: next.panes })));
}

/** One question at a time, told at once whether it was right. */
async function training(app, state) {
  const { training: told } = state;
  const signal = app.signal;
  if (told.feedback) {
    app.sheet(
      h("h1", {}, app.t("head.training")),
      told.feedback.map(({ right, text }) =>
        h(`p.feedback.${right ? "right" : "wrong"}`, {}, h("strong", {}, `${right ? "✓" : "✗"} ${app.t(right ? "training.right" : "training.wrong")}`), " ", rich(text)),
      ),
      h("div.bar", {}, button(app.t("button.continue"), () => app.again(() => training(app, { ...state, training: { ...told, feedback: null } })))),
    );
    return;
  }
  const answers = [];
  for (const trial of told.questions) {
    app.note(app.t("training.question", { n: trial.number, m: trial.of }), told.attempt > 1 && app.t("training.attempt", { n: told.attempt, m: told.attempts }));
    const turn = new AbortController();
    signal.addEventListener("abort", () => turn.abort());
    const view = app.view(turn.signal);
    app.main.replaceChildren();
    app.main.focus({ preventScroll: true });
    const put = async (given) => void answers.push(...given.map(({ criterion, value, seconds }) => ({ trial: trial.id, criterion, value, seconds })));
    document.body.dataset.page = trial.page;
    if (trial.page === "pairs") await pairs(view, trial, {}, put);
    else await rating(view, { ...trial, back: false }, { values: {}, distortions: [] }, { previous: false, put });
    turn.abort();
  }
  app.step("training", { answers });
}

function ready(app, state) {
  const told = state.ready ?? {};
  const keys = state.trials?.some(({ page }) => page === "pairs") ?? true;
  const go = button(app.t("button.ready"), () => (app.fullScreen(), app.step("begin", {})));
  app.sheet(
    h("h1", {}, told.head ?? app.state.study.title),
    paragraphs(told.text),
    h("p", {}, app.t(keys ? "pair.keys" : "rating.keys")),
    h("div.bar", {}, go),
  );
}

/** By the server's seconds; this clock only counts them down. */
function pause(app, state) {
  const end = performance.now() + state.break.seconds * 1000;
  const left = h("p.left", { role: "timer" });
  const over = h("p", { role: "status" });
  const go = button(app.t("button.continue"), () => app.step("break", {}));
  const tick = () => {
    const seconds = Math.ceil((end - performance.now()) / 1000);
    go.disabled = seconds > 0;
    left.textContent = seconds > 0 ? app.t("break.left", { seconds }) : "";
    if (seconds <= 0) {
      over.textContent = app.t("break.over");
      clearInterval(clock);
    }
  };
  const clock = setInterval(tick, 250);
  app.signal.addEventListener("abort", () => clearInterval(clock));
  headed(app, "break", paragraphs(app.t("break.text")), left, over, h("div.bar", {}, go));
  tick();
}

function questionnaire(app, { questionnaire: asked }) {
  const fields = asked.fields.map(({ id, label, choices }) =>
    h(
      "label.field",
      {},
      h("span", {}, label),
      h("select", { name: id }, h("option", { value: "" }, app.t("questionnaire.skip")), choices.map((one) => h("option", { value: one.id }, one.label))),
    ),
  );
  const remark = asked.remark
    ? h("label.field", {}, h("span", {}, app.t("questionnaire.remark")), h("textarea", { name: "remark", rows: 4, maxlength: 2000 }), h("small", {}, app.t("questionnaire.remark-help")))
    : null;
  const form = h(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        const { remark: words = "", ...rest } = Object.fromEntries(new FormData(form));
        const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value));
        app.step("questionnaire", { answers: given, remark: words.trim() });
      },
    },
    fields,
    remark,
    h("div.bar", {}, h("button.main", { type: "submit" }, app.t("button.send"))),
  );
  app.sheet(h("h1", {}, asked.head ?? app.t("head.finish")), paragraphs(asked.text), form);
}

/** The code comes only when the server has every answer. */
async function finish(app) {
  const signal = app.signal;
  const waiting = h("p", { role: "status" });
  headed(app, "finish", paragraphs(app.t("finish.text")), waiting);
  while (app.outbox.waiting && !signal.aborted) {
    waiting.textContent = app.t("finish.waiting", { n: app.outbox.waiting });
    app.outbox.run();
    await sleep(200);
  }
  if (signal.aborted) return;
  const { data } = await app.ask(() => call("POST", "/api/finish", { id: uuid() }));
  if (data.phase) app.go(data);
  else if ("outcome" in data) app.go({ ...app.state, phase: "done", done: data });
  else app.refresh();
}

function done(app, { done: end, study, session }) {
  const code = h("output.code", { id: "code" }, end.code ?? "");
  const copy = button(app.t("button.copy"), () => copied(code, copy, app), "plain");
  const when = end.next && app.date(end.next.at);
  const open = end.next && end.next.at <= (app.state.now ?? 0);
  app.sheet(
    h("h1", {}, app.t("head.done")),
    paragraphs(end.text),
    end.code && [h("h2", {}, app.t("done.code")), h("div.bar", {}, code, copy), end.redirect && paragraphs(app.t("done.code-text"))],
    end.redirect && [paragraphs(app.t("done.return")), h("div.bar", {}, h("a.main", { href: end.redirect, rel: "noreferrer" }, app.t("button.return")))],
    end.next && paragraphs(open ? app.t("done.next-now", { n: end.next.session, m: session.of }) : app.t("done.next-later", { when })),
    open && h("div.bar", {}, button(app.t("button.start"), () => app.refresh())),
    !end.redirect && !end.next && paragraphs(app.t("done.close")),
    app.state.participant && h("p.hint", {}, app.t("participant", { name: app.state.participant })),
  );
  if (study.lab) app.restart(60);
}

async function copied(code, copy, app) {
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    getSelection().selectAllChildren(code); // without https there is no clipboard, but the old command
    if (!document.execCommand("copy")) return;
  }
  copy.textContent = app.t("button.copied");
}

function wait(app, state) {
  headed(app, "wait", paragraphs(app.t("wait.text", { when: app.date(state.wait.until) })));
  app.retry(Math.max(5, Math.min(600, state.wait.until - state.now)));
}

/** A page that only tells something; asks again every so often where that may change. */
const plain = (key, seconds) => (app) => {
  headed(app, key, paragraphs(app.t(`wait.${key}`)));
  if (seconds) app.retry(seconds);
};

/** Phase -> page. */
export const PAGES = {
  consent,
  device,
  instructions,
  tutorial,
  training,
  ready,
  break: pause,
  questionnaire,
  finish,
  done,
  wait,
  full: plain("full", 60),
  paused: plain("paused", 15),
  closed: plain("closed"),
  "preview-end": plain("preview-end"),
};
