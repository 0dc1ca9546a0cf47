// Events of the flight and lines of the log, newest first.

import { el, keep, kept } from "./dom";
import { clock } from "./wire";

const MOST = 500;
const ALARMS = /crash|contact|failsafe|refused|lost/;

export class Log {
  readonly object = el("section", { ariaLabel: "events and log" });
  private readonly list = el("ol", { className: "events", ariaLabel: "events and log, newest first" });
  private readonly filter = el("select", { id: "log-filter", ariaLabel: "what to show" });

  constructor() {
    for (const [value, text] of [["all", "events and log"], ["event", "events only"], ["log", "log only"]]) this.filter.append(el("option", { value, textContent: text }));
    this.filter.value = kept("log", "all");
    this.filter.onchange = () => this.apply();
    this.object.append(el("div", { className: "orders" }, this.filter), this.list);
    this.apply();
  }

  private apply(): void {
    keep("log", this.filter.value);
    this.list.dataset.show = this.filter.value;
  }

  event(kind: string, text: string, t: number): void {
    this.add("event", clock(t), `${kind}: ${text}`, ALARMS.test(kind) ? "alarm" : "");
  }

  line(level: string, text: string, wall = Date.now()): void {
    this.add("log", new Date(wall).toLocaleTimeString(), `${level === "info" ? "" : `${level}: `}${text}`, level === "info" ? "" : "alarm");
  }

  private add(kind: string, when: string, text: string, look: string): void {
    const item = el("li", { className: look }, el("time", { textContent: when }), el("span", { className: "tag", textContent: kind }), ` ${text}`);
    item.dataset.kind = kind;
    this.list.prepend(item);
    while (this.list.children.length > MOST) this.list.lastElementChild!.remove();
  }

  clear(): void {
    this.list.replaceChildren();
  }
}
