// Pictures of a stream with boxes drawn over them.

import { el } from "./dom";
import { Frame, Header } from "./wire";

export const PICTURES = new Set(["CameraImage", "DepthImage", "ImageTruth", "Image", "RangeDopplerImage"]);

export class Picture {
  readonly object: HTMLElement;
  pictures = 0;
  onCaption: (text: string) => void = () => {};
  private readonly canvas = el("canvas", { role: "img" });
  private readonly boxes = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  private readonly paper: ImageBitmapRenderingContext;
  private drawing = false;
  // what came while another picture was decoded; only the newest counts
  private waiting: Frame | null = null;

  constructor(readonly stream: string) {
    this.canvas.setAttribute("aria-label", `pictures of ${stream}`);
    this.paper = this.canvas.getContext("bitmaprenderer")!;
    this.object = el("div", { className: "picture" }, this.canvas);
    this.object.append(this.boxes);
  }

  get boxCount(): number {
    return this.boxes.querySelectorAll("rect").length;
  }

  setBoxes(boxes: any[]): void {
    const svg = "http://www.w3.org/2000/svg";
    this.boxes.replaceChildren(...boxes.flatMap(([left, top, right, bottom, text]) => {
      const rect = document.createElementNS(svg, "rect");
      const told = document.createElementNS(svg, "text");
      for (const [name, value] of Object.entries({ x: left, y: top, width: right - left + 1, height: bottom - top + 1 })) rect.setAttribute(name, String(value));
      told.setAttribute("x", String(left));
      told.setAttribute("y", String(Math.max(12, top - 3)));
      told.textContent = text;
      return [rect, told];
    }));
  }

  take(frame: Frame): void {
    const { header } = frame;
    if (header.boxes) this.setBoxes(header.boxes);
    if (header.v !== "jpeg") return;
    this.waiting = frame;
    if (!this.drawing) void this.draw();
  }

  private async draw(): Promise<void> {
    this.drawing = true;
    while (this.waiting) {
      const { header, payload } = this.waiting;
      this.waiting = null;
      const bytes = new Uint8Array(payload, 0, header.jpeg ?? payload.byteLength);
      try {
        const image = await createImageBitmap(new Blob([bytes], { type: "image/jpeg" }));
        // boxes are in pixels of the camera, the picture may be smaller
        this.boxes.setAttribute("font-size", String(header.width / header.scale / 26));
        this.boxes.setAttribute("viewBox", `0 0 ${header.width / header.scale} ${header.height / header.scale}`);
        if (this.canvas.width !== image.width) this.canvas.width = image.width;
        if (this.canvas.height !== image.height) this.canvas.height = image.height;
        this.paper.transferFromImageBitmap(image);
        this.pictures++;
        this.onCaption(captionOf(this.stream, header));
      } catch {
        this.onCaption(`${this.stream} · a picture could not be read`);
      }
    }
    this.drawing = false;
  }
}

function captionOf(stream: string, header: Header): string {
  const far = header.far === undefined ? "" : ` · to ${header.far.toFixed(1)} m`;
  const range = header.range === undefined ? "" : ` · ${header.range.toFixed(1)} m up, ${header.speeds.map((v: number) => v.toFixed(1)).join(" to ")} m/s across`;
  return `${stream} · ${header.t.toFixed(2)} s${far}${range}`;
}
