// The world's shapes. What stands is joined into a few large meshes with the light already in their colours; what
// moves is one instanced mesh per shape. So a browser without a GPU has little to do for each picture.

import * as THREE from "three";
import { shade, VERTEX_COLOURS } from "./materials";
import { arrayAt, Frame } from "./wire";

interface Group {
  shape: number;
  colours: [string, number, number];
  rows: number[];
}

const CEILINGS = new Set(["ceiling", "roof"]);
const TILE = 12;
// a moving part is hidden when it is so many times the smallest triangle that is drawn
const FEWER = 3;

// Triangles of one place of the world, largest first, so that a distant place can be drawn without its small ones.
class Tile {
  readonly mesh: THREE.Mesh;
  private readonly centre = new THREE.Vector3();
  private readonly radius: number;

  constructor(places: Float32Array, colours: Uint8Array, private readonly sizes: Float32Array) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(places, 3));
    geometry.setAttribute("color", new THREE.BufferAttribute(colours, 4, true));
    geometry.computeBoundingSphere();
    this.mesh = new THREE.Mesh(geometry, VERTEX_COLOURS);
    this.mesh.matrixAutoUpdate = false;
    this.centre.copy(geometry.boundingSphere!.center);
    this.radius = geometry.boundingSphere!.radius;
  }

  // `finest`: the smallest angle, rad, that is drawn.
  thin(eye: THREE.Vector3, finest: number): void {
    const least = finest * Math.max(0, this.centre.distanceTo(eye) - this.radius);
    let [low, high] = [0, this.sizes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sizes[middle]! >= least) low = middle + 1;
      else high = middle;
    }
    this.mesh.geometry.setDrawRange(0, 3 * low);
  }
}

// Parts that move, all of one shape. Those too far away to be seen are left out.
class Moving {
  readonly mesh: THREE.InstancedMesh;
  private readonly poses: Float32Array;
  private readonly size: number;
  private fresh = true;

  constructor(geometry: THREE.BufferGeometry, readonly rows: number[]) {
    geometry.computeBoundingSphere();
    this.size = 2 * geometry.boundingSphere!.radius;
    this.poses = new Float32Array(12 * rows.length);
    this.mesh = new THREE.InstancedMesh(geometry, VERTEX_COLOURS, rows.length);
    // what moves leaves the sphere that three.js computes once
    this.mesh.frustumCulled = false;
  }

  // `before`: rows that are not in these poses.
  move(poses: Float32Array, before: number): void {
    this.rows.forEach((row, k) => {
      const from = 12 * (row - before);
      if (from + 12 <= poses.length) this.poses.set(poses.subarray(from, from + 12), 12 * k);
    });
    this.fresh = true;
  }

  thin(eye: THREE.Vector3, finest: number): void {
    if (!this.fresh) return;
    this.fresh = false;
    let count = 0;
    for (let k = 0; k < this.rows.length; k++) {
      const p = this.poses.subarray(12 * k, 12 * k + 12);
      if (FEWER * finest * Math.hypot(p[3]! - eye.x, p[7]! - eye.y, p[11]! - eye.z) > this.size) continue;
      this.mesh.setMatrixAt(count++, matrixOf(p));
    }
    this.mesh.count = count;
    this.mesh.visible = count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
  }
}

// Triangles before they are sorted into a tile.
class Heap {
  places: number[] = [];
  colours: number[] = [];
  sizes: number[] = [];

  tile(): Tile {
    const order = [...this.sizes.keys()].sort((a, b) => this.sizes[b]! - this.sizes[a]!);
    const places = new Float32Array(9 * order.length);
    const colours = new Uint8Array(12 * order.length);
    order.forEach((from, to) => {
      for (let k = 0; k < 9; k++) places[9 * to + k] = this.places[9 * from + k]!;
      for (let k = 0; k < 12; k++) colours[12 * to + k] = this.colours[12 * from + k]!;
    });
    return new Tile(places, colours, Float32Array.from(order, (from) => this.sizes[from]!));
  }
}

export class World {
  readonly object = new THREE.Group();
  readonly vehicles: Record<string, THREE.Object3D> = {};
  triangles = 0;
  private readonly standing: number;
  private readonly moving: Moving[] = [];
  private readonly ceilings = new THREE.Group();
  private readonly tiles: Tile[] = [];

  constructor(frame: Frame) {
    const { header, payload } = frame;
    this.standing = header.standing;
    const poses = arrayAt(payload, header.poses) as Float32Array;
    const vehicleOf = new Map<number, string>();
    for (const [index, rows] of Object.entries(header.vehicles as Record<string, number[]>)) {
      this.vehicles[index] = new THREE.Group();
      for (const row of rows) vehicleOf.set(row, index);
    }
    const heaps = new Map<string, Heap>();
    for (const group of header.groups as Group[]) {
      const [vertices, faces] = header.shapes[group.shape];
      const shape = flat(arrayAt(payload, vertices) as Float32Array, arrayAt(payload, faces), arrayAt(payload, group.colours) as Uint8Array);
      this.triangles += (faces[2] / 3) * group.rows.length;
      const moving = [];
      for (const row of group.rows) {
        const vehicle = vehicleOf.get(row);
        if (vehicle !== undefined) this.vehicles[vehicle]!.add(new THREE.Mesh(shaded(shape), VERTEX_COLOURS));
        else if (row >= this.standing) moving.push(row);
        else pile(heaps, shape, poses.subarray(12 * row, 12 * row + 12), CEILINGS.has(header.classes[row]));
      }
      if (moving.length) this.addMoving(shape, moving, poses);
    }
    for (const [key, heap] of heaps) {
      const tile = heap.tile();
      this.tiles.push(tile);
      (key.startsWith("c") ? this.ceilings : this.object).add(tile.mesh);
    }
    this.object.add(this.ceilings);
  }

