// The page: puts the parts together and hands each frame to those who show it.

import "./style.css";
import { Api } from "./api";
import { Desk, Held } from "./desk";
import { button, el, keep, kept } from "./dom";
import { CameraMode, MODES } from "./eye";
import { Instruments } from "./instruments";
import * as THREE from "three";
import { LAYERS, layerMakers, Shown } from "./layers";
import { Log } from "./log";
import { PICTURES } from "./picture";
import { loadPlugins } from "./plugins";
import { splitter } from "./splitter";
import { Steer } from "./steer";
import { Studio } from "./studio";
import { TimeBar } from "./timebar";
import { View } from "./view";
import { Frame, numberPaths } from "./wire";

// streams that are always asked for, because they are small
const ALWAYS = new Set(["VehicleState", "Estimate", "VehicleStatus", "BatteryState", "GridMap", "Path", "Goal", "GoalStatus", "Detections", "Markers", "Movers"]);
// and those that are asked for while their layer is shown
const HEAVY: Record<string, string> = { LidarScan: "clouds", PointCloud: "clouds", DepthImage: "clouds", VoxelMap: "maps", RadarDetections: "detections" };
const TABS = ["fly", "cameras", "plots", "log", "studio"] as const;
const TICK_MS = 100;
const MOST_CONTACTS = 200;

class Page {
  private readonly api = new Api();
  private readonly view: View;
  private readonly instruments = new Instruments();
  private readonly steer = new Steer(this.api);
  private readonly studio = new Studio(this.api);
  private readonly log = new Log();
  private readonly timeBar = new TimeBar(this.api);
  private readonly desk: Desk;
  private streams: any[] = [];
  private about: any = {};
  private loads = 0;
  // they may come before the world is there
  private contacts: Frame[] = [];
  private readonly numbers = new Map<string, Record<string, any>>();
  private readonly title = el("span", { className: "title" });
  private readonly line = el("span", { className: "line", role: "status" });
  private readonly paneChoice = el("select", { ariaLabel: "camera stream", id: "pane-choice" });
  private readonly plotStream = el("select", { ariaLabel: "stream to plot", id: "plot-stream" });
  private readonly plotPath = el("select", { ariaLabel: "number to plot", id: "plot-path" });
  private readonly tabs = new Map<string, HTMLElement>();
  private readonly tabBar = el("nav", { role: "tablist", ariaLabel: "panels" });
  private readonly layerBoxes = el("details", { className: "layers" }, el("summary", { textContent: "Layers" }));
  // of plugins' tabs, by the message they ask for
  private readonly tabTakers = new Map<string, ((frame: Frame) => void)[]>();
  private poses = 0;

