// The participant's screen: what it is, whether it is shown as it is, how large it is.
import { h, paragraphs } from "./dom.js";
import { frame } from "./pictures.js";

const CARD = [85.6, 53.98]; // mm, ISO/IEC 7810 ID-1

const asks = (query) => matchMedia(query).matches;

/** Whether something paints this page in other colours than ours. */
function recoloured() {
  const probe = h("div.probe", {});
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const ours = style.backgroundColor === "rgb(108, 108, 108)" && style.color === "rgb(255, 255, 255)";
  probe.remove();
  const root = document.documentElement;
  const filtered = [root, document.body].some((node) => getComputedStyle(node).filter !== "none");
  return asks("(forced-colors: active)") || asks("(inverted-colors: inverted)") || !ours || filtered || root.hasAttribute("data-darkreader-mode");
}

/** Browser zoom in percent, as far as a page can know it. */
const zoomOf = () => Math.round((visualViewport?.scale ?? 1) * (outerWidth && innerWidth ? outerWidth / innerWidth : 1) * 100);

/** What is recorded of the screen. */
export function facts() {
  return {
    width: innerWidth,
    height: innerHeight,
    screen_width: screen.width,
    screen_height: screen.height,
    ratio: devicePixelRatio,
    zoom: zoomOf(),
    gamut: ["rec2020", "p3", "srgb"].find((name) => asks(`(color-gamut: ${name})`)) ?? "",
    high_range: asks("(dynamic-range: high)"),
    depth: screen.colorDepth,
    dark: asks("(prefers-color-scheme: dark)"),
    forced_colors: asks("(forced-colors: active)"),
    recoloured: recoloured(),
    touch: asks("(pointer: coarse)"),
    full_screen: Boolean(document.fullscreenElement),
    automated: Boolean(navigator.webdriver),
  };
}

export async function device(app, { device: needs }) {
  const signal = app.signal;
  const checks = h("ul.checks", {});
  const look = () => {
    const seen = facts();
    const off = Math.abs(seen.zoom - 100) > 10;
    const line = (good, text) => h(`li.${good ? "good" : "bad"}`, {}, h("span", { "aria-hidden": "true" }, good ? "✓ " : "! "), text);
    checks.replaceChildren(
      line(true, `${app.t("device.ok")} ${seen.width} × ${seen.height}`),
      line(true, app.t("device.ratio", { ratio: Math.round(seen.ratio * 100) / 100 })),
      off ? line(false, app.t("device.zoom")) : "",
      seen.recoloured ? line(false, app.t("device.recoloured")) : "",
    );
  };
  const answers = {};
  const next = h("button.main", { type: "submit" }, app.t("button.continue"));
  const plates = needs.plates?.length ? await plateFields(app, needs.plates) : null;
  if (signal.aborted) return;
  const form = h(
    "form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        const seen = Object.fromEntries((needs.plates ?? []).map(({ id }) => [id, new FormData(form).get(id)]));
        if (needs.full_screen) app.fullScreen(true);
        app.step("device", { ...facts(), ...answers, plates: seen });
      },
    },
    needs.card && card(app, answers),
    plates,
    needs.full_screen && h("p", {}, app.t("device.full-screen")),
    h("div.bar", {}, next, h("button.plain", { type: "button", onclick: look }, app.t("button.check"))),
  );
  app.sheet(h("h1", {}, app.t("head.device")), paragraphs(app.t("device.text")), checks, form);
  look();
  addEventListener("resize", look, { signal });
}

/** A frame to be made as wide as a bank card: CSS pixels for a centimetre. */
function card(app, answers) {
  const shape = h("div.card", { "aria-hidden": "true" });
  const slider = h("input", { type: "range", min: 160, max: 720, step: 1, value: 324, "aria-label": app.t("device.card-label") });
  const none = h("input", { type: "checkbox", name: "none" });
  const show = () => {
    shape.style.width = `${slider.value}px`;
    shape.style.height = `${(slider.value * CARD[1]) / CARD[0]}px`;
  };
  const fits = h("input", { type: "checkbox", required: true });
  const set = () => {
    fits.required = !none.checked;
    if (none.checked) fits.checked = false;
    answers.px_per_cm = fits.checked ? Math.round((slider.value / CARD[0]) * 1000) / 100 : null;
  };
  slider.addEventListener("input", () => (show(), set()));
  fits.addEventListener("change", () => (fits.checked && (none.checked = false), set()));
  none.addEventListener("change", set);
  show();
  set();
  return h(
    "section",
    {},
    h("h2", {}, app.t("device.card-head")),
    h("p", {}, app.t("device.card")),
    shape,
    slider,
    h("label.tick", {}, fits, h("span", {}, app.t("device.card-done"))),
    h("label.tick", {}, none, h("span", {}, app.t("device.card-skip"))),
  );
}

async function plateFields(app, plates) {
  const made = [];
  for (const [at, plate] of plates.entries()) {
    const src = plate.src ?? `/i/${plate.id}/a`;
    const label = app.t("device.plates-count", { n: at + 1, m: plates.length });
    const [shot] = await app.album.get({ id: plate.id, panes: [{ slot: "a", label, src }] });
    shot.image.className = "plate";
    const options = plate.choices.includes("") ? plate.choices : [...plate.choices, ""];
    made.push(
      h(
        "fieldset.plate",
        {},
        h("legend", {}, label),
        shot.image,
        h(
          "div.options",
          {},
          options.map((choice) => h("label", {}, h("input", { type: "radio", name: plate.id, value: choice, required: true }), choice || app.t("device.plates-nothing"))),
        ),
      ),
    );
  }
  return h("section", {}, h("h2", {}, app.t("device.plates-head")), h("p", {}, app.t("device.plates")), made);
}