  private addMoving(shape: Flat, rows: number[], poses: Float32Array): void {
    const made = new Moving(shaded(shape), rows);
    made.move(poses, 0);
    this.moving.push(made);
    this.object.add(made.mesh);
  }

  move(payload: ArrayBuffer): void {
    const poses = new Float32Array(payload);
    for (const one of this.moving) one.move(poses, this.standing);
  }

  get movingParts(): number {
    return this.moving.reduce((sum, one) => sum + one.rows.length, 0);
  }

  thin(eye: THREE.Vector3, finest: number): void {
    for (const tile of this.tiles) tile.thin(eye, finest);
    for (const one of this.moving) one.thin(eye, finest);
  }

  showCeilings(visible: boolean): void {
    this.ceilings.visible = visible;
  }

  solids(): THREE.Object3D[] {
    const all = this.ceilings.visible ? [...this.object.children, ...this.ceilings.children] : this.object.children;
    return all.filter((item) => item instanceof THREE.Mesh);
  }

  dispose(): void {
    for (const top of [this.object, ...Object.values(this.vehicles)]) {
      top.traverse((item) => {
        if (item instanceof THREE.InstancedMesh) item.dispose();
        if (item instanceof THREE.Mesh) item.geometry.dispose();
      });
    }
  }
}

// Mean colours of textures are darker than the textures look.
const BRIGHTER = Uint8Array.from({ length: 256 }, (_, value) => 255 * (value / 255) ** 0.66);

// A shape with the corners of each triangle apart, so that each face has its own light.
interface Flat {
  places: Float32Array;
  colours: Uint8Array;
}

function flat(vertices: Float32Array, faces: ArrayLike<number>, colours: Uint8Array): Flat {
  const places = new Float32Array(3 * faces.length);
  const tints = new Uint8Array(3 * faces.length);
  for (let k = 0; k < faces.length; k++) {
    const from = 3 * faces[k]!;
    for (let axis = 0; axis < 3; axis++) {
      places[3 * k + axis] = vertices[from + axis]!;
      tints[3 * k + axis] = BRIGHTER[colours[from + axis]!]!;
    }
  }
  return { places, colours: tints };
}

function lightOf(p: ArrayLike<number>, at: number): number {
  const [ax, ay, az] = [p[at + 3]! - p[at]!, p[at + 4]! - p[at + 1]!, p[at + 5]! - p[at + 2]!];
  const [bx, by, bz] = [p[at + 6]! - p[at]!, p[at + 7]! - p[at + 1]!, p[at + 8]! - p[at + 2]!];
  return shade(ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx);
}

function shaded(shape: Flat): THREE.BufferGeometry {
  const tints = new Uint8Array((4 * shape.places.length) / 3);
  for (let at = 0; at < shape.places.length; at += 9) {
    const light = lightOf(shape.places, at);
    for (let corner = 0; corner < 3; corner++) {
      const to = (4 * at) / 3 + 4 * corner;
      for (let k = 0; k < 3; k++) tints[to + k] = shape.colours[at + 3 * corner + k]! * light;
      tints[to + 3] = 255;
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(shape.places, 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(tints, 4, true));
  return geometry;
}

function pile(heaps: Map<string, Heap>, shape: Flat, m: Float32Array, ceiling: boolean): void {
  const spot = new Float32Array(9);
  for (let at = 0; at < shape.places.length; at += 9) {
    for (let corner = 0; corner < 9; corner += 3) {
      const [x, y, z] = [shape.places[at + corner]!, shape.places[at + corner + 1]!, shape.places[at + corner + 2]!];
      for (let row = 0; row < 3; row++) spot[corner + row] = m[4 * row]! * x + m[4 * row + 1]! * y + m[4 * row + 2]! * z + m[4 * row + 3]!;
    }
    const size = Math.max(edge(spot, 0, 3), edge(spot, 3, 6), edge(spot, 6, 0));
    // large ones are together: a tile with one of them would reach far, and seem near from everywhere
    const where = size > TILE / 2 ? "large" : `${Math.floor(spot[0]! / TILE)} ${Math.floor(spot[1]! / TILE)}`;
    const key = `${ceiling ? "c" : "w"} ${where}`;
    let heap = heaps.get(key);
    if (!heap) heaps.set(key, (heap = new Heap()));
    const light = lightOf(spot, 0);
    for (let k = 0; k < 9; k++) heap.places.push(spot[k]!);
    for (let corner = 0; corner < 9; corner += 3) {
      heap.colours.push(shape.colours[at + corner]! * light, shape.colours[at + corner + 1]! * light, shape.colours[at + corner + 2]! * light, 255);
    }
    heap.sizes.push(size);
  }
}

function edge(p: Float32Array, a: number, b: number): number {
  return Math.hypot(p[a]! - p[b]!, p[a + 1]! - p[b + 1]!, p[a + 2]! - p[b + 2]!);
}

function matrixOf(p: Float32Array): THREE.Matrix4 {
  return new THREE.Matrix4().set(
    p[0]!, p[1]!, p[2]!, p[3]!, p[4]!, p[5]!, p[6]!, p[7]!, p[8]!, p[9]!, p[10]!, p[11]!, 0, 0, 0, 1,
  );
}
