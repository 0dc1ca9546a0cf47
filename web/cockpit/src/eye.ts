// The camera of the 3-D view: follows, orbits, looks down or sits on board.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

export const MODES = ["follow", "orbit", "top", "onboard"] as const;
export type CameraMode = (typeof MODES)[number];

const TOP_M = 22;

export class Eye {
  readonly camera = new THREE.PerspectiveCamera(60, 1, 0.05, 2000);
  mode: CameraMode = "follow";
  onChange: () => void = () => {};
  onMode: (mode: CameraMode) => void = () => {};
  private readonly controls: OrbitControls;
  private readonly followed = new THREE.Vector3();

  constructor(canvas: HTMLCanvasElement) {
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(-5, -5, 4);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => this.onChange());
    // who drags on board wants to look round, and nothing on board can
    this.controls.addEventListener("start", () => { if (this.mode === "onboard") this.onMode("orbit"); });
  }

  setMode(mode: CameraMode, body: THREE.Object3D | undefined): void {
    this.mode = mode;
    const at = body?.position ?? new THREE.Vector3();
    this.controls.enabled = true;
    this.camera.up.set(0, 0, 1);
    if (mode === "top") this.camera.position.set(at.x, at.y - 0.01, at.z + TOP_M);
    else if (mode !== "onboard") this.camera.position.set(at.x - 4, at.y - 4, at.z + 3);
    this.controls.target.copy(at);
    this.followed.copy(at);
    this.controls.update();
    this.onChange();
  }

  move(body: THREE.Object3D | undefined): void {
    if (!body) return;
    if (this.mode === "onboard") {
      const ahead = new THREE.Vector3(1, 0, 0).applyQuaternion(body.quaternion);
      this.camera.position.copy(body.position).addScaledVector(ahead, 0.25);
      this.camera.up.copy(new THREE.Vector3(0, 0, 1).applyQuaternion(body.quaternion));
      this.camera.lookAt(body.position.clone().addScaledVector(ahead, 5));
      return;
    }
    if (this.mode !== "orbit") {
      const moved = body.position.clone().sub(this.followed);
      this.camera.position.add(moved);
      this.controls.target.add(moved);
    }
    this.followed.copy(body.position);
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }
}
