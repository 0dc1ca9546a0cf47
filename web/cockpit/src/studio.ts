// What is flown: scenarios, their text, folders of runs and datasets, jobs.

import { Api } from "./api";
import { button, el } from "./dom";
import { Pickers } from "./pickers";

const KINDS: Record<string, string> = { run: "run", dataset: "dataset", reproduce: "reproduction", bench: "bench", record: "dataset", folder: "folder" };
// shown first, where a folder has them
const REPORTS = /^(report\.html|summary\.json|output\.txt|flight\.png)$/;

export class Studio {
  readonly object = el("section", { className: "studio", ariaLabel: "scenarios and runs" });
  private readonly choice = el("select", { ariaLabel: "scenario", id: "scenario" });
  private readonly text = el("textarea", { spellcheck: false, rows: 14, ariaLabel: "text of the scenario", id: "scenario-text" });
  private readonly fault = el("output", { className: "said", ariaLive: "polite", id: "scenario-fault" });
  private readonly pickers = new Pickers((changes) => void this.edit(changes));
  private readonly runs = el("ul", { className: "runs" });
  private readonly jobs = el("div", { className: "jobs" });
  private readonly jobKind = el("select", { ariaLabel: "kind of job", id: "job-kind" });
  private readonly jobName = el("select", { ariaLabel: "name of the job", id: "job-name" });
  private loaded = false;
  private turn: Promise<void> = Promise.resolve();
  private catalogue: Record<string, Record<string, string>> = {};
  private timer = 0;

  constructor(private readonly api: Api) {
    for (const [value, text] of [["reproduce", "reproduction"], ["record", "dataset of a world"], ["bench", "bench"]]) this.jobKind.append(el("option", { value, textContent: text }));
    this.choice.onchange = () => void this.load();
    this.jobKind.onchange = () => this.listJobNames();
    this.text.oninput = () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.inTurn(() => this.check()), 300);
    };
    this.object.append(
      el("h3", { textContent: "Scenario" }),
      el("div", { className: "orders" }, this.choice, button("Start", "fly this scenario", () => void this.start(), { id: "start" }), button("Stop", "end the flight", () => void this.act(() => this.api.call("/api/flight/stop", {})), { id: "stop" })),
      this.pickers.object, this.text, this.fault,
      el("h3", { textContent: "Jobs" }), el("div", { className: "orders" }, this.jobKind, this.jobName, button("Run", "start it; the short form", () => void this.startJob(), { id: "job-start" })), this.jobs,
      el("h3", { textContent: "Runs, datasets, reproductions, benches" }), button("Refresh", "look for folders again", () => void this.listRuns(), { id: "refresh" }), this.runs,
    );
  }

  async open(): Promise<void> {
    try {
      this.catalogue = await this.api.call("/api/catalogue");
    } catch (error) {
      this.fault.textContent = (error as Error).message;
      return;
    }
    if (this.loaded) return void (await this.listRuns());
    this.loaded = true;
    this.pickers.offer(this.catalogue);
    this.choice.replaceChildren(...Object.entries(this.catalogue.scenarios ?? {}).map(([name, about]) => el("option", { value: name, textContent: name, title: about })));
    this.listJobNames();
    for (const job of await this.api.call("/api/jobs")) this.job(job);
    await this.load();
    await this.listRuns();
  }

  job(job: any): void {
    let box = this.jobs.querySelector<HTMLDetailsElement>(`details[data-number="${job.number}"]`);
    if (!box) {
      box = el("details", { open: true }, el("summary"), el("pre"));
      box.dataset.number = String(job.number);
      this.jobs.prepend(box);
    }
    box.querySelector("summary")!.textContent = `${job.title}: ${job.state}`;
    box.querySelector("pre")!.textContent = job.lines.join("\n");
    if (job.state !== "running") void this.listRuns();
  }

  private listJobNames(): void {
    const heading = { reproduce: "reproductions", record: "worlds", bench: "benches" }[this.jobKind.value]!;
    this.jobName.replaceChildren(...Object.keys(this.catalogue[heading] ?? {}).map((name) => el("option", { value: name, textContent: name })));
  }

  private async load(): Promise<void> {
    await this.inTurn(async () => {
      this.text.value = (await this.api.call(`/api/scenarios/${this.choice.value}`)).text;
      await this.check();
    });
  }

  private async check(): Promise<boolean> {
    const told = await this.api.call("/api/scenario/check", { text: this.text.value });
    this.fault.textContent = told.ok ? `✓ ${told.name}, ${told.vehicles} vehicle(s)` : `✗ ${told.line ? `line ${told.line}: ` : ""}${told.error}`;
    this.fault.classList.toggle("bad", !told.ok);
    if (told.ok) this.pickers.show(told.fields);
    if (!told.ok && told.line) this.point(told.line);
    return told.ok;
  }

  private async edit(changes: Record<string, unknown>): Promise<void> {
    await this.inTurn(async () => {
      this.text.value = (await this.api.call("/api/scenario/change", { text: this.text.value, changes })).text;
      await this.check();
    });
  }

  // Scroll to the line of a fault; the text keeps the cursor of who is typing.
  private point(line: number): void {
    this.text.dataset.line = String(line);
    if (document.activeElement === this.text) return;
    const height = parseFloat(getComputedStyle(this.text).lineHeight) || 17;
    this.text.scrollTop = Math.max(0, (line - 4) * height);
  }

  private async start(): Promise<void> {
    await this.act(() => this.api.call("/api/flight/start", { text: this.text.value }));
  }

  private async startJob(): Promise<void> {
    await this.act(async () => this.job(await this.api.call("/api/jobs", { kind: this.jobKind.value, name: this.jobName.value })));
  }

  private async listRuns(): Promise<void> {
    const runs: any[] = await this.api.call("/api/runs");
    this.runs.replaceChildren(...runs.map((run) => {
      const first = run.files.filter((name: string) => REPORTS.test(name));
      const rest = run.files.filter((name: string) => !REPORTS.test(name));
      const link = (name: string) => button(name, `open ${name} of ${run.name}`, () => void this.openFile(run, name), { className: "link" });
      const said = run.summary.simulated_s === undefined ? "" : `, ${run.summary.simulated_s.toFixed(0)} s`;
      return el("li", {},
        el("b", { textContent: run.name }), el("span", { className: "faint", textContent: ` ${KINDS[run.kind]}${said} ` }),
        ...(run.playable ? [button("Play", `play ${run.name}`, () => void this.act(() => this.api.call("/api/player/start", { run: run.name, root: run.root })))] : []),
        ...first.map(link),
        ...(rest.length ? [el("details", {}, el("summary", { textContent: `${rest.length} more` }), ...rest.map(link))] : []),
      );
    }));
    if (!runs.length) this.runs.append(el("li", { textContent: "none yet" }));
  }

  private async openFile(run: { name: string; root: string }, name: string): Promise<void> {
    open(await this.api.file(run.root, run.name, name), "_blank", "noopener");
  }

  // One change of the text after the other: the second one must see what the first one did.
  private async inTurn(what: () => Promise<unknown>): Promise<void> {
    this.turn = this.turn.then(() => this.act(what));
    await this.turn;
  }

  private async act(what: () => Promise<unknown>): Promise<void> {
    try {
      await what();
    } catch (error) {
      this.fault.textContent = `✗ ${(error as Error).message}`;
      this.fault.classList.add("bad");
    }
  }
}
