// Time: both clocks, the factor between them, pause, step, speed, snapshots, and the timeline of a recording.

import { Api } from "./api";
import { button, el } from "./dom";
import { clock } from "./wire";

const SPEEDS: [string, number | string][] = [["¼×", 0.25], ["½×", 0.5], ["1×", 1], ["2×", 2], ["5×", 5], ["10×", 10], ["max", "unlimited"]];

export class TimeBar {
  readonly object = el("div", { className: "time" });
  readonly foot = el("footer", {});
  onRefused: (why: string) => void = () => {};
  private readonly simulated = el("b", { id: "simulated", textContent: "0:00.00", title: "simulated time" });
  private readonly execution = el("span", { id: "execution", title: "execution time of the program outside, which simulated time waits for" });
  private readonly factor = el("span", { id: "factor", title: "simulated seconds per second of wall time" });
  private readonly wall = el("span", { className: "faint", title: "wall clock" });
  private readonly pause = button("Pause", "stop or continue simulated time", () => void this.set({ paused: !this.told?.paused }), { id: "pause" });
  private readonly speed = el("select", { ariaLabel: "speed", id: "speed" });
  private readonly snapshots = el("details", { className: "snapshots", id: "snapshots" });
  private readonly kept = el("div", { className: "menu" });
  private readonly timeline = el("input", { type: "range", min: "0", max: "1", step: "0.01", id: "timeline", ariaLabel: "time in the recording" });
  private readonly marks = el("div", { className: "marks" });
  private told: any = null;
  private keptKey = "";

  constructor(private readonly api: Api) {
    for (const [text, value] of SPEEDS) this.speed.append(el("option", { value: String(value), textContent: text }));
    this.speed.value = "1";
    this.speed.onchange = () => void this.set({ speed: this.speed.value === "unlimited" ? "unlimited" : Number(this.speed.value) });
    this.snapshots.append(el("summary", { textContent: "Back to…", title: "instants that are kept" }), this.kept);
    this.object.append(
      this.pause, button("Step", "one hundredth of a second", () => void this.set({ step: 0.01 }), { id: "step" }),
      this.speed, this.snapshots, this.simulated, this.execution, this.factor, this.wall,
    );
    this.timeline.oninput = () => void this.set({ seek: Number(this.timeline.value) });
    this.foot.append(this.marks, this.timeline);
    this.foot.hidden = true;
  }

  // A recording has a timeline, a flight has snapshots.
  show(about: any): void {
    this.foot.hidden = about.live !== false || !about.scenario;
    this.snapshots.hidden = !about.live;
    if (this.foot.hidden) return;
    const { begin, end } = about;
    Object.assign(this.timeline, { min: String(begin), max: String(end) });
    this.marks.replaceChildren(...(about.marks ?? []).slice(0, 200).map(([t, kind]: [number, string]) => {
      const mark = el("i", { title: `${kind} at ${clock(t)}` });
      mark.style.left = `${(100 * (t - begin)) / Math.max(1e-9, end - begin)}%`;
      return mark;
    }));
  }

  take(header: any): void {
    this.told = header;
  }

  // Ten times a second, not with each of the forty frames.
  draw(): void {
    const told = this.told;
    if (!told) return;
    put(this.simulated, clock(told.t_ns / 1e9));
    put(this.factor, told.paused ? "paused" : `${told.factor.toFixed(2)}× real time`);
    put(this.wall, new Date().toLocaleTimeString());
    put(this.pause, told.paused ? "Go on" : "Pause");
    put(this.execution, Object.entries(told.execution ?? {}).map(([who, t]) => `ET of ${who} ${clock(t as number)}`).join(", "));
    if (document.activeElement !== this.speed) this.speed.value = told.speed === null ? "unlimited" : String(told.speed);
    if (!this.foot.hidden && document.activeElement !== this.timeline) this.timeline.value = String(told.t_ns / 1e9);
    this.list(told.snapshots ?? []);
  }

  private list(kept: [number, number, boolean][]): void {
    const key = JSON.stringify(kept);
    if (key === this.keptKey) return;
    this.keptKey = key;
    this.kept.replaceChildren(
      button("Keep this instant", "keep the present instant, to come back to it", () => void this.act("/api/snapshots", {}), { id: "snapshot" }),
      ...kept.map(([number, t, asked]) => button(`${clock(t)}${asked ? " (yours)" : ""}`, `go back to ${clock(t)}`, () => {
        this.snapshots.open = false;
        void this.act("/api/snapshots/back", { number });
      }, { className: "snapshot" })),
    );
  }

  private async set(change: object): Promise<void> {
    await this.act("/api/time", change);
  }

  private async act(path: string, body: object): Promise<void> {
    try {
      await this.api.call(path, body);
    } catch (error) {
      this.onRefused((error as Error).message);
    }
  }
}

function put(item: HTMLElement, text: string): void {
  if (item.textContent !== text) item.textContent = text;
}
