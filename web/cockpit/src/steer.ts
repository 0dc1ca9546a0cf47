// Steering: buttons, waypoints by click, keys and gamepad.

import { Api } from "./api";
import { button, el } from "./dom";
import { axesOf, axesOfPad, isHeldKey, isMoving, PRESSED } from "./keys";

export interface Point {
  x: number;
  y: number;
  z: number;
}

const TICK_MS = 50;
const ORDERS: [string, string, string][] = [
  ["arm", "Arm", "let the rotors turn"], ["take_off", "Take off", "take off to the height below (key 1)"],
  ["hover", "Hover", "stop and stay (space)"], ["land", "Land", "land here (key 2)"],
  ["home", "Home", "fly back to where it took off, and land"], ["kill", "Kill", "stop the rotors at once: it falls"],
];

export class Steer {
  readonly object = el("section", { className: "steer", ariaLabel: "steering" });
  vehicle = "";
  points: Point[] = [];
  onPoints: (points: Point[], flying: boolean) => void = () => {};
  private readonly held = new Set<string>();
  private readonly list = el("ol", { className: "waypoints", ariaLabel: "waypoints" });
  private readonly height = el("input", { type: "number", value: "1.5", min: "0.1", max: "500", step: "0.1", id: "height" });
  private readonly said = el("output", { className: "said", ariaLive: "polite" });
  private readonly seat = el("p", { className: "seat" });
  private readonly choice = el("select", { id: "vehicle", ariaLabel: "vehicle to steer and to watch" });
  private wasMoving = false;
  private flying = false;

  constructor(private readonly api: Api) {
    const row = el("div", { className: "orders" });
    for (const [order, text, title] of ORDERS) {
      row.append(button(text, title, () => void this.order(order), { className: order === "kill" ? "danger" : "", id: `order-${order}` }));
    }
    this.choice.onchange = () => (this.vehicle = this.choice.value);
    this.object.append(
      this.seat, this.choice, row,
      el("label", { className: "height" }, "height of clicks and take-off, m ", this.height),
      this.list,
      el("div", { className: "orders" },
        button("Fly waypoints", "fly to them one after the other", () => void this.fly(), { id: "fly" }),
        button("Clear", "delete all waypoints", () => void this.send([], false)),
        button("Give back", "let the scenario's pilot fly again", () => void this.leave()),
      ),
      this.said,
      el("p", { className: "hint", textContent: "Click on the ground: a waypoint. Keys: y/h forward and back, g/j left and right, w/s up and down, a/d turn, 1 take off, 2 land, space hover. Releasing all keys stops." }),
    );
    this.listen();
    setInterval(() => this.tick(), TICK_MS);
  }

  // The vehicles of a flight; with one there is nothing to choose.
  offer(names: string[]): void {
    this.choice.replaceChildren(...names.map((name) => el("option", { value: name, textContent: name })));
    this.choice.hidden = names.length < 2;
    this.vehicle = names.includes(this.vehicle) ? this.vehicle : (names[0] ?? "");
    this.choice.value = this.vehicle;
    this.points = [];
    this.flying = false;
    this.show();
  }

  async order(order: string, more: object = {}): Promise<void> {
    const given = order === "take_off" ? { height: Number(this.height.value) } : more;
    await this.tell(() => this.api.call(`/api/vehicles/${this.vehicle}/orders/${order}`, given), order.replace("_", " "));
  }

  async add(x: number, y: number, ground: number): Promise<void> {
    const z = Math.max(0.1, ground > 0.5 && ground < Number(this.height.value) ? Number(this.height.value) : Math.min(ground, 0) + Number(this.height.value));
    await this.send([...this.points, { x: round(x), y: round(y), z: round(z) }], false);
  }

  async fly(): Promise<void> {
    await this.send(this.points, true);
  }

  take(told: { points: Point[]; flying: boolean; told: string }, mine: boolean, taken: boolean): void {
    const text = taken ? (mine ? "You steer." : "Another page steers; this one watches.") : "Nobody steers: the first order takes the seat.";
    if (this.seat.textContent !== text) this.seat.textContent = text;
    if (JSON.stringify(told.points) === JSON.stringify(this.points) && told.flying === this.flying) return;
    if (told.told && told.points.length < this.points.length) this.said.textContent = `waypoint ${told.told}`;
    this.points = told.points;
    this.flying = told.flying;
    this.show();
  }

  private async send(points: Point[], fly: boolean): Promise<void> {
    const answer = await this.tell(() => this.api.call(`/api/vehicles/${this.vehicle}/waypoints`, { points, fly }), fly ? "flying" : `${points.length} waypoints`);
    if (!answer) return;
    this.points = answer.points;
    this.flying = answer.flying;
    this.show();
  }

  private async leave(): Promise<void> {
    await this.tell(() => this.api.call("/api/seat/leave", {}), "seat left");
  }

  private async tell(act: () => Promise<any>, done: string): Promise<any> {
    try {
      const value = await act();
      this.said.textContent = done;
      return value;
    } catch (error) {
      this.said.textContent = `refused: ${(error as Error).message}`;
      return null;
    }
  }

  private show(): void {
    this.list.replaceChildren(...this.points.map((point, index) => el("li", {},
      `${point.x}, ${point.y}, ${point.z} m${this.flying && index === 0 ? " (flying there)" : ""} `,
      button("↑", `move waypoint ${index + 1} up`, () => this.move(index, -1), { disabled: index === 0 }),
      button("↓", `move waypoint ${index + 1} down`, () => this.move(index, 1), { disabled: index === this.points.length - 1 }),
      button("×", `delete waypoint ${index + 1}`, () => void this.send(this.points.filter((_, k) => k !== index), false)),
    )));
    this.onPoints(this.points, this.flying);
  }

  private move(index: number, by: number): void {
    const points = [...this.points];
    const [one] = points.splice(index, 1);
    points.splice(index + by, 0, one!);
    void this.send(points, false);
  }

  private listen(): void {
    const typing = (event: KeyboardEvent) => event.target instanceof HTMLElement && /INPUT|TEXTAREA|SELECT/.test(event.target.tagName);
    addEventListener("keydown", (event) => {
      if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isHeldKey(event.key)) this.held.add(event.key.toLowerCase());
      else if (event.key in PRESSED && !(event.key === " " && event.target instanceof HTMLButtonElement)) {
        event.preventDefault();
        if (!event.repeat) void this.order(PRESSED[event.key]!);
      }
    });
    addEventListener("keyup", (event) => this.held.delete(event.key.toLowerCase()));
    // a page that cannot hear the keys must not think that they are held
    addEventListener("blur", () => this.held.clear());
    document.addEventListener("visibilitychange", () => this.held.clear());
  }

  private tick(): void {
    if (!this.vehicle) return;
    const axes = axesOf(this.held);
    const pad = navigator.getGamepads?.().find((one) => one !== null);
    if (pad) {
      const sticks = axesOfPad(pad.axes);
      for (const axis of ["forward", "left", "up", "turn"] as const) axes[axis] += sticks[axis];
    }
    const moving = isMoving(axes);
    if (moving || this.wasMoving) this.api.hand(this.vehicle, axes);
    this.wasMoving = moving;
  }
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
