// Attitude, heading, height, speed, battery, mode, and who commands.

import { el } from "./dom";
import type { BatteryState, VehicleState, VehicleStatus } from "./records";

export class Instruments {
  readonly object = el("section", { className: "instruments", ariaLabel: "instruments" });
  private readonly horizon = el("canvas", { width: 240, height: 240, role: "img", ariaLabel: "artificial horizon" });
  private readonly cells: Record<string, HTMLElement> = {};
  private roll = 0;
  private pitch = 0;
  private heading = 0;
  private drawn = "";

  constructor() {
    const table = el("dl");
    for (const name of ["mode", "commanded by", "height", "speed", "climb", "heading", "battery", "position"]) {
      const value = el("dd", { textContent: "–" });
      value.dataset.name = name;
      this.cells[name] = value;
      table.append(el("div", {}, el("dt", { textContent: name }), value));
    }
    this.object.append(this.horizon, table);
  }

  state(n: VehicleState): void {
    [this.roll, this.pitch, this.heading] = n.attitude_deg;
    const v = n.velocity_world;
    this.set("height", `${n.position[2].toFixed(2)} m`);
    this.set("speed", `${Math.hypot(v[0], v[1]).toFixed(2)} m/s`);
    this.set("climb", `${v[2] >= 0 ? "+" : ""}${v[2].toFixed(2)} m/s`);
    this.set("heading", `${((90 - this.heading + 720) % 360).toFixed(0)}° (0 is north)`);
    this.set("position", n.position.slice(0, 2).map((x) => x.toFixed(2)).join(", ") + " m");
  }

  status(n: VehicleStatus): void {
    const what = n.failsafe ? `${n.mode} (failsafe: ${n.failsafe})` : n.mode;
    this.set("mode", n.armed || n.mode === "disarmed" ? what : `${what}, disarmed`);
  }

  battery(n: BatteryState): void {
    this.set("battery", `${(100 * n.state_of_charge).toFixed(0)} %, ${n.voltage.toFixed(1)} V`);
  }

  commander(by: string, hand: boolean): void {
    this.set("commanded by", by || (hand ? "nobody" : "pilot"));
  }

  set(name: string, text: string): void {
    const cell = this.cells[name]!;
    if (cell.textContent !== text) cell.textContent = text;
  }

  draw(): void {
    const now = `${this.roll.toFixed(1)} ${this.pitch.toFixed(1)}`;
    if (now === this.drawn) return;
    this.drawn = now;
    const pen = this.horizon.getContext("2d")!;
    const size = this.horizon.width;
    const middle = size / 2;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, size, size);
    pen.save();
    pen.beginPath();
    pen.arc(middle, middle, middle - 4, 0, 2 * Math.PI);
    pen.clip();
    pen.translate(middle, middle);
    pen.rotate((-this.roll * Math.PI) / 180);
    const shift = -this.pitch * 2.4;
    pen.fillStyle = "#3f86c9";
    pen.fillRect(-size, -2 * size + shift, 2 * size, 2 * size);
    pen.fillStyle = "#7a5a33";
    pen.fillRect(-size, shift, 2 * size, 2 * size);
    pen.strokeStyle = pen.fillStyle = "#fff";
    pen.lineWidth = 2;
    pen.font = "13px system-ui";
    for (let angle = -30; angle <= 30; angle += 10) {
      const y = shift - angle * 2.4;
      const half = angle === 0 ? size : 26;
      pen.beginPath();
      pen.moveTo(-half, y);
      pen.lineTo(half, y);
      pen.stroke();
      if (angle) pen.fillText(String(Math.abs(angle)), 30, y + 4);
    }
    pen.restore();
    pen.strokeStyle = "#ffd23f";
    pen.lineWidth = 4;
    pen.beginPath();
    pen.moveTo(middle - 56, middle);
    pen.lineTo(middle - 18, middle);
    pen.lineTo(middle, middle + 12);
    pen.lineTo(middle + 18, middle);
    pen.lineTo(middle + 56, middle);
    pen.stroke();
  }
}
