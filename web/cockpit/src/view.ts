// The 3-D view: puts world, vehicles and layers into one scene and draws it when something has changed.

import * as THREE from "three";
import { Craft } from "./craft";
import { CameraMode, Eye } from "./eye";
import { ball, Layer, layerFor, LAYERS, Shown } from "./layers";
import { Label, lineMaterial } from "./materials";
import { Thrift } from "./thrift";
import { Frame, Header } from "./wire";
import { World } from "./world";

const MOST_MARKS = 200;
const LEAST_MS = 25;
const HARD_CONTACT = 0.5;

export class View {
  readonly shown: Shown = { world: true, ceilings: false, tracks: true, estimates: true, clouds: true, maps: true, paths: true, detections: true, marks: true, wind: true };
  frames = 0;
  latencies: number[] = [];
  onClick: (x: number, y: number, z: number) => void = () => {};
  readonly eye: Eye;
  readonly thrift = new Thrift();
  readonly renderer: THREE.WebGLRenderer;
  private readonly gl: WebGL2RenderingContext;
  private readonly scene = new THREE.Scene();
  private world: World | null = null;
  private readonly craft = new Map<string, Craft>();
  private readonly layers = new Map<string, Layer>();
  private readonly marks = new THREE.Group();
  private readonly waypoints = new THREE.Group();
  private waypointLabels: Label[] = [];
  private crosses: Label[] = [];
  private focus = "";
  private drawn = 0;
  private dirty = true;
  private asked = false;
  private drawing = false;
  // wall times, ms, of the poses that the next picture shows
  private pending: number[] = [];

  constructor(private readonly holder: HTMLElement) {
    this.renderer = new THREE.WebGLRenderer({ antialias: !this.thrift.software, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.renderer.setPixelRatio(this.thrift.ratio);
    this.gl = this.renderer.getContext() as WebGL2RenderingContext;
    holder.append(this.renderer.domElement);
    this.eye = new Eye(this.renderer.domElement);
    this.eye.onChange = () => this.change();
    this.scene.add(this.marks, this.waypoints);
    new ResizeObserver(() => this.resize()).observe(holder);
    document.addEventListener("visibilitychange", () => this.change());
    this.setTheme();
    this.listenForClicks();
  }

  setTheme(): void {
    const colour = getComputedStyle(document.documentElement).getPropertyValue("--sky").trim();
    this.scene.background = new THREE.Color(colour || "#9bb7d4");
    this.change();
  }

  reset(frame: Frame, vehicles: Record<string, any>): void {
    if (this.world) {
      this.scene.remove(this.world.object);
      this.world.dispose();
    }
    for (const layer of this.layers.values()) {
      this.scene.remove(layer.object);
      layer.dispose();
    }
    for (const one of this.craft.values()) one.dispose();
    this.layers.clear();
    this.craft.clear();
    for (const cross of this.crosses.splice(0)) this.forget(cross);
    this.setWaypoints([], false);
    this.world = frame.payload.byteLength ? new World(frame) : null;
    if (this.world) this.scene.add(this.world.object);
    Object.entries(vehicles).forEach(([name, told], number) =>
      this.craft.set(name, new Craft(this.scene, told, this.world?.vehicles[String(told.index)], number, this.shown)));
    this.focus = Object.keys(vehicles)[0] ?? "";
    this.pending = [];
    this.applyShown();
  }

  // ---- frames

  take(frame: Frame, vehicle: string): void {
    const { header, payload } = frame;
    if (header.k === "movers") this.world?.move(payload);
    else if (header.k === "track") this.craft.get(header.s.slice(6))?.replaceTrack(new Float32Array(payload));
    else if (header.m === "VehicleState") this.takeState(header, vehicle);
    else if (header.m === "Estimate") this.craft.get(vehicle)?.estimate(header.s, header.n);
    else if (header.v === "event" && header.contact?.speed > HARD_CONTACT) this.mark(header.contact.position);
    else if (!this.takeLayer(header, payload)) return;
    this.change();
  }

  private takeState(header: Header, vehicle: string): void {
    const one = this.craft.get(vehicle);
    if (!one || !header.n) return;
    one.take(header.n);
    this.pending.push(header.w);
  }

  private takeLayer(header: Header, payload: ArrayBuffer): boolean {
    let layer = this.layers.get(header.s);
    if (!layer) {
      const made = layerFor(header);
      if (!made) return false;
      layer = made;
      this.layers.set(header.s, layer);
      this.scene.add(layer.object);
      layer.object.visible = this.shown[layer.kind]!;
    }
    layer.take(header, payload);
    return layer.object.visible;
  }

  private mark(at: number[]): void {
    const cross = new Label("#ff5a5a", 0.4).show("✖", at);
    this.crosses.push(cross);
    this.marks.add(cross.object);
    if (this.crosses.length > MOST_MARKS) this.forget(this.crosses.shift()!);
  }

  private forget(cross: Label): void {
    this.marks.remove(cross.object);
    cross.dispose();
  }

  setWaypoints(list: { x: number; y: number; z: number }[], flying: boolean): void {
    for (const label of this.waypointLabels) label.dispose();
    this.waypoints.traverse((item) => { if (item instanceof THREE.Line) item.geometry.dispose(); });
    this.waypoints.clear();
    this.waypointLabels = list.map((point, index) => {
      const post = new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(point.x, point.y, 0), new THREE.Vector3(point.x, point.y, point.z)]);
      const top = ball(0.13, 0xf2c230);
      top.position.set(point.x, point.y, point.z);
      const label = new Label("#f2c230").show(`${index + 1}${flying && index === 0 ? " ▶" : ""}`, [point.x, point.y, point.z + 0.35]);
      this.waypoints.add(top, new THREE.Line(post, lineMaterial(0xf2c230)), label.object);
      return label;
    });
    this.change();
  }

