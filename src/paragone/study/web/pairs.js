// Two results, with their references: which one? One criterion at a time, or all on one page.
import { h, painted, sleep } from "./dom.js";
import { frame } from "./pictures.js";
import { Stage, question } from "./stage.js";

const CHANGE = 400; // ms between an answer and the next question about the same pair
const KEYS = { 1: "left", ArrowLeft: "left", 2: "right", ArrowRight: "right", 0: "tie", 3: "tie" };
const SHORTCUTS = { left: "1 ArrowLeft", right: "2 ArrowRight", tie: "0 3" };

/**
 * Show a pair and take its answers.
 * @param {object} view
 * @param {object} trial
 * @param {Object<string, string>} given answers there are, by criterion
 * @param {(answers: object[]) => Promise<void>} put keeps answers
 */
export async function pairs(view, trial, given, put) {
  const stage = new Stage(view, trial);
  const shots = await stage.shots();
  const open = trial.criteria.filter(({ id }) => !(id in given));
  const all = trial.ask === "all";
  const root = h("div.root", {}, triplets(view, trial, shots, all));
  const head = h("h1#question", {}, all ? view.t("pair.pictures") : question(open[0].question));
  const magnifier = trial.zoom && h("button.small.zoom", { type: "button", "aria-keyshortcuts": "Z" }, "");
  const third = !all && trial.third && choice("tie", [key(view.t("pair.key-third")), thirdLabel(view, trial)], "third");
  const rows = all && open.map((criterion, at) => row(view, trial, criterion, at));
  const bar = h("div.bar", {}, h("span.side"), third, all && send(view), h("span.side", {}, magnifier));
  if (trial.zoom) stage.zoomable(root, magnifier);
  const nodes = [head, root, all && h("div.rows", {}, rows), bar].filter(Boolean);
  view.heading(head);
  document.body.dataset.criterion = open[0].id;
  stage.order = trial.criteria.indexOf(open[0]);
  await stage.show(nodes, root, spans(trial, shots));
  await (all ? together(view, stage, open, put) : oneByOne(view, stage, open, put));
}

const key = (word) => h("kbd", { "aria-hidden": "true" }, word);
const thirdLabel = (view, trial) => trial.third_label ?? view.t(`third.${trial.third}`);
const choice = (side, children, kind) =>
  h(`button.${kind}`, { type: "button", "data-side": side, "aria-keyshortcuts": SHORTCUTS[side] }, children);
const send = (view) => h("button.main#send", { type: "button", disabled: true }, view.t("button.next"));

/** References on top and the two results below; or two triplets side by side. */
function triplets(view, trial, shots, all) {
  const of = (side, result) => shots.filter(({ pane }) => pane.side === side && isResult(pane) === result).map(one);
  const one = (shot) => {
    const { pane } = shot;
    const inside = [frame(shot), h("span.cap", { "aria-hidden": "true" }, caption(view, pane, all))];
    return isResult(pane) && !all ? choice(pane.role, inside, "pane") : h("figure.pane", {}, inside);
  };
  const results = (side) => shots.filter(({ pane }) => pane.role === side).map(one);
  if (trial.layout === "six") {
    const half = (side) => h("div.triplet", {}, h("div.refs", {}, of(side, false)), h("div.results", {}, results(side)));
    return h("div.grid.six", {}, half("left"), half("right"));
  }
  const refs = shots.filter(({ pane }) => !isResult(pane)).map(one);
  return h("div.grid.four", {}, h("div.refs", {}, refs), h("div.results", {}, results("left"), results("right")));
}

const isResult = (pane) => pane.role === "left" || pane.role === "right";

function caption(view, pane, all) {
  if (!isResult(pane) || all) return pane.label;
  const word = key(view.t(`pair.key-${pane.role}`));
  return pane.role === "left" ? [word, pane.label] : [pane.label, word];
}

/** How many picture pixels the arrangements take: a grid, or all in one row where only that is exact. */
function spans(trial, shots) {
  const sum = (list, name) => list.reduce((total, { image }) => total + image[name], 0);
  const top = (list) => Math.max(0, ...list.map(({ image }) => image.naturalHeight));
  const size = (list) => [sum(list, "naturalWidth"), top(list)];
  const refs = (side) => shots.filter(({ pane }) => !isResult(pane) && (!side || pane.side === side));
  const results = (side) => shots.filter(({ pane }) => (side ? pane.role === side : isResult(pane)));
  const stack = (a, b) => [Math.max(a[0], b[0]), a[1] + b[1]];
  if (trial.layout === "six") {
    const [left, right] = ["left", "right"].map((side) => stack(size(refs(side)), size(results(side))));
    const height = top(refs()) + top(results());
    return [{ name: "grid", span: [2 * Math.max(left[0], right[0]), height] }];
  }
  const grid = { name: "grid", span: stack(size(refs()), size(results())) };
  return refs().length ? [grid, { name: "row", span: size(shots) }] : [grid];
}

