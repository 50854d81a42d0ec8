// The study in the browser: opens the session, shows the page of the phase the server names, keeps what is answered.
import { h, paragraphs, uuid } from "./dom.js";
import { Gone, Refused, call, onTrouble, open, recall, remember, send, session } from "./net.js";
import { Outbox } from "./outbox.js";
import { PAGES } from "./pages.js";
import { Album } from "./pictures.js";
import { Runner } from "./trials.js";

const LATE = 2500; // ms after which waiting answers are spoken of
const $ = (id) => document.getElementById(id);
const framed = window.top !== window.self;
const FIRST = {
  en: ["Connecting to the study. Nothing is lost.", "Please open the study again with the link you were given."],
  de: ["Verbindung zur Studie wird hergestellt. Nichts geht verloren.", "Bitte öffnen Sie die Studie noch einmal mit dem Link, den Sie bekommen haben."],
  zh: ["正在连接研究服务器，不会丢失任何内容。", "请用您收到的链接重新打开本研究。"],
}[navigator.language.slice(0, 2)] ?? null;

const app = {
  main: $("main"),
  state: null,
  turn: new AbortController(),
  get signal() {
    return app.turn.signal;
  },

  /** A text in the study's language, its {fields} filled in. */
  t: (key, fields = {}) => (app.state?.texts[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => fields[name] ?? whole),

  date: (epoch) =>
    new Date(epoch * 1000).toLocaleString(app.state.study.language, { dateStyle: "full", timeStyle: "short" }),

  /** Fill the page with text: a sheet of readable width. */
  sheet(...nodes) {
    document.body.dataset.page = "sheet";
    app.main.replaceChildren(h("div.sheet", {}, nodes));
    const head = app.main.querySelector("h1");
    if (head) app.heading(head);
  },

  heading(head) {
    head.id = "question";
    app.main.setAttribute("aria-labelledby", "question");
  },

  say: (text) => ($("say").textContent = text),

  status(kind, fields) {
    $("status").textContent = kind ? app.t(kind, fields) : "";
  },

  note(...words) {
    $("count").textContent = words.filter(Boolean).join(" · ");
  },

  /** What a trial's page gets. */
  view: (signal) => ({
    main: app.main,
    t: app.t,
    album: app.album,
    say: app.say,
    heading: app.heading,
    signal,
    status: app.status,
  }),

  progress(done) {
    const { of } = app.state.progress;
    const bar = $("bar");
    bar.hidden = false;
    bar.setAttribute("aria-valuemax", of);
    bar.setAttribute("aria-valuenow", done);
    bar.setAttribute("aria-label", app.t("progress", { n: done, m: of }));
    $("done").style.width = `${of ? (100 * done) / of : 0}%`;
    app.note(app.t("progress", { n: Math.min(done + 1, of), m: of }));
  },

  /** Do what talks to the server; tell the person when that cannot go on. */
  async ask(talk) {
    try {
      return await talk();
    } catch (fault) {
      if (fault instanceof Gone) app.replaced();
      else app.broken(fault);
      return new Promise(() => {});
    }
  },

  async step(step, body) {
    for (const made of app.main.querySelectorAll("button, input, select, textarea")) made.disabled = true;
    const { data } = await app.ask(() => call("POST", "/api/step", { id: uuid(), step, body }));
    if (data.phase) app.go(data, true);
    else app.refresh();
  },

  /** Ask the server where we are. Two calls at the same time make one more question, not two. */
  async refresh({ afresh = false, path = "/api/state" } = {}) {
    app.asked = true;
    if (app.asking) return;
    app.asking = true;
    while (app.asked) {
      app.asked = false;
      const { data } = await app.ask(() => call("GET", path));
      if (afresh && !app.outbox.waiting) app.runner.forget();
      app.asking = app.asked;
      app.go(data);
    }
    app.asking = false;
  },

  /** Show what a state says; a trial that is being judged stays. */
  go(state, afresh = false) {
    const before = app.state?.phase;
    app.state = { ...state, texts: state.texts ?? app.state?.texts ?? {} };
    if (state.phase === "trial" && before === "trial" && !afresh && !app.stopped) return app.runner.update(app.state);
    if (state.phase === before && !afresh && before !== "done" && before !== "finish" && !app.stopped) return;
    app.again(() => (state.phase === "trial" ? trial() : PAGES[state.phase](app, app.state)));
  },

  /** A fresh page: listeners of the last one end, the reader begins at the top. */
  again(show) {
    app.turn.abort();
    app.turn = new AbortController();
    app.stopped = false;
    clearTimeout(app.timer);
    const { body } = document;
    body.dataset.phase = app.state.phase;
    for (const name of ["trial", "criterion", "onset", "exact", "scale", "zoom"]) delete body.dataset[name];
    frameOf(app.state);
    app.main.replaceChildren();
    app.small();
    show();
    scrollTo(0, 0);
    app.main.focus({ preventScroll: true });
  },

  waiting: () => app.sheet(h("p.calm", { role: "status" }, app.t(navigator.onLine ? "retry" : "offline"))),

  stop(head, ...nodes) {
    app.turn.abort();
    app.turn = new AbortController();
    app.stopped = true;
    document.body.dataset.phase = head;
    app.sheet(h("h1", {}, app.t("head.error")), ...nodes);
    app.main.focus();
  },

  replaced() {
    app.outbox.stopped = true;
    const here = async () => {
      await app.ask(() => open({}));
      tell();
      app.outbox.stopped = false;
      app.outbox.run();
      app.state = { ...app.state, phase: null };
      app.refresh();
    };
    app.stop("replaced", paragraphs(app.t("replaced")), h("div.bar", {}, h("button.main", { type: "button", onclick: here }, app.t("button.here"))));
  },

  broken(fault) {
    const text = app.state ? app.t("error") : (FIRST ?? [])[1];
    const words = fault instanceof Refused && fault.message.length > 3 ? fault.message : text;
    if (!(fault instanceof Refused)) console.error(fault);
    app.stop("error", paragraphs(words), h("div.bar", {}, h("button.main", { type: "button", onclick: () => location.reload() }, app.state ? app.t("button.reload") : "↻")));
  },

  retry: (seconds) => (app.timer = setTimeout(() => app.refresh(), seconds * 1000)),

  /** A lab's screen is ready for the next person after a while. */
  restart: (seconds) => (app.timer = setTimeout(() => (remember(null), location.assign("/")), seconds * 1000)),

  fullScreen(wanted = app.wantsFull) {
    app.wantsFull = wanted;
    if (wanted && !document.fullscreenElement) document.documentElement.requestFullscreen?.().catch(() => {});
  },

  /** Links to the other languages of the study. */
  languages() {
    const { languages, language } = app.state.study;
    if (languages.length < 2) return null;
    const names = (code) => new Intl.DisplayNames([code], { type: "language" }).of(code);
    return h("nav.languages", { "aria-label": names(language) }, languages.map((code) => h("button.small", { type: "button", lang: code, "aria-pressed": String(code === language), onclick: () => speak(code) }, names(code))));
  },

  /** Too small a window: say so, and go on by itself when there is room. */
  small() {
    const needs = app.state?.device;
    const gate = $("gate");
    const small = Boolean(needs) && !app.stopped && (innerWidth < needs.min_width || innerHeight < needs.min_height);
    gate.hidden = !small;
    app.main.hidden = app.main.inert = small;
    if (!small) return gate.replaceChildren();
    const phone = screen.width < needs.min_width && screen.height < needs.min_width;
    const sizes = { width: innerWidth, height: innerHeight, min_width: needs.min_width, min_height: needs.min_height };
    gate.replaceChildren(h("div.sheet", {}, h("h1", {}, app.t("head.device")), paragraphs(app.t(phone ? "device.phone" : "device.size", sizes))));
  },
};

function trial() {
  app.runner.update(app.state);
  app.runner.run(app.signal).catch((fault) => app.broken(fault));
}

/** Header and language of a state. */
function frameOf({ study, session: sitting }) {
  document.documentElement.lang = study.language;
  document.title = study.title;
  const where = [study.title, sitting?.of > 1 && app.t("session", { n: sitting.number, m: sitting.of }), study.preview && app.t("preview")];
  $("where").textContent = where.filter(Boolean).join(" · ");
  $("bar").hidden = true;
  app.note("");
  app.status("");
}

async function speak(code) {
  const { data } = await app.ask(() => call("GET", `/api/state?lang=${code}`));
  if (data.study.language === code) app.go(data, true);
  else location.assign(`/?lang=${code}`);
}

/** Tell other tabs that carry the same token (a tab that was duplicated) that this one has taken over. */
const channel = window.BroadcastChannel ? new BroadcastChannel("paragone") : null;
const tell = () => channel?.postMessage(session.token);
if (channel) channel.onmessage = ({ data }) => data === session.token && app.replaced();

/** Whether answers are late: spoken of, and a reason to ask before the page is closed. */
let lateSince = null;
function waitingShown(waiting, tries) {
  document.body.dataset.waiting = String(waiting);
  if (!waiting) {
    if ($("status").dataset.late) app.status("saved");
    delete $("status").dataset.late;
    lateSince = null;
    return;
  }
  lateSince ??= performance.now();
  if (tries < 2 && performance.now() - lateSince < LATE) return;
  $("status").dataset.late = "1";
  app.status(navigator.onLine ? "saving" : "offline", { n: waiting });
}

async function start() {
  const key = /^#k=([\w-]+)$/.exec(location.hash)?.[1];
  const token = /^#t=([\w.~-]+)$/.exec(location.hash)?.[1] ?? recall();
  if (location.hash) history.replaceState(null, "", location.pathname);
  app.outbox = new Outbox({
    gone: () => app.replaced(),
    early: () => app.refresh(),
    changed: waitingShown,
    sent(entry, status) {
      if (status > 201) app.runner.forget();
      if (status > 201 || !app.runner.opens(entry.answers[0].trial)) app.refresh();
    },
  });
  app.album = new Album(async (fault) => {
    app.status("picture-failed");
    if (fault.status === 410) app.replaced();
    else app.refresh();
  });
  app.runner = new Runner(app);
  app.runner.recall(await app.outbox.open());
  document.body.dataset.waiting = String(app.outbox.waiting);
  onTrouble((tries) => {
    if (tries > 1 && app.state) app.status(navigator.onLine ? "retry" : "offline");
    else if (tries > 1) app.main.replaceChildren(h("p.calm", {}, (FIRST ?? [""])[0]));
    else if (!tries && app.state && !app.outbox.waiting && !$("status").dataset.late) app.status("");
  });
  if (key || !token) await app.ask(() => open(key ? { key } : {}));
  else remember(token);
  tell();
  const { data } = await app.ask(() => call("GET", "/api/state"));
  app.go(data);
  app.outbox.run();
  guards();
}

/** Telemetry: sent once, missed by nobody. */
const report = (kind, body) => send("POST", "/api/telemetry", { id: uuid(), kind, body }).catch(() => {});

function guards() {
  addEventListener("resize", app.small);
  addEventListener("beforeunload", (event) => lateSince !== null && $("status").dataset.late && event.preventDefault());
  // a key that is held down presses no button again
  document.addEventListener("keydown", (event) => event.repeat && event.target.closest("button") && /^( |Enter)$/.test(event.key) && event.preventDefault(), { capture: true });
  // the Back button: the page stays, a trial is never answered twice
  const hold = () => history.state?.here || history.pushState({ here: 1 }, "");
  addEventListener("pointerdown", hold, { once: true });
  addEventListener("keydown", hold, { once: true });
  addEventListener("popstate", () => (history.pushState({ here: 1 }, ""), app.status("back")));
  let left = null;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) left = performance.now();
    else if (left !== null && document.body.dataset.phase === "trial") report("hidden", { ms: Math.round(performance.now() - left) });
  });
  if (framed) {
    const move = h("button.small", { type: "button", onclick: () => window.open(`/study#t=${session.token}`, "_blank") && app.replaced() }, app.t("button.new-tab"));
    $("foot").append(h("p.framed", {}, app.t("framed"), " ", move));
  }
}

start().catch((fault) => app.broken(fault));
