// How finely a view is drawn: as finely as pictures stay quick. Without a GPU a browser draws with the processor, and
// there fewer pixels and no tiny triangles are better than fewer pictures.

const RATIOS = [0.35, 0.5, 0.7, 1, 1.5, 2];
const SLOW_MS = 40;
const QUICK_MS = 14;
const PATIENCE = 12;
// px of the screen below which a triangle is left out, where a processor draws
const LEAST_PX = 2.5;

export class Thrift {
  readonly software: boolean;
  frameMs = 0;
  private place: number;
  private since = 0;
  // pictures to wait before trying a finer one again; doubles each time it was too fine
  private caution = PATIENCE;

  constructor() {
    this.software = isSoftware();
    const wanted = Math.min(devicePixelRatio, 2);
    this.place = this.software ? 1 : Math.max(0, RATIOS.filter((ratio) => ratio <= wanted).length - 1);
  }

  get ratio(): number {
    return RATIOS[this.place]!;
  }

  // The smallest angle, rad, that is drawn.
  finest(fieldOfView: number, height: number): number {
    return this.software ? (LEAST_PX * fieldOfView) / Math.max(1, height) : 0;
  }

  // Whether the ratio changes after a picture that took this long.
  took(ms: number): boolean {
    this.frameMs += (this.frameMs ? 0.15 : 1) * (ms - this.frameMs);
    this.since++;
    if (this.frameMs > SLOW_MS && this.place > 0 && this.since > PATIENCE) {
      this.caution = Math.min(2000, 2 * this.caution);
      return this.step(-1);
    }
    const finer = RATIOS[this.place + 1];
    if (this.frameMs < QUICK_MS && finer !== undefined && finer <= Math.min(devicePixelRatio, 2) && this.since > this.caution) return this.step(1);
    return false;
  }

  private step(by: number): boolean {
    this.place += by;
    this.since = 0;
    this.frameMs = 0;
    return true;
  }
}

function isSoftware(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return true;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