  applyShown(): void {
    this.world?.showCeilings(this.shown.ceilings!);
    if (this.world) this.world.object.visible = this.shown.world!;
    this.marks.visible = this.shown.marks!;
    for (const layer of this.layers.values()) layer.object.visible = this.shown[layer.kind]!;
    for (const one of this.craft.values()) one.apply();
    this.change();
  }

  // ---- for scripts and tests: what is there, and what is on the screen

  hasWorld(): boolean {
    return this.world !== null && this.world.triangles > 0;
  }

  contents(): Record<string, any> {
    const layers = [...this.layers].map(([stream, layer]) => ({ stream, kind: layer.kind, visible: layer.object.visible, parts: layer.object.children.length }));
    const angles = Object.fromEntries([...this.craft].map(([name, one]) => [name, one.rotorAngle]));
    return { layers, marks: this.marks.children.length, moving: this.world?.movingParts ?? 0, angles, camera: this.eye.camera.position.toArray(), ratio: this.thrift.ratio, frameMs: this.thrift.frameMs };
  }

  // Pixels of a picture that is drawn now, as red, green, blue, alpha.
  pixels(): Uint8Array {
    this.render();
    const { drawingBufferWidth: width, drawingBufferHeight: height } = this.gl;
    const out = new Uint8Array(4 * width * height);
    this.gl.readPixels(0, 0, width, height, this.gl.RGBA, this.gl.UNSIGNED_BYTE, out);
    return out;
  }

  // How many pixels a layer changes, drawn with it and without it.
  pixelsOf(name: string): number {
    const before = this.shown[name]!;
    const [on, off] = [true, false].map((visible) => {
      this.shown[name] = visible;
      this.applyShown();
      return this.pixels();
    });
    this.shown[name] = before;
    this.applyShown();
    let count = 0;
    for (let k = 0; k < on!.length; k += 4) if (on![k] !== off![k] || on![k + 1] !== off![k + 1] || on![k + 2] !== off![k + 2]) count++;
    return count;
  }

