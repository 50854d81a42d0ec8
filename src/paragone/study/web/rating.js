// One picture and its score: slider, category buttons (acr), or both against a reference (dcr).
import { h } from "./dom.js";
import { frame } from "./pictures.js";
import { Stage, question } from "./stage.js";

/**
 * Show a picture and take its scores.
 * @param {object} view
 * @param {object} trial
 * @param {{values: Object<string, number>, distortions: string[]}} given scores there are; may be changed
 * @param {{previous: boolean, put: (answers: object[]) => Promise<void>}} ways put keeps answers
 * @returns {Promise<-1|1>} where to go
 */
export async function rating(view, trial, given, ways) {
  const stage = new Stage(view, trial);
  const shots = await stage.shots();
  const several = trial.criteria.length > 1;
  const values = { ...given.values };
  const ready = () => {
    next.disabled = trial.criteria.some(({ id }) => values[id] === undefined);
    hint.textContent = next.disabled ? view.t("rating.touch") : "";
  };
  const set = (id) => (value) => {
    values[id] = value;
    ready();
  };
  const control = trial.page === "slider" ? slider : categories;
  const next = h("button.main#next", { type: "button", "aria-keyshortcuts": "Enter" }, view.t("button.next"));
  const previous =
    trial.back && h("button#previous", { type: "button", disabled: !ways.previous }, view.t("button.previous"));
  const hint = h("p.hint", {}, "");
  const panes = shots.map((shot) =>
    h("figure.pane", {}, frame(shot), shots.length > 1 && h("span.cap", { "aria-hidden": "true" }, shot.pane.label)),
  );
  const root = h("div.root", {}, h("div.grid.single", {}, panes));
  const magnifier = trial.zoom && h("button.small.zoom", { type: "button", "aria-keyshortcuts": "Z" }, "");
  if (trial.zoom) stage.zoomable(root, magnifier);
  const head = h("h1#question", {}, several ? view.t("rating.scale") : question(trial.criteria[0].question));
  const side = h(
    "div.side",
    {},
    h(
      "div.scales",
      {},
      trial.criteria.map((criterion, at) => control(view, trial, criterion, values[criterion.id], set(criterion.id), several && at)),
    ),
    hint,
    h("div.bar", {}, previous, next),
  );
  const words = h("div.words", {}, described(trial), ticks(view, trial, given.distortions), magnifier);
  view.heading(head);
  document.body.dataset.criterion = trial.criteria[0].id;
  ready();
  const sum = (name) => shots.reduce((total, { image }) => total + image[name], 0);
  const span = [sum("naturalWidth"), Math.max(...shots.map(({ image }) => image.naturalHeight))];
  await stage.show([head, h("div.rating", {}, h("div.left", {}, root, words), side)], root, [{ name: "row", span }]);
  return answered(view, stage, { next, previous, values, given, put: ways.put });
}

/** Prompt and keywords, as the study shows them beside the picture. */
const described = (trial) =>
  trial.text?.length ? h("dl.text", { tabindex: 0 }, trial.text.map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, text)))) : null;

const ticks = (view, trial, on) =>
  trial.distortions?.length
    ? h(
        "fieldset.ticks",
        {},
        h("legend", {}, view.t("rating.distortions")),
        trial.distortions.map(({ id, label }) =>
          h("label", {}, h("input", { type: "checkbox", name: "distortion", value: id, checked: on.includes(id) }), label),
        ),
      )
    : null;

/** Decimals that the steps of a scale need. */
const decimals = ({ step }) => (String(step).split(".")[1] ?? "").length;
const valueAt = (scale, n) => Number((scale.low + n * scale.step).toFixed(Math.max(decimals(scale), 0)));
const stepsOf = (scale) => Math.round((scale.high - scale.low) / scale.step);

