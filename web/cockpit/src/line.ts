// A line that grows; the oldest points go first.

import * as THREE from "three";

const POINTS = 5000;

export class Line {
  readonly object: THREE.Line;
  private readonly places = new Float32Array(3 * POINTS);
  private count = 0;
  private last = new THREE.Vector3(Infinity, 0, 0);

  constructor(material: THREE.LineBasicMaterial) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(this.places, 3));
    geometry.setDrawRange(0, 0);
    this.object = new THREE.Line(geometry, material);
    this.object.frustumCulled = false;
  }

  add(x: number, y: number, z: number, step = 0.05): void {
    if (Math.hypot(this.last.x - x, this.last.y - y, this.last.z - z) < step) return;
    this.last.set(x, y, z);
    if (this.count === POINTS) {
      this.places.copyWithin(0, 3);
      this.count--;
    }
    this.places.set([x, y, z], 3 * this.count++);
    this.redraw();
  }

  replace(points: ArrayLike<number>): void {
    this.count = Math.min(POINTS, Math.floor(points.length / 3));
    for (let k = 0; k < 3 * this.count; k++) this.places[k] = points[k]!;
    this.last.x = Infinity;
    this.redraw();
  }

  private redraw(): void {
    const geometry = this.object.geometry;
    (geometry.getAttribute("position") as THREE.BufferAttribute).needsUpdate = true;
    geometry.setDrawRange(0, this.count);
    if (this.object.material instanceof THREE.LineDashedMaterial && this.count > 1) this.object.computeLineDistances();
  }

  dispose(): void {
    this.object.geometry.dispose();
  }
}
