// The edge between the 3-D view and the side panel: drag it, or use the arrow keys.

import { el, keep, kept } from "./dom";

const LEAST = 260;
const STEP = 24;

export function splitter(side: HTMLElement): HTMLElement {
  const edge = el("div", { className: "splitter", role: "separator", tabIndex: 0, title: "drag to make the panel wider" });
  edge.setAttribute("aria-orientation", "vertical");
  edge.setAttribute("aria-label", "width of the side panel");
  const widest = () => Math.max(LEAST, innerWidth - 320);
  const set = (wanted: number) => {
    const width = Math.max(LEAST, Math.min(wanted, widest()));
    document.documentElement.style.setProperty("--side", `${width}px`);
    edge.setAttribute("aria-valuenow", String(Math.round(width)));
    keep("side", width);
  };
  set(kept("side", 380));
  edge.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    set(side.offsetWidth + by);
  });
  edge.addEventListener("pointerdown", (start) => {
    start.preventDefault();
    const before = side.offsetWidth;
    const move = (event: PointerEvent) => set(before + start.clientX - event.clientX);
    const stop = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", stop);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop);
  });
  return edge;
}
