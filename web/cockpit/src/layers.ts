// What streams put into the 3-D view: clouds, maps, paths, goals, detections, marks. Each stream has one object, which
// is changed in place when a record comes.

import * as THREE from "three";
import { Line } from "./line";
import { dotMaterial, Label, lineMaterial, plainMaterial } from "./materials";
import { Header } from "./wire";

// Plugins add theirs.
export const LAYERS = ["world", "ceilings", "tracks", "estimates", "clouds", "maps", "paths", "detections", "marks", "wind"];
export type Shown = Record<string, boolean>;

export interface Layer {
  readonly kind: string;
  readonly object: THREE.Object3D;
  take(header: Header, payload: ArrayBuffer): void;
  dispose(): void;
}

// Those of plugins, by the record's name.
export const layerMakers = new Map<string, (header: Header) => Layer>();

// The layer for a record, or null for records that are not drawn.
export function layerFor(header: Header): Layer | null {
  const make = layerMakers.get(header.m);
  if (make) return make(header);
  if (header.v === "cloud") {
    if (header.m === "RadarDetections") return new Cloud("detections", 0xff5533, 0.18);
    return new Cloud(header.tints === undefined ? "clouds" : "maps", 0x35c3ff, header.tints === undefined ? 0.05 : 0.14);
  }
  if (header.cloud !== undefined) return new Cloud("clouds", 0x62d26f, 0.04);
  if (header.v === "voxels") return new Voxels();
  if (header.v === "grid") return new Grid();
  if (header.v === "path") return new PathLine();
  if (header.v === "goal" || header.v === "status") return new Goals();
  if (header.v === "movers") return new Posts();
  if (header.v === "markers") return new Markers();
  return null;
}

class Cloud implements Layer {
  readonly object: THREE.Points;
  private room = 0;
  private readonly labels = new Map<number, Label>();

  constructor(readonly kind: string, private readonly colour: number, private readonly size: number) {
    this.object = new THREE.Points(new THREE.BufferGeometry(), dotMaterial(colour, size));
    this.object.frustumCulled = false;
  }

  take(header: Header, payload: ArrayBuffer): void {
    const begin = header.cloud ?? 0;
    const count = header.cloud === undefined ? header.count : (payload.byteLength - begin) / 12;
    this.put("position", new Float32Array(payload, begin, 3 * count), 3, false);
    if (header.tints !== undefined) this.put("color", new Uint8Array(payload, header.tints, 3 * count), 3, true);
    this.room = Math.max(this.room, count);
    this.object.material = dotMaterial(this.colour, this.size, header.tints !== undefined);
    this.object.geometry.setDrawRange(0, count);
    this.name(header.tracks ?? []);
  }

  private put(name: string, values: Float32Array | Uint8Array, width: number, normalised: boolean): void {
    const geometry = this.object.geometry;
    const held = geometry.getAttribute(name) as THREE.BufferAttribute | undefined;
    if (held && held.array.length >= values.length) {
      (held.array as Float32Array).set(values);
      held.clearUpdateRanges();
      held.addUpdateRange(0, values.length);
      held.needsUpdate = true;
      return;
    }
    // with room to grow, for clouds have another size each time
    const array = values instanceof Float32Array ? new Float32Array(Math.ceil(1.5 * values.length) + 3) : new Uint8Array(Math.ceil(1.5 * values.length) + 3);
    const whole = array.subarray(0, width * Math.floor(array.length / width));
    whole.set(values);
    // the old buffer must be freed with its geometry, or it would stay for good
    const fresh = new THREE.BufferGeometry();
    for (const [other, attribute] of Object.entries(geometry.attributes)) if (other !== name) fresh.setAttribute(other, (attribute as THREE.BufferAttribute).clone());
    fresh.setAttribute(name, new THREE.BufferAttribute(whole, width, normalised));
    geometry.dispose();
    this.object.geometry = fresh;
  }

  private name(tracks: number[][]): void {
    const present = new Set(tracks.map(([id]) => id!));
    for (const [id, label] of this.labels) {
      if (present.has(id)) continue;
      this.object.remove(label.object);
      label.dispose();
      this.labels.delete(id);
    }
    for (const [id, x, y, z] of tracks) {
      let label = this.labels.get(id!);
      if (!label) {
        this.labels.set(id!, (label = new Label("#ff8866")));
        this.object.add(label.object);
      }
      label.show(`track ${id}`, [x!, y!, z! + 0.3]);
    }
  }

  dispose(): void {
    this.object.geometry.dispose();
    for (const label of this.labels.values()) label.dispose();
  }
}

const CUBE = new THREE.BoxGeometry(0.92, 0.92, 0.92);

class Voxels implements Layer {
  readonly kind = "maps";
  readonly object = new THREE.Group();
  private mesh: THREE.InstancedMesh | null = null;

  take(header: Header, payload: ArrayBuffer): void {
    const cells = new Uint16Array(payload, 0, 3 * header.count);
    const room = this.mesh?.instanceMatrix.count ?? 0;
    if (!this.mesh || room < header.count) {
      this.dispose();
      this.mesh = new THREE.InstancedMesh(CUBE, plainMaterial(0xffffff, 0.8), Math.ceil(1.5 * header.count) + 1);
      this.mesh.frustumCulled = false;
      this.object.add(this.mesh);
    }
    const matrix = new THREE.Matrix4();
    const colour = new THREE.Color();
    const { side, origin } = header;
    for (let k = 0; k < header.count; k++) {
      const z = origin[2] + (cells[3 * k + 2]! + 0.5) * side;
      matrix.makeScale(side, side, side).setPosition(origin[0] + (cells[3 * k]! + 0.5) * side, origin[1] + (cells[3 * k + 1]! + 0.5) * side, z);
      this.mesh.setMatrixAt(k, matrix);
      this.mesh.setColorAt(k, colour.setHSL(0.65 - 0.12 * (z % 5), 0.7, 0.55));
    }
    this.mesh.count = header.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    if (!this.mesh) return;
    this.object.remove(this.mesh);
    this.mesh.dispose();
    this.mesh = null;
  }
}