/** A vertical slider in whole steps. It has no thumb until it is touched: where it starts is not a score. */
function slider(view, trial, criterion, value, set, at) {
  const { scale } = trial;
  const most = stepsOf(scale);
  const start = value === undefined ? Math.round(most / 2) : Math.round((value - scale.low) / scale.step);
  const label = typeof at === "number" ? h("p.ask", {}, question(criterion.question)) : null;
  const number = (n) => valueAt(scale, n).toLocaleString(document.documentElement.lang, { minimumFractionDigits: decimals(scale) });
  const shown = h("output.value", {}, "");
  const input = h("input.slider", {
    type: "range",
    min: 0,
    max: most,
    step: 1,
    value: start,
    "aria-label": criterion.question.join(""),
    "aria-orientation": "vertical",
  });
  const word = (n) => scale.labels[Math.min(scale.labels.length - 1, Math.floor((n / most) * scale.labels.length))] ?? "";
  const show = (touched) => {
    const n = Number(input.value);
    input.classList.toggle("untouched", !touched);
    shown.textContent = touched ? number(n) : "–";
    input.setAttribute("aria-valuetext", touched ? `${number(n)} ${word(n)}`.trim() : view.t("rating.unset"));
  };
  const touch = () => {
    show(true);
    set(valueAt(scale, Number(input.value)));
  };
  for (const name of ["pointerdown", "pointerup", "touchstart", "input", "change"]) input.addEventListener(name, touch);
  input.addEventListener("keydown", (event) => {
    const by = { PageUp: 5, PageDown: -5 }[event.key];
    if (by) {
      event.preventDefault();
      input.value = Number(input.value) + by;
    }
    if (by || /^(Arrow|Home|End)/.test(event.key)) touch();
  });
  show(value !== undefined);
  const n = scale.labels.length;
  const names = scale.labels.map((text, i) => {
    const made = h("span", {}, text);
    made.style.bottom = `${((i + 0.5) / n) * 100}%`;
    return made;
  });
  const ends = [0, 1].map((end) => {
    const made = h("span.end", {}, (end ? scale.high : scale.low).toLocaleString(document.documentElement.lang));
    made.style.bottom = `${end * 100}%`;
    return made;
  });
  return h("div.scale", {}, label, shown, h("div.track", {}, input, h("div.names", { "aria-hidden": "true" }, names, ends)));
}

/** One button for each value of the scale, the best on top; digits choose as well. */
function categories(view, trial, criterion, value, set, at) {
  const { scale } = trial;
  const count = stepsOf(scale) + 1;
  const named = scale.labels.length === count;
  const choices = Array.from({ length: count }, (_, n) => {
    const number = valueAt(scale, n);
    const input = h("input", {
      type: "radio",
      name: criterion.id,
      value: number,
      checked: value === number,
      "data-digit": at ? null : n + 1,
      onchange: () => set(number),
    });
    return h("label.category", {}, input, h("kbd", { "aria-hidden": "true" }, String(number)), named ? scale.labels[n] : null);
  });
  const name = question(criterion.question);
  return h("fieldset.scale", {}, h("legend", { class: typeof at === "number" ? "ask" : "unseen" }, name), choices.reverse());
}

/** Until the person goes on or back. Unchanged scores are not sent again. */
function answered(view, stage, { next, previous, values, given, put }) {
  const { main, signal } = view;
  const marks = () => [...main.querySelectorAll("[name=distortion]:checked")].map(({ value }) => value);
  return new Promise((go) => {
    let left = false;
    const on = async (event) => {
      if (left || next.disabled || !stage.takes(event)) return;
      left = true;
      next.disabled = true;
      const distortions = marks();
      const same = String(distortions) === String(given.distortions);
      const changed = stage.trial.criteria.filter(({ id }) => values[id] !== given.values[id] || !same);
      const answers = changed.map(({ id }) => {
        stage.order = stage.trial.criteria.findIndex((criterion) => criterion.id === id);
        return { criterion: id, value: values[id], ...stage.measured(event, { distortions }) };
      });
      if (answers.length) await put(answers, distortions);
      go(1);
    };
    const back = (event) => {
      if (left || !stage.takes(event)) return;
      left = true;
      go(-1);
    };
    next.addEventListener("click", on, { signal });
    previous?.addEventListener("click", back, { signal });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
      const digit = main.querySelector(`[data-digit="${Number(event.key)}"]`);
      if (digit && event.key.trim()) digit.click(), digit.focus();
      else if (event.key === "Enter" && !event.target.closest("button, summary, a")) on(event);
    }, { signal });
  });
}
