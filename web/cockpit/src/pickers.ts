// Pickers for the parts of a scenario that people change most. They edit its text.

import { button, el } from "./dom";

export type Change = (changes: Record<string, unknown>) => void;

const WEATHERS: [string, object][] = [
  ["clear", { clouds: 0 }], ["overcast", { clouds: 1 }], ["fog", { visibility: 200 }], ["rain", { rain: 10, clouds: 1 }],
  ["snow", { snow: 2, clouds: 1 }], ["dust", { dust: 80 }], ["night", { time_of_day: 22 }],
];
const QUALITIES = ["low", "medium", "high", "epic", "cinematic"];
const AS_WRITTEN = "as written";

export class Pickers {
  readonly object = el("div", { className: "pickers" });
  private readonly world = el("select", { id: "pick-world" });
  private readonly seed = el("input", { type: "number", min: "0", step: "1", id: "pick-seed" });
  private readonly quality = el("select", { id: "pick-quality" });
  private readonly weather = el("select", { id: "pick-weather" });
  private readonly airframe = el("select", { id: "pick-airframe" });
  private readonly sensors = el("ul", { className: "chips", id: "sensors", ariaLabel: "sensors of the first vehicle" });
  private readonly sensor = el("select", { id: "pick-sensor", ariaLabel: "kind of sensor to add" });
  private fields: any = {};

  constructor(private readonly change: Change) {
    this.weather.append(...[AS_WRITTEN, ...WEATHERS.map(([name]) => name)].map(option));
    this.quality.append(...QUALITIES.map(option));
    this.world.onchange = () => this.change({ world: this.world.value });
    this.seed.onchange = () => { if (this.seed.value !== "") this.change({ seed: Math.round(Number(this.seed.value)) }); };
    this.airframe.onchange = () => this.change({ "vehicles.0.airframe": this.airframe.value });
    this.weather.onchange = () => {
      const picked = WEATHERS.find(([name]) => name === this.weather.value);
      if (picked) this.change({ weather: picked[1] });
    };
    this.quality.onchange = () => this.change(Object.fromEntries((this.fields.cameras ?? []).map((name: string) => [`vehicles.0.sensors.${name}.quality`, this.quality.value])));
    for (const [text, item] of [["World", this.world], ["Seed", this.seed], ["Weather", this.weather], ["Vehicle", this.airframe], ["Image quality", this.quality]] as [string, HTMLElement][]) {
      this.object.append(el("label", {}, el("span", { textContent: text }), item));
    }
    this.object.append(el("div", { className: "wide" }, el("span", { textContent: "Sensors" }), this.sensors, el("div", { className: "orders" }, this.sensor, button("Add sensor", "add this sensor to the first vehicle", () => this.addSensor(), { id: "add-sensor" }))));
  }

  offer(catalogue: Record<string, Record<string, string>>): void {
    this.world.replaceChildren(...Object.keys(catalogue.worlds ?? {}).map(option));
    this.airframe.replaceChildren(...Object.keys(catalogue.airframes ?? {}).map(option));
    this.sensor.replaceChildren(...Object.keys(catalogue.sensors ?? {}).map(option));
  }

  // What the text says now.
  show(fields: any): void {
    this.fields = fields;
    choose(this.world, fields.world);
    choose(this.airframe, fields.airframe || AS_WRITTEN);
    this.seed.value = String(fields.seed);
    const weather = JSON.stringify(fields.weather);
    this.weather.value = WEATHERS.find(([, value]) => JSON.stringify(value) === weather)?.[0] ?? AS_WRITTEN;
    this.quality.disabled = !fields.cameras.length;
    if (fields.quality) this.quality.value = fields.quality;
    this.sensors.replaceChildren(...Object.entries(fields.sensors).map(([name, kind]) => el("li", {},
      name === kind ? name : `${name} (${kind})`, button("×", `take out sensor ${name}`, () => this.change({ [`vehicles.0.sensors.${name}`]: null })),
    )));
  }

  private addSensor(): void {
    const kind = this.sensor.value;
    const taken = this.fields.sensors ?? {};
    let name = kind;
    for (let number = 2; name in taken; number++) name = `${kind}${number}`;
    this.change({ [`vehicles.0.sensors.${name}`]: { kind } });
  }
}

function option(name: string): HTMLOptionElement {
  return el("option", { value: name, textContent: name });
}

// A value that is not in the list, such as a user's own world, is shown as well.
function choose(list: HTMLSelectElement, value: string): void {
  if (![...list.options].some((item) => item.value === value)) list.append(option(value));
  list.value = value;
}