/** One question after another about the same pair; the first input to each is its answer. */
async function oneByOne(view, stage, open, put) {
  for (const [at, criterion] of open.entries()) {
    if (at) await change(view, stage, criterion);
    const { side, event, button } = await first(view, stage);
    button?.setAttribute("aria-pressed", "true");
    view.main.classList.add("answered");
    const { seconds, body } = stage.measured(event);
    await put([{ criterion: criterion.id, value: side, seconds, body }]);
    if (at < open.length - 1) await sleep(CHANGE / 2);
    view.main.classList.remove("answered");
    button?.removeAttribute("aria-pressed");
  }
}

/** The next question slides in; the pictures stay. */
async function change(view, stage, criterion) {
  const head = view.main.querySelector("#question");
  delete document.body.dataset.onset;
  head.classList.add("leaving");
  await sleep(CHANGE / 2);
  head.replaceChildren(...question(criterion.question).filter(Boolean));
  head.classList.remove("leaving");
  view.heading(head);
  view.say(head.textContent);
  stage.order = stage.trial.criteria.indexOf(criterion);
  document.body.dataset.criterion = criterion.id;
  await stage.mark();
}

/** The first click or key that chooses. */
function first(view, stage) {
  const once = new AbortController();
  const signal = AbortSignal.any([once.signal, view.signal]);
  return new Promise((found) => {
    const take = (event, button) => {
      if (!button || !stage.takes(event)) return;
      once.abort();
      found({ side: button.dataset.side, event, button });
    };
    view.main.addEventListener("click", (event) => take(event, event.target.closest("[data-side]")), { signal });
    document.addEventListener("keydown", (event) => take(event, view.main.querySelector(`[data-side=${pressed(event)}]`)), { signal });
  });
}

const pressed = (event) =>
  event.ctrlKey || event.altKey || event.metaKey || event.shiftKey ? "none" : (KEYS[event.key] ?? "none");

/** A question with its own buttons, where all are asked on one page. */
function row(view, trial, criterion, at) {
  const label = (side) => trial.panes.find((pane) => pane.role === side).label;
  const button = (side, text) =>
    h("button.pick", { type: "button", "data-pick": side, "aria-pressed": "false", "aria-describedby": `row${at}` }, text);
  return h(
    "div.row",
    { role: "group", "aria-labelledby": `row${at}`, "data-criterion": criterion.id },
    h(`span.ask#row${at}`, {}, question(criterion.question)),
    button("left", label("left")),
    trial.third && button("tie", thirdLabel(view, trial)),
    button("right", label("right")),
  );
}

/** All questions at once: answers may be changed until they are sent. */
function together(view, stage, open, put) {
  const { main, signal } = view;
  const rows = [...main.querySelectorAll(".row")];
  const chosen = new Map();
  const next = main.querySelector("#send");
  const current = () => rows.find((line) => !chosen.has(line.dataset.criterion));
  const light = () => rows.forEach((line) => line.classList.toggle("now", line === current()));
  const pick = (line, side, event) => {
    if (!line || !stage.takes(event)) return;
    const button = line.querySelector(`[data-pick=${side}]`);
    if (!button) return;
    for (const other of line.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === button));
    stage.order = stage.trial.criteria.findIndex(({ id }) => id === line.dataset.criterion);
    chosen.set(line.dataset.criterion, { value: side, ...stage.measured(event) });
    next.disabled = chosen.size < rows.length;
    light();
  };
  light();
  return new Promise((done) => {
    main.addEventListener("click", async (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.pick) pick(button.closest(".row"), button.dataset.pick, event);
      else if (button === next && !next.disabled && stage.takes(event)) {
        next.disabled = true;
        await put(open.map(({ id }) => ({ criterion: id, ...chosen.get(id) })));
        done();
      }
    }, { signal });
    document.addEventListener("keydown", (event) => {
      const side = pressed(event);
      if (side !== "none" && !event.repeat) pick(current(), side, event);
      else if (event.key === "Enter" && !event.repeat && event.target === main) next.click();
    }, { signal });
  });
}
