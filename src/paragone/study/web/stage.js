// One trial on the page: wait for its pictures, show all at once, know when they were painted.
import { h, hiddenMs, inputKind, painted, sleep } from "./dom.js";
import { Zoom, layout, onResize } from "./pictures.js";

const BLANK = 250; // ms of grey between two trials
const GUARD = 150; // ms after the onset in which a key that was meant for the last trial is not taken

/** A question in three parts, the judged word marked. */
export const question = ([before, word, after]) => [before, word && h("em", {}, word), after];

export class Stage {
  /**
   * @param {object} view what a page gets: main, t, signal, album, say
   * @param {object} trial
   */
  constructor(view, trial) {
    Object.assign(this, { view, trial, exact: false, scale: 1, order: 0 });
    this.begun = performance.now();
    document.body.dataset.trial = trial.id;
    delete document.body.dataset.onset;
  }

  /** Decoded pictures, once they are here; says so when that takes long. */
  async shots() {
    const { view, trial } = this;
    const late = setTimeout(() => view.status("loading"), 1000);
    this.pictures = await view.album.get(trial);
    clearTimeout(late);
    await this.#alive();
    view.status("");
    this.loadMs = performance.now() - this.begun;
    await sleep(BLANK - this.loadMs);
    await this.#alive();
    return this.pictures;
  }

  /**
   * Put what was built on the page, lay it out and show it at once.
   * @param {Node[]} nodes
   * @param {HTMLElement} root where the pictures lie
   * @param {{name: string, span: number[]}[]} shapes
   */
  async show(nodes, root, shapes) {
    const { view } = this;
    const place = () => {
      Object.assign(this, layout(root, shapes, this.pictures));
      this.zoom?.show(this.scale);
    };
    root.classList.add("unshown");
    view.main.replaceChildren(...nodes);
    place();
    onResize(view.signal, place);
    await Promise.all(this.pictures.map(({ image }) => image.decode().catch(() => {})));
    root.classList.remove("unshown");
    await this.mark();
    view.shown?.();
  }

  /** Let the pictures be enlarged together. */
  zoomable(root, button) {
    this.zoom = new Zoom(root, this.pictures, button, this.view.t, this.view.signal);
    this.zoom.show(1);
  }

  /** Where the page was left meanwhile, nothing more happens. */
  #alive() {
    return this.view.signal.aborted ? new Promise(() => {}) : null;
  }

  /** Start the clock with what is now painted. */
  async mark() {
    this.onset = await painted();
    this.hiddenThen = hiddenMs();
    this.zoomThen = this.zoom?.uses ?? 0;
    document.body.dataset.onset = String(Math.round(this.onset));
  }

  /** Whether an input is meant for what is shown now. */
  takes(event) {
    return !event.repeat && !this.view.main.inert && event.timeStamp - this.onset >= GUARD;
  }

  /** What is recorded of an answer, beside its value. */
  measured(event, more = {}) {
    return {
      seconds: Math.round(event.timeStamp - this.onset) / 1000,
      body: {
        onset_ms: Math.round(this.onset),
        load_ms: Math.round(this.loadMs),
        input: inputKind(event),
        hidden_ms: Math.round(hiddenMs() - this.hiddenThen),
        exact: this.exact,
        scale: this.scale,
        zoom: (this.zoom?.uses ?? 0) - this.zoomThen,
        order: this.order,
        ...more,
      },
    };
  }
}
