// A vehicle: its body with turning rotors, its track, the wind at it, and what its estimators believe.

import * as THREE from "three";
import { Line } from "./line";
import { lineMaterial, plainMaterial } from "./materials";
import { Shown } from "./layers";
import type { Estimate, VehicleState } from "./records";

const COLOURS = [0x2f7fd8, 0xe08f1c, 0x29a05c, 0xd14a5c];
const ESTIMATE = 0xd861c8;
const LEAST_WIND = 0.05;

export class Craft {
  readonly body = new THREE.Group();
  private readonly rotors: THREE.Object3D[];
  private readonly spins: number[];
  private speeds: number[] = [];
  private readonly track: Line;
  private readonly wind = new THREE.ArrowHelper(new THREE.Vector3(1, 0, 0), new THREE.Vector3(), 1, 0x3fb8c9, 0.2, 0.12);
  private readonly estimates = new Map<string, { line: Line; ghost: THREE.Mesh }>();
  private blows = false;

  constructor(private readonly scene: THREE.Scene, told: any, mesh: THREE.Object3D | undefined, number: number, private readonly shown: Shown) {
    const colour = COLOURS[number % COLOURS.length]!;
    this.track = new Line(lineMaterial(colour));
    this.spins = told.spins;
    const reach = Math.max(0.15, ...told.rotors.map((at: number[]) => Math.hypot(at[0]!, at[1]!)));
    if (mesh && mesh.children.length) this.body.add(mesh);
    else this.body.add(new THREE.Mesh(new THREE.BoxGeometry(reach, 0.6 * reach, 0.3 * reach), plainMaterial(colour)));
    const nose = new THREE.Mesh(new THREE.ConeGeometry(0.12 * reach, 0.5 * reach, 8), plainMaterial(colour));
    nose.rotation.z = -Math.PI / 2;
    nose.position.x = 0.8 * reach;
    this.body.add(nose);
    this.rotors = told.rotors.map((at: number[]) => {
      const rotor = new THREE.Group();
      rotor.add(
        new THREE.Mesh(new THREE.BoxGeometry(0.8 * reach, 0.05 * reach, 0.01), plainMaterial(0x222222)),
        new THREE.Mesh(new THREE.CircleGeometry(0.42 * reach, 24), plainMaterial(colour, 0.22)),
      );
      rotor.position.set(at[0]!, at[1]!, at[2]! + 0.02);
      this.body.add(rotor);
      return rotor;
    });
    this.wind.visible = false;
    scene.add(this.body, this.track.object, this.wind);
  }

  take(n: VehicleState): void {
    const [w, x, y, z] = n.quat_wxyz;
    this.body.position.set(n.position[0], n.position[1], n.position[2]);
    this.body.quaternion.set(x, y, z, w);
    this.speeds = n.rotor_speeds ?? [];
    this.track.add(n.position[0], n.position[1], n.position[2]);
    const wind = new THREE.Vector3(...(n.wind_world ?? [0, 0, 0]));
    this.blows = wind.length() > LEAST_WIND;
    if (this.blows) {
      this.wind.position.copy(this.body.position).add(new THREE.Vector3(0, 0, 0.4));
      this.wind.setLength(0.25 * wind.length() + 0.2, 0.15, 0.1);
      this.wind.setDirection(wind.normalize());
    }
    this.wind.visible = this.blows && this.shown.wind;
  }

  replaceTrack(points: Float32Array): void {
    this.track.replace(points);
  }

  estimate(stream: string, n: Estimate | undefined): void {
    if (!n?.valid) return;
    let one = this.estimates.get(stream);
    if (!one) {
      one = { line: new Line(lineMaterial(ESTIMATE, true)), ghost: new THREE.Mesh(new THREE.OctahedronGeometry(0.12), plainMaterial(ESTIMATE, 1, true)) };
      this.estimates.set(stream, one);
      this.scene.add(one.line.object, one.ghost);
      this.apply();
    }
    one.line.add(n.position[0], n.position[1], n.position[2]);
    one.ghost.position.set(n.position[0], n.position[1], n.position[2]);
  }

  apply(): void {
    this.track.object.visible = this.shown.tracks;
    this.wind.visible = this.blows && this.shown.wind;
    for (const one of this.estimates.values()) one.line.object.visible = one.ghost.visible = this.shown.estimates;
  }

  // Slower than life: at full speed a screen would show them standing still.
  turn(passed: number): void {
    this.rotors.forEach((rotor, k) => (rotor.rotation.z += (this.spins[k] ?? 1) * (this.speeds[k] ?? 0) * 0.05 * passed));
  }

  get rotorAngle(): number {
    return this.rotors[0]?.rotation.z ?? 0;
  }

  dispose(): void {
    this.scene.remove(this.body, this.track.object, this.wind);
    this.track.dispose();
    this.wind.dispose();
    for (const one of this.estimates.values()) {
      this.scene.remove(one.line.object, one.ghost);
      one.line.dispose();
      one.ghost.geometry.dispose();
    }
    this.body.traverse((item) => { if (item instanceof THREE.Mesh) item.geometry.dispose(); });
  }
}