  get layerNames(): readonly string[] {
    return LAYERS;
  }

  // Where a place of the world is on the screen.
  screenOf(x: number, y: number, z: number): [number, number] {
    const box = this.renderer.domElement.getBoundingClientRect();
    this.eye.camera.updateMatrixWorld();
    const at = new THREE.Vector3(x, y, z).project(this.eye.camera);
    return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
  }

  // ---- camera and clicks

  setMode(mode: CameraMode): void {
    this.eye.setMode(mode, this.craft.get(this.focus)?.body);
  }

  private listenForClicks(): void {
    const canvas = this.renderer.domElement;
    let down = [0, 0];
    canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
    canvas.addEventListener("pointerup", (event) => {
      if (event.button !== 0 || Math.hypot(event.clientX - down[0]!, event.clientY - down[1]!) > 4) return;
      const place = this.groundAt(event.clientX, event.clientY);
      if (place) this.onClick(place.x, place.y, place.z);
    });
  }

  private groundAt(clientX: number, clientY: number): THREE.Vector3 | null {
    const box = this.renderer.domElement.getBoundingClientRect();
    const pointer = new THREE.Vector2((2 * (clientX - box.left)) / box.width - 1, 1 - (2 * (clientY - box.top)) / box.height);
    const caster = new THREE.Raycaster();
    caster.setFromCamera(pointer, this.eye.camera);
    const hit = this.world ? caster.intersectObjects(this.world.solids(), false)[0] : undefined;
    if (hit) return hit.point;
    const level = new THREE.Plane(new THREE.Vector3(0, 0, 1), 0);
    return caster.ray.intersectPlane(level, new THREE.Vector3());
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.holder;
    if (!clientWidth || !clientHeight) return;
    this.renderer.setSize(clientWidth, clientHeight);
    this.eye.resize(clientWidth, clientHeight);
    this.change();
  }

  // ---- drawing

  // Something is not as it was drawn. What comes while a picture is being drawn goes into the next one.
  change(): void {
    this.dirty = true;
    if (this.asked || this.drawing || document.hidden) return;
    this.asked = true;
    requestAnimationFrame((now) => this.draw(now));
  }

  private draw(now: number): void {
    this.asked = false;
    if (!this.dirty) return;
    if (now - this.drawn < LEAST_MS) return this.change();
    const passed = Math.min(0.1, (now - this.drawn) / 1000);
    this.drawn = now;
    for (const one of this.craft.values()) one.turn(passed);
    const begun = performance.now();
    const shown = this.pending;
    this.pending = [];
    this.dirty = false;
    this.drawing = true;
    this.render();
    // the processor that draws may be another one: the picture is there when this mark is passed
    const mark = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0)!;
    this.gl.flush();
    this.await(mark, begun, shown);
  }

  private render(): void {
    this.eye.move(this.craft.get(this.focus)?.body);
    const camera = this.eye.camera;
    const height = this.renderer.domElement.height;
    this.world?.thin(camera.position, this.thrift.finest((camera.fov * Math.PI) / 180, height));
    this.renderer.render(this.scene, camera);
  }

  private await(mark: WebGLSync, begun: number, shown: number[]): void {
    if (this.gl.getSyncParameter(mark, this.gl.SYNC_STATUS) !== this.gl.SIGNALED && performance.now() - begun < 2000) {
      setTimeout(() => this.await(mark, begun, shown), 1);
      return;
    }
    this.gl.deleteSync(mark);
    this.drawing = false;
    this.frames++;
    const wall = performance.timeOrigin + performance.now();
    for (const then of shown) this.latencies.push(wall - then);
    if (this.latencies.length > 2000) this.latencies.splice(0, 1000);
    if (this.thrift.took(performance.now() - begun)) {
      this.renderer.setPixelRatio(this.thrift.ratio);
      this.dirty = true;
    }
    if (this.dirty) this.change();
  }
}
