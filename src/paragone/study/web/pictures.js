// Pictures: loaded and decoded before they are needed, shown in whole device pixels, enlarged together.
import { h, sleep } from "./dom.js";
import { Refused, backoff, later, picture, rest } from "./net.js";

/** Image objects of the trials at hand. The very objects are put on the page: the browser's cache is not relied on. */
export class Album {
  constructor(failed) {
    this.failed = failed;
    this.kept = new Map(); // trial id -> promise of [{pane, image}]
  }

  /** The decoded pictures of a trial, in the order of its panes. */
  get(trial) {
    if (!this.kept.has(trial.id)) {
      const made = Promise.all(trial.panes.map((pane) => this.#load(trial.id, pane)));
      this.kept.set(trial.id, made);
    }
    return this.kept.get(trial.id);
  }

  /** Load trials one after another, the next one first; forget all others. */
  async prepare(trials) {
    const wanted = new Set(trials.map((trial) => trial.id));
    for (const [id, made] of this.kept) {
      if (wanted.has(id)) continue;
      this.kept.delete(id);
      made.then((shots) => shots.forEach(({ image }) => URL.revokeObjectURL(image.src)));
    }
    for (const trial of trials) if (wanted.has(trial.id)) await this.get(trial);
  }

  async #load(id, pane) {
    for (let n = 0; ; n++) {
      try {
        const image = new Image();
        image.decoding = "sync";
        image.alt = pane.label;
        image.draggable = false;
        image.src = await picture(pane.src);
        await image.decode();
        return { pane, image };
      } catch (fault) {
        if (fault instanceof Refused && !later(fault.status) && n >= 2) await this.failed(fault);
        await rest(backoff(n));
      }
    }
  }
}

/** A picture in its frame. */
export function frame(shot) {
  return h("span.frame", {}, shot.image);
}

/**
 * Give all pictures one scale: whole device pixels for each picture pixel where there is room, else one common
 * reduction.
 *
 * @param {HTMLElement} root where there is room; its first child holds the frames
 * @param {{name: string, span: [number, number]}[]} shapes arrangements that may be used, the preferred one first:
 *   how many picture pixels they are wide and high
 * @param {{pane: object, image: HTMLImageElement}[]} shots
 * @returns {{exact: boolean, scale: number}} scale: device pixels for one picture pixel
 */
export function layout(root, shapes, shots) {
  const ratio = devicePixelRatio;
  const inner = root.firstElementChild;
  const size = (scale) => {
    for (const { image } of shots) {
      const side = (length) => `${(Number.isInteger(scale) ? length * scale : Math.floor(length * scale)) / ratio}px`;
      const box = image.parentElement.style;
      box.width = side(image.naturalWidth);
      box.height = side(image.naturalHeight);
      box.left = box.top = "0";
    }
  };
  let best = null;
  for (const { name, span } of shapes) {
    root.dataset.shape = name;
    size(0);
    const rest = inner.getBoundingClientRect();
    const room = (total, used, pixels) => (Math.max(total - used, 40) * ratio) / pixels;
    const most = Math.min(room(root.clientWidth, rest.width, span[0]), room(root.clientHeight, rest.height, span[1]));
    const whole = Math.min(Math.floor(most + 1e-6), Math.max(1, Math.floor(ratio + 1e-6)));
    const found = { name, exact: whole >= 1, scale: whole >= 1 ? whole : most };
    if (!best || (found.exact && !best.exact) || (found.exact === best.exact && found.scale > best.scale * 1.15)) best = found;
  }
  root.dataset.shape = best.name;
  size(best.scale);
  for (const { image } of shots) {
    image.style.imageRendering = best.exact ? "pixelated" : "auto";
    const box = image.parentElement;
    const at = box.getBoundingClientRect();
    box.style.left = `${Math.round(at.left * ratio) / ratio - at.left}px`;
    box.style.top = `${Math.round(at.top * ratio) / ratio - at.top}px`;
  }
  document.body.dataset.exact = String(best.exact);
  document.body.dataset.scale = String(Math.round(best.scale * 1e4) / 1e4);
  return { exact: best.exact, scale: Math.round(best.scale * 1e4) / 1e4 };
}

/** Call back when the window or the screen's pixel ratio changes. */
export function onResize(signal, change) {
  addEventListener("resize", change, { signal });
  const watch = () => {
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener("change", () => (change(), watch()), { signal, once: true });
  };
  watch();
}

const STEPS = [1, 2, 4, 8];

/** The same point of every picture, enlarged 2, 4 or 8 times to square pixels: Z, Shift and wheel, or the button. */
export class Zoom {
  constructor(root, shots, button, words, signal) {
    Object.assign(this, { root, shots, button, words, at: 0, x: 0.5, y: 0.5, uses: 0, scale: 1, moved: 0 });
    const listen = (name, act, more) => root.addEventListener(name, act, { signal, ...more });
    listen("wheel", (event) => this.#wheel(event), { passive: false });
    listen("pointermove", (event) => this.#point(event));
    listen("pointerdown", () => (this.moved = 0));
    // a drag that pans is no choice
    listen("click", (event) => this.moved > 10 && (event.preventDefault(), event.stopPropagation()), { capture: true });
    button.addEventListener("click", () => this.step(1, true), { signal });
    document.addEventListener("keydown", (event) => this.#key(event), { signal });
  }

  step(by, around = false) {
    const last = STEPS.length - 1;
    const next = around ? (this.at + by) % STEPS.length : Math.min(last, Math.max(0, this.at + by));
    if (this.at === 0 && next > 0) this.uses++;
    this.at = next;
    this.show();
  }

  show(scale = this.scale) {
    this.scale = scale;
    const factor = STEPS[this.at];
    for (const { image } of this.shots) {
      image.style.transformOrigin = `${this.x * 100}% ${this.y * 100}%`;
      image.style.transform = this.at ? `scale(${(factor * Math.max(1, scale)) / scale})` : "";
      image.style.imageRendering = this.at || Number.isInteger(scale) ? "pixelated" : "auto";
    }
    this.root.classList.toggle("near", this.at > 0);
    document.body.dataset.zoom = String(factor);
    this.button.lastChild.textContent = this.at ? this.words("pair.zoomed", { factor }) : this.words("button.zoom");
  }

  #wheel(event) {
    if (!event.shiftKey) return;
    event.preventDefault();
    const turn = event.deltaY || event.deltaX;
    if (!turn || event.timeStamp - (this.turned ?? -1e9) < 120) return;
    this.turned = event.timeStamp;
    this.#point(event);
    this.step(turn < 0 ? 1 : -1);
  }

  #point(event) {
    const box = event.target.closest?.(".frame")?.getBoundingClientRect();
    if (event.pressure > 0 && this.at) this.moved += Math.abs(event.movementX) + Math.abs(event.movementY);
    if (!box?.width) return;
    const part = (value) => Math.min(1, Math.max(0, value));
    this.x = part((event.clientX - box.left) / box.width);
    this.y = part((event.clientY - box.top) / box.height);
    if (this.at) this.show();
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("textarea, input")) return;
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "z" || event.key === "Z") {
      if (!event.repeat) this.step(event.shiftKey ? -1 : 1, true);
    } else if (event.key === "Escape" && this.at) {
      this.at = 0;
      this.show();
    } else if (event.shiftKey && this.at && moves[event.key]) {
      event.preventDefault();
      this.x = Math.min(1, Math.max(0, this.x + moves[event.key][0] / 10));
      this.y = Math.min(1, Math.max(0, this.y + moves[event.key][1] / 10));
      this.show();
    }
  }
}