const FREE = [240, 250, 255, 90];
const FULL = [20, 20, 40, 220];
const UNKNOWN = [0, 0, 0, 0];

class Grid implements Layer {
  readonly kind = "maps";
  readonly object: THREE.Mesh;
  private readonly material = new THREE.MeshBasicMaterial({ transparent: true, depthWrite: false, side: THREE.DoubleSide });
  private shape = "";

  constructor() {
    this.object = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), this.material);
  }

  take(header: Header, payload: ArrayBuffer): void {
    const { rows, columns, side, origin } = header;
    const cells = new Int8Array(payload);
    if (this.shape !== `${rows} ${columns}`) {
      this.shape = `${rows} ${columns}`;
      this.material.map?.dispose();
      this.material.map = new THREE.DataTexture(new Uint8Array(4 * rows * columns), columns, rows);
      this.material.needsUpdate = true;
    }
    const pixels = (this.material.map as THREE.DataTexture).image.data as Uint8Array;
    cells.forEach((cell, k) => pixels.set(cell < 0 ? UNKNOWN : cell > 50 ? FULL : FREE, 4 * k));
    this.material.map!.needsUpdate = true;
    this.object.scale.set(columns * side, rows * side, 1);
    this.object.position.set(origin[0] + (columns * side) / 2, origin[1] + (rows * side) / 2, Math.max(origin[2], 0) + 0.04);
  }

  dispose(): void {
    this.object.geometry.dispose();
    this.material.map?.dispose();
    this.material.dispose();
  }
}

class PathLine implements Layer {
  readonly kind = "paths";
  private readonly line = new Line(lineMaterial(0x19c37d));
  readonly object = this.line.object;

  take(header: Header, payload: ArrayBuffer): void {
    this.line.replace(new Float32Array(payload, 0, 3 * header.count));
  }

  dispose(): void {
    this.line.dispose();
  }
}

const BALL = new THREE.SphereGeometry(1, 12, 8);

export function ball(radius: number, colour: number): THREE.Mesh {
  const made = new THREE.Mesh(BALL, plainMaterial(colour));
  made.scale.setScalar(radius);
  return made;
}

class Goals implements Layer {
  readonly kind = "paths";
  readonly object = new THREE.Group();
  private readonly goal = ball(0.18, 0xe24a4a);
  private readonly next = ball(0.1, 0x2f7fd8);
  private readonly label = new Label("#ff8080");

  constructor() {
    this.object.add(this.goal, this.next, this.label.object);
  }

  take(header: Header): void {
    const at = header.v === "goal" ? header.at : header.goal;
    this.goal.visible = header.state !== "waiting";
    this.next.visible = this.label.object.visible = header.v === "status" && this.goal.visible;
    this.goal.position.set(at[0], at[1], at[2]);
    if (!this.next.visible) return;
    this.next.position.set(header.sub[0], header.sub[1], header.sub[2]);
    this.label.show(`${header.state} ${header.mode}${header.reason ? ": " + header.reason : ""}`, [at[0], at[1], at[2] + 0.5]);
  }

  dispose(): void {
    this.label.dispose();
  }
}

const POST = new THREE.CylinderGeometry(1, 1, 1, 12, 1, true).rotateX(Math.PI / 2);

// Things that move, such as people, as an estimator found them.
class Posts implements Layer {
  readonly kind = "detections";
  readonly object = new THREE.Group();

  take(header: Header): void {
    while (this.object.children.length < header.things.length) this.object.add(new THREE.Mesh(POST, plainMaterial(0xffb000, 1, true)));
    this.object.children.forEach((post, k) => {
      const thing = header.things[k];
      post.visible = thing !== undefined;
      if (!thing) return;
      const [x, y, z, , , , radius, height] = thing;
      post.position.set(x, y, z);
      post.scale.set(radius, radius, height);
    });
  }

  dispose(): void {}
}

// Markers of a user's own program; their number and kinds change, so they are made anew.
class Markers implements Layer {
  readonly kind = "marks";
  readonly object = new THREE.Group();
  private held: { dispose(): void }[] = [];

  take(header: Header): void {
    this.dispose();
    this.object.clear();
    for (const shape of header.shapes) this.object.add(this.made(shape));
  }

  private made(shape: any): THREE.Object3D {
    const colour = new THREE.Color(shape.colour[0], shape.colour[1], shape.colour[2]);
    if (shape.kind === "text") {
      const label = new Label(`#${colour.getHexString()}`).show(shape.text, shape.at);
      this.held.push(label);
      return label.object;
    }
    if (shape.kind === "line" || shape.kind === "points") {
      const line = new Line(lineMaterial(colour.getHex()));
      line.replace(shape.points.flat());
      this.held.push(line);
      return line.object;
    }
    const box = shape.kind === "box";
    const made = new THREE.Mesh(box ? CUBE : BALL, plainMaterial(colour.getHex(), shape.colour[3]));
    made.scale.set(...((box ? shape.size : shape.size.map(() => shape.size[0] / 2)) as [number, number, number]));
    made.position.set(shape.at[0], shape.at[1], shape.at[2]);
    return made;
  }

  dispose(): void {
    for (const one of this.held) one.dispose();
    this.held = [];
  }
}
