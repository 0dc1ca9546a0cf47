// A pane with a title: it stands in its list at the side, or floats over the 3-D view. It is moved by its title, with
// the mouse or the arrow keys, and resized at its lower edge or corner.

import { button, el } from "./dom";

export interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface CardState {
  floating: Place | null;
  // px in the list; 0: as high as its content
  height: number;
}

const STEP = 20;
const SLACK = 5;
const LEAST = 80;

export class Card {
  readonly object: HTMLElement;
  readonly title = el("span", { className: "card-name" });
  private readonly bar: HTMLElement;
  private readonly floatButton: HTMLButtonElement;
  state: CardState = { floating: null, height: 0 };
  onMoved: () => void = () => {};

  constructor(name: string, content: HTMLElement, private readonly dock: HTMLElement, private readonly over: HTMLElement, onClose: () => void) {
    this.floatButton = button("Float", `float ${name} over the view, or put it back`, () => this.toggle());
    this.floatButton.className = "card-float";
    this.bar = el("figcaption", { tabIndex: 0, title: "drag to move; with the keyboard: arrow keys" }, this.title, this.floatButton, button("×", `close ${name}`, onClose));
    this.bar.setAttribute("aria-label", `${name}: move with the arrow keys`);
    this.object = el("figure", { className: "card" }, this.bar, content);
    this.title.textContent = name;
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.object);
  }

  // Where it was when the page was left.
  restore(state: CardState): void {
    this.state = { floating: state.floating && { ...state.floating }, height: state.height };
    this.apply();
  }

  apply(): void {
    const { floating, height } = this.state;
    this.object.classList.toggle("floating", floating !== null);
    const style = this.object.style;
    if (floating) {
      if (this.object.parentElement !== this.over) this.over.append(this.object);
      const { clientWidth, clientHeight } = this.over;
      // a smaller window must not hide it
      const x = Math.max(0, Math.min(floating.x, clientWidth - LEAST));
      const y = Math.max(0, Math.min(floating.y, clientHeight - 30));
      Object.assign(style, { left: `${x}px`, top: `${y}px`, width: `${floating.w}px`, height: `${floating.h}px` });
    } else {
      if (this.object.parentElement !== this.dock) this.dock.append(this.object);
      Object.assign(style, { left: "", top: "", width: "", height: height ? `${height}px` : "" });
    }
    this.floatButton.textContent = floating ? "Dock" : "Float";
    this.floatButton.setAttribute("aria-pressed", String(floating !== null));
  }

  private toggle(): void {
    const { clientWidth } = this.over;
    this.state.floating = this.state.floating ? null : { x: Math.max(10, clientWidth - 340), y: 60, w: 320, h: 270 };
    this.apply();
    this.onMoved();
  }

  private resized(): void {
    const { offsetWidth: w, offsetHeight: h } = this.object;
    if (!this.object.isConnected || !w || !h) return;
    const { floating } = this.state;
    // only what a person set is kept; in the list the height follows the content until then
    if (floating && (Math.abs(floating.w - w) > 1 || Math.abs(floating.h - h) > 1)) Object.assign(floating, { w, h });
    else if (!floating && this.object.style.height && Math.abs(this.state.height - h) > 1) this.state.height = h;
    else return;
    this.onMoved();
  }

  private listen(): void {
    this.bar.addEventListener("keydown", (event) => {
      if (event.target !== this.bar) return;
      const [dx, dy] = ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] } as Record<string, [number, number]>)[event.key] ?? [0, 0];
      if (!dx && !dy) return;
      event.preventDefault();
      event.stopPropagation();
      if (this.state.floating) this.moveTo(this.state.floating.x + STEP * dx, this.state.floating.y + STEP * dy);
      else if (dy) this.shift(dy);
    });
    this.bar.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.target instanceof HTMLButtonElement) return;
      event.preventDefault();
      this.bar.focus();
      this.drag(event);
    });
  }

  private moveTo(x: number, y: number): void {
    Object.assign(this.state.floating!, { x, y });
    this.apply();
    this.onMoved();
  }

  // One place up or down in the list.
  private shift(by: number): void {
    const other = by < 0 ? this.object.previousElementSibling : this.object.nextElementSibling;
    if (!other) return;
    if (by < 0) other.before(this.object);
    else other.after(this.object);
    this.bar.focus();
    this.onMoved();
  }

  private drag(start: PointerEvent): void {
    const box = this.object.getBoundingClientRect();
    const [gripX, gripY] = [start.clientX - box.left, start.clientY - box.top];
    let moving = false;
    const move = (event: PointerEvent) => {
      moving ||= Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > SLACK;
      if (!moving) return;
      this.object.classList.add("dragged");
      Object.assign(this.object.style, { left: `${event.clientX - gripX}px`, top: `${event.clientY - gripY}px`, width: `${box.width}px`, height: `${box.height}px` });
    };
    const stop = (event: PointerEvent) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", stop);
      this.object.classList.remove("dragged");
      if (moving) this.drop(event.clientX, event.clientY, gripX, gripY, box);
      this.apply();
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop);
  }

  private drop(x: number, y: number, gripX: number, gripY: number, box: DOMRect): void {
    const over = this.over.getBoundingClientRect();
    if (x >= over.left && x < over.right && y >= over.top && y < over.bottom) {
      const [w, h] = this.state.floating ? [this.state.floating.w, this.state.floating.h] : [Math.min(box.width, 0.6 * over.width), Math.min(box.height, 0.7 * over.height)];
      this.state.floating = { x: x - gripX - over.left, y: y - gripY - over.top, w, h };
    } else {
      this.state.floating = null;
      const below = [...this.dock.children].find((item) => item !== this.object && y < item.getBoundingClientRect().top + item.clientHeight / 2);
      if (below) below.before(this.object);
      else this.dock.append(this.object);
    }
    this.onMoved();
  }
}