  constructor(root: HTMLElement) {
    const holder = el("div", { className: "view" });
    const over = el("div", { className: "over" });
    this.desk = new Desk(over);
    const side = this.side();
    root.append(this.head(), el("main", {}, holder, splitter(side), side), this.timeBar.foot);
    this.view = new View(holder);
    Object.assign(this.view.shown, kept<Partial<Shown>>("layers", {}));
    holder.append(over, this.cameras());
    this.connect();
    this.openTab(kept("tab", "fly"));
    void this.openToPlugins(side);
    setInterval(() => this.draw(), TICK_MS);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.setTheme(kept("theme", "auto")));
    this.setTheme(kept("theme", "auto"));
  }

  private connect(): void {
    this.view.onClick = (x, y, z) => { if (this.about.live) void this.steer.add(x, y, z); };
    this.steer.onPoints = (points, flying) => this.view.setWaypoints(points, flying);
    this.timeBar.onRefused = (why) => this.log.line("refused", why);
    this.desk.onChange = () => this.want();
    this.api.onFrame = (frame) => this.take(frame);
    this.api.onLine = (open) => {
      this.line.textContent = open ? "● connected" : "○ not connected: trying again";
      this.line.classList.toggle("bad", !open);
      if (open) {
        // the server tells its events and log again
        this.log.clear();
        this.contacts = [];
        void this.load();
      }
    };
    this.api.connect();
  }

  // ---- layout

  private head(): HTMLElement {
    const theme = button("◐", "light, dark, or as the system has it", () => {
      const order = ["auto", "light", "dark"];
      const next = order[(order.indexOf(kept("theme", "auto")) + 1) % 3]!;
      keep("theme", next);
      this.setTheme(next);
    }, { id: "theme" });
    return el("header", {}, el("strong", { textContent: "skyloop" }), this.title, this.timeBar.object, this.line, theme, el("a", { href: "/api/docs", textContent: "API", target: "_blank" }));
  }

  private side(): HTMLElement {
    const bodies: Record<string, Node[]> = {
      fly: [this.instruments.object, this.steer.object],
      cameras: [el("div", { className: "orders" }, this.paneChoice, button("Add pane", "show this stream", () => this.desk.add(this.paneChoice.value), { id: "add-pane" })), this.desk.pictures],
      plots: [el("div", { className: "orders" }, this.plotStream, this.plotPath, button("Add plot", "plot this number", () => this.desk.add(this.plotStream.value, this.plotPath.value), { id: "add-plot" })), this.desk.plots],
      log: [this.log.object],
      studio: [this.studio.object],
    };
    const aside = el("aside", {}, this.tabBar);
    for (const name of TABS) aside.append(this.addPanel(name, bodies[name]!));
    this.plotStream.onchange = () => this.listPaths();
    return aside;
  }

  private addPanel(name: string, content: Node[]): HTMLElement {
    const panel = el("div", { className: "panel", role: "tabpanel", id: `panel-${name}`, ariaLabel: name, hidden: true }, ...content);
    this.tabs.set(name, panel);
    this.tabBar.append(button(name[0]!.toUpperCase() + name.slice(1), `show ${name}`, () => this.openTab(name), { role: "tab", id: `tab-${name}` }));
    return panel;
  }

  private addLayerBox(name: string): void {
    const box = el("input", { type: "checkbox", checked: this.view.shown[name]!, id: `layer-${name}` });
    box.onchange = () => {
      this.view.shown[name] = box.checked;
      keep("layers", this.view.shown);
      this.view.applyShown();
      this.want();
    };
    this.layerBoxes.append(el("label", {}, box, ` ${name}`));
  }

  private async openToPlugins(aside: HTMLElement): Promise<void> {
    await loadPlugins(this.api, {
      THREE,
      addLayer: (name, messages, make) => {
        LAYERS.push(name);
        this.view.shown[name] ??= true;
        this.addLayerBox(name);
        for (const message of messages) {
          HEAVY[message] = name;
          layerMakers.set(message, (header) => Object.assign(make(header), { kind: name }));
        }
        this.want();
      },
      addTab: (name, panel, messages = [], take = () => {}) => {
        aside.append(this.addPanel(name, [panel]));
        for (const message of messages) this.tabTakers.set(message, [...(this.tabTakers.get(message) ?? []), take]);
        this.want();
      },
    }, (why) => this.log.line("refused", why));
  }

  private cameras(): HTMLElement {
    const modes = el("div", { className: "modes", role: "group", ariaLabel: "camera" });
    const pick = (mode: CameraMode) => {
      this.view.setMode(mode);
      keep("camera", mode);
      for (const item of modes.querySelectorAll("button")) item.setAttribute("aria-pressed", String(item.dataset.mode === mode));
    };
    for (const mode of MODES) {
      const one = button(mode === "onboard" ? "On board" : mode[0]!.toUpperCase() + mode.slice(1), `${mode} camera`, () => pick(mode), { id: `camera-${mode}` });
      one.dataset.mode = mode;
      modes.append(one);
    }
    this.view.eye.onMode = pick;
    for (const name of LAYERS) this.addLayerBox(name);
    pick(kept<CameraMode>("camera", "follow"));
    return el("div", { className: "overlay" }, modes, this.layerBoxes);
  }

  private openTab(name: string): void {
    const tab = this.tabs.has(name) ? name : "fly";
    keep("tab", tab);
    for (const [each, panel] of this.tabs) {
      panel.hidden = each !== tab;
      document.getElementById(`tab-${each}`)?.setAttribute("aria-selected", String(each === tab));
    }
    if (tab === "studio" && this.api.viewer) void this.studio.open();
    this.want();
  }

  private setTheme(theme: string): void {
    const dark = theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    this.view?.setTheme();
  }

  // ---- what is shown

  private async load(): Promise<void> {
    const load = ++this.loads;
    const about = await this.api.call("/api/about");
    const world = about.scenario ? await this.api.world() : null;
    // another flight may have begun meanwhile
    if (load !== this.loads) return;
    this.about = about;
    this.streams = about.streams ?? [];
    this.numbers.clear();
    const vehicles = about.vehicles ?? {};
    this.steer.offer(Object.keys(vehicles));
    this.title.textContent = about.scenario ? `${about.scenario} · seed ${about.seed}${about.live ? "" : ` · recording ${about.folder}`}` : "nothing flies: choose a scenario in Studio";
    this.timeBar.show(about);
    if (world) {
      this.view.reset(world, vehicles);
      for (const frame of this.contacts) this.view.take(frame, "");
      this.view.setMode(kept<CameraMode>("camera", "follow"));
    }
    this.listChoices();
    this.desk.clear();
    this.desk.open(new Set(this.streams.map((info) => info.name)), this.firstPanes());
    if (!about.scenario || !this.tabs.get("studio")!.hidden) this.openTab("studio");
    this.want();
    this.api.wantAgain();
    this.loaded = load;
  }

  private loaded = 0;

  private firstPanes(): Held[] {
    const here = { floating: null, height: 0 };
    const first = ["CameraImage", "DepthImage", "RangeDopplerImage"].map((kind) => this.streams.find((info) => info.message === kind));
    const cameras = first.filter((info) => info !== undefined).slice(0, 2);
    const height = this.steer.vehicle ? [{ stream: `truth/${this.steer.vehicle}`, path: "position.2", ...here }] : [];
    return [...cameras.map((info) => ({ stream: info.name as string, path: "", ...here })), ...height];
  }

  private listChoices(): void {
    const option = (info: any) => el("option", { value: info.name, textContent: info.name });
    const before = this.plotStream.value;
    this.paneChoice.replaceChildren(...this.streams.filter((info) => PICTURES.has(info.message)).map(option));
    this.plotStream.replaceChildren(...this.streams.filter((info) => !PICTURES.has(info.message) && info.message !== "Event").map(option));
    if (this.streams.some((info) => info.name === before)) this.plotStream.value = before;
    this.want();
    this.listPaths();
  }

  // The numbers of a stream are known when one of its records has come.
  private listPaths(): void {
    const known = this.numbers.get(this.plotStream.value);
    if (!known) this.want();
    this.plotPath.replaceChildren(...numberPaths(known ?? {}).map((path) => el("option", { value: path, textContent: path })));
  }

  private want(): void {
    if (!this.view) return;
    const wanted = new Set<string>(this.desk.wanted());
    if (this.plotStream.value && !this.numbers.has(this.plotStream.value) && !this.tabs.get("plots")!.hidden) wanted.add(this.plotStream.value);
    for (const info of this.streams) {
      const layer = HEAVY[info.message];
      if (ALWAYS.has(info.message) || this.tabTakers.has(info.message) || (layer && this.view.shown[layer])) wanted.add(info.name);
    }
    this.api.want([...wanted].slice(0, 1000));
  }

  // ---- frames

  private take(frame: Frame): void {
    const { header } = frame;
    switch (header.k) {
      case "clock": return this.takeClock(header);
      case "source":
        this.contacts = [];
        return void this.load();
      case "stream":
        this.streams.push(header.stream);
        return this.listChoices();
      case "ended": return this.log.line("info", `the flight has ended: ${header.why}`);
      case "note": return this.log.line("info", header.text);
      case "log": return this.log.line(header.level, header.text, header.w);
      case "job": return this.studio.job(header.job);
      case "refused": return this.log.line("refused", header.why);
      case "movers": case "track": return this.view.take(frame, "");
      case "rec": return this.takeRecord(frame);
    }
  }

  private takeRecord(frame: Frame): void {
    const { header } = frame;
    const vehicle = this.streams.find((one) => one.name === header.s)?.vehicle ?? "";
    if (header.m === "VehicleState") this.poses++;
    this.view.take(frame, vehicle);
    this.desk.take(frame);
    for (const take of this.tabTakers.get(header.m) ?? []) take(frame);
    if (header.contact) this.contacts = [...this.contacts.slice(-MOST_CONTACTS), frame];
    if (header.v === "event") return this.log.event(header.kind, header.text, header.t);
    if (!header.n) return;
    const isNew = !this.numbers.has(header.s);
    this.numbers.set(header.s, header.n);
    if (isNew && header.s === this.plotStream.value) this.listPaths();
    if (vehicle !== this.steer.vehicle) return;
    if (header.s === `truth/${vehicle}`) this.instruments.state(header.n);
    else if (header.m === "VehicleStatus") this.instruments.status(header.n);
    else if (header.m === "BatteryState") this.instruments.battery(header.n);
  }

  private takeClock(header: any): void {
    this.timeBar.take(header);
    const told = header.vehicles[this.steer.vehicle];
    if (!told) return;
    this.instruments.commander(told.by, told.hand);
    this.steer.take(told.waypoints, header.mine, header.pilot);
  }

  private draw(): void {
    this.timeBar.draw();
    if (!this.tabs.get("fly")!.hidden) this.instruments.draw();
    this.desk.draw();
  }

  // For scripts and tests: the same numbers that a person sees.
  get seen() {
    const stats = { poses: this.poses, pictures: this.desk.pictureCount, frames: this.view.frames };
    return { view: this.view, desk: this.desk, stats, about: this.about, numbers: this.numbers, steer: this.steer, api: this.api, loaded: this.loaded };
  }
}

const page = new Page(document.getElementById("app")!);
(window as any).cockpit = page;
