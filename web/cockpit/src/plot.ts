// A plot of one number of one stream against simulated time, on a canvas.

import { el } from "./dom";
import { numberAt } from "./wire";

const KEPT = 3000;
const SPAN_S = 30;

export class Plot {
  readonly object = el("canvas", { className: "plot", role: "img" });
  onCaption: (text: string) => void = () => {};
  readonly points: [number, number][] = [];
  private fresh = true;

  constructor(readonly stream: string, readonly path: string) {
    this.object.setAttribute("aria-label", `plot of ${stream} ${path}`);
    new ResizeObserver(() => (this.fresh = true)).observe(this.object);
  }

  take(t: number, record: Record<string, any>): void {
    const value = numberAt(record, this.path);
    const last = this.points[this.points.length - 1];
    // a player jumped back, or a person went back to a snapshot
    if (last && t < last[0]) this.points.length = 0;
    if (value !== null) this.points.push([t, value]);
    if (this.points.length > KEPT) this.points.splice(0, KEPT / 3);
    this.fresh = true;
  }

  draw(): void {
    const { clientWidth: width, clientHeight: height } = this.object;
    if (!width || !this.fresh) return;
    this.fresh = false;
    this.object.width = width * devicePixelRatio;
    this.object.height = height * devicePixelRatio;
    const pen = this.object.getContext("2d")!;
    pen.scale(devicePixelRatio, devicePixelRatio);
    const style = getComputedStyle(this.object);
    const end = this.points[this.points.length - 1]?.[0] ?? 0;
    const shown = this.points.filter(([t]) => t >= end - SPAN_S);
    const now = shown[shown.length - 1]?.[1];
    this.onCaption(`${this.stream} · ${this.path}${now === undefined ? "" : ` = ${now.toPrecision(4)}`}`);
    if (shown.length < 2) return;
    let [low, high] = [Infinity, -Infinity];
    for (const [, v] of shown) [low, high] = [Math.min(low, v), Math.max(high, v)];
    if (high - low < 1e-9) [low, high] = [low - 1, high + 1];
    const x = (t: number) => 46 + ((t - (end - SPAN_S)) / SPAN_S) * (width - 52);
    const y = (v: number) => height - 16 - ((v - low) / (high - low)) * (height - 24);
    pen.font = "11px system-ui";
    pen.fillStyle = pen.strokeStyle = style.getPropertyValue("--faint");
    for (const v of [low, (low + high) / 2, high]) {
      pen.fillText(v.toPrecision(3), 2, y(v) + 4);
      pen.globalAlpha = 0.3;
      pen.beginPath();
      pen.moveTo(46, y(v));
      pen.lineTo(width, y(v));
      pen.stroke();
      pen.globalAlpha = 1;
    }
    for (const t of [end - SPAN_S, end - SPAN_S / 2, end]) {
      if (t >= 0) pen.fillText(`${t.toFixed(0)} s`, Math.min(x(t), width - 30), height - 2);
    }
    pen.strokeStyle = style.getPropertyValue("--accent");
    pen.lineWidth = 1.6;
    pen.beginPath();
    shown.forEach(([t, v], k) => (k ? pen.lineTo(x(t), y(v)) : pen.moveTo(x(t), y(v))));
    pen.stroke();
  }
}
