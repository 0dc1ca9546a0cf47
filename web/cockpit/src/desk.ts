// All panes of a person: which there are, where they are, how large. Kept in the browser.

import { Card, CardState } from "./card";
import { el, keep, kept } from "./dom";
import { Picture } from "./picture";
import { Plot } from "./plot";
import { Frame } from "./wire";

export interface Held extends CardState {
  stream: string;
  // of a plot; empty: a picture
  path: string;
}

export class Desk {
  readonly pictures = el("div", { className: "cards", id: "pictures" });
  readonly plots = el("div", { className: "cards", id: "plots" });
  onChange: () => void = () => {};
  private readonly cards = new Map<string, Card>();
  private readonly pictureOf = new Map<string, Picture>();
  private readonly plotOf = new Map<string, Plot>();
  // of streams that this flight has not, for the next one that has them
  private absent: Held[] = [];

  constructor(private readonly over: HTMLElement) {
    new ResizeObserver(() => { for (const card of this.cards.values()) if (card.state.floating) card.apply(); }).observe(over);
  }

  // Panes as they were left; `first` where a person has arranged nothing yet.
  open(streams: Set<string>, first: Held[]): void {
    const all = kept<Held[]>("desk", []);
    this.absent = all.filter((held) => !streams.has(held.stream));
    const present = all.filter((held) => streams.has(held.stream));
    for (const held of present.length ? present : first) this.add(held.stream, held.path, held);
  }

  add(stream: string, path = "", state: CardState = { floating: null, height: 0 }): void {
    const key = keyOf(stream, path);
    if (!stream || this.cards.has(key)) return;
    const content = path ? new Plot(stream, path) : new Picture(stream);
    if (content instanceof Plot) this.plotOf.set(key, content);
    else this.pictureOf.set(stream, content);
    const card = new Card(path ? `${stream} · ${path}` : stream, content.object, path ? this.plots : this.pictures, this.over, () => this.close(key));
    content.onCaption = (text) => { if (card.title.textContent !== text) card.title.textContent = text; };
    card.onMoved = () => this.keep();
    this.cards.set(key, card);
    card.restore(state);
    this.keep();
  }

  private close(key: string): void {
    this.cards.get(key)?.object.remove();
    for (const map of [this.cards, this.pictureOf, this.plotOf]) map.delete(key);
    this.keep();
  }

  clear(): void {
    for (const card of this.cards.values()) card.object.remove();
    for (const map of [this.cards, this.pictureOf, this.plotOf]) map.clear();
  }

  private keep(): void {
    const place = (card: Card) => (card.object.parentElement ? [...card.object.parentElement.children].indexOf(card.object) : 0);
    const held = [...this.cards].sort(([, one], [, other]) => place(one) - place(other)).map(([key, card]) => {
      const [stream, path = ""] = key.split(" ");
      return { stream, path, ...card.state };
    });
    keep("desk", [...held, ...this.absent]);
    this.onChange();
  }

  // Streams that are seen now: nobody decodes pictures for a pane that is hidden.
  wanted(): string[] {
    const seen = [...this.cards].filter(([, card]) => card.object.checkVisibility());
    return [...seen.map(([key]) => key.split(" ")[0]!), ...[...this.plotOf.values()].map((plot) => plot.stream)];
  }

  take(frame: Frame): void {
    const { header } = frame;
    this.pictureOf.get(header.s)?.take(frame);
    if (header.v === "boxes" && header.source) this.pictureOf.get(header.source)?.setBoxes(header.boxes);
    if (header.n) for (const plot of this.plotOf.values()) if (plot.stream === header.s) plot.take(header.t, header.n);
  }

  draw(): void {
    for (const plot of this.plotOf.values()) plot.draw();
  }

  // ---- for scripts and tests

  get pictureCount(): number {
    return [...this.pictureOf.values()].reduce((sum, picture) => sum + picture.pictures, 0);
  }

  boxesOf(stream: string): number {
    return this.pictureOf.get(stream)?.boxCount ?? 0;
  }

  pointsOf(stream: string, path: string): [number, number][] {
    return this.plotOf.get(keyOf(stream, path))?.points ?? [];
  }
}

function keyOf(stream: string, path: string): string {
  return path ? `${stream} ${path}` : stream;
}
