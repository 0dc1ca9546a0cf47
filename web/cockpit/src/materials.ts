// Materials live as long as the page. A material that is made anew for each frame makes the browser compile its
// program again, which without a GPU takes longer than drawing everything.

import * as THREE from "three";

// colours are shown as they are written: no conversion for each pixel
THREE.ColorManagement.enabled = false;

const lines = new Map<string, THREE.LineBasicMaterial>();
const plain = new Map<string, THREE.MeshBasicMaterial>();
const dots = new Map<string, THREE.PointsMaterial>();

export const VERTEX_COLOURS = new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide });

export function lineMaterial(colour: number, dashed = false): THREE.LineBasicMaterial {
  return taken(lines, `${colour} ${dashed}`, () =>
    dashed ? new THREE.LineDashedMaterial({ color: colour, dashSize: 0.15, gapSize: 0.12 }) : new THREE.LineBasicMaterial({ color: colour }));
}

export function plainMaterial(colour: number, opacity = 1, wireframe = false): THREE.MeshBasicMaterial {
  return taken(plain, `${colour} ${opacity} ${wireframe}`, () =>
    new THREE.MeshBasicMaterial({ color: colour, opacity, transparent: opacity < 1, wireframe, side: THREE.DoubleSide, depthWrite: opacity === 1 }));
}

export function dotMaterial(colour: number, size: number, tinted = false): THREE.PointsMaterial {
  return taken(dots, `${colour} ${size} ${tinted}`, () => new THREE.PointsMaterial({ color: tinted ? 0xffffff : colour, size, vertexColors: tinted }));
}

function taken<T>(kept: Map<string, T>, key: string, make: () => T): T {
  let found = kept.get(key);
  if (found === undefined) kept.set(key, (found = make()));
  return found;
}

// The light of a plain day on a face, from its normal: the same for every picture, so it is computed once.
const SUN = new THREE.Vector3(-0.3, -0.5, 0.8).normalize();

export function shade(x: number, y: number, z: number): number {
  const length = Math.hypot(x, y, z) || 1;
  const sun = (x * SUN.x + y * SUN.y + z * SUN.z) / length;
  // surfaces are seen from both sides, as the world's are
  return Math.min(1, 0.62 + 0.1 * Math.abs(z / length) + 0.28 * Math.abs(sun));
}

export function labelTexture(text: string, colour: string): THREE.CanvasTexture {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d")!;
  pen.font = "600 28px system-ui";
  canvas.width = Math.ceil(pen.measureText(text).width) + 20;
  canvas.height = 40;
  pen.font = "600 28px system-ui";
  pen.fillStyle = "#000b";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = colour;
  pen.fillText(text, 10, 29);
  return new THREE.CanvasTexture(canvas);
}

// A text that faces the viewer. It is drawn anew only when it says something else.
export class Label {
  readonly object: THREE.Sprite;
  private text = "";

  constructor(private readonly colour: string, private readonly size = 0.3) {
    this.object = new THREE.Sprite(new THREE.SpriteMaterial({ depthTest: false }));
  }

  show(text: string, at: ArrayLike<number>): this {
    if (text !== this.text) {
      this.text = text;
      this.object.material.map?.dispose();
      const texture = labelTexture(text, this.colour);
      this.object.material.map = texture;
      this.object.material.needsUpdate = true;
      const canvas = texture.image as HTMLCanvasElement;
      this.object.scale.set((this.size * canvas.width) / canvas.height, this.size, 1);
    }
    this.object.position.set(at[0]!, at[1]!, at[2]!);
    return this;
  }

  dispose(): void {
    this.object.material.map?.dispose();
    this.object.material.dispose();
  }
}
