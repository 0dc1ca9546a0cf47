// The line to the server: one socket for what is shown, HTTP for what is done. The browser's cookie lets both in.

import { Frame, unframed } from "./wire";

export class Api {
  viewer = "";
  onFrame: (frame: Frame) => void = () => {};
  onLine: (open: boolean) => void = () => {};
  private socket: WebSocket | null = null;
  private wanted: string[] = [];
  private sent = "";
  private wait = 500;

  connect(): void {
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/live`);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.wait = 500;
    };
    socket.onmessage = (event) => {
      const frame = unframed(event.data as ArrayBuffer);
      if (frame.header.k === "hello") {
        this.viewer = frame.header.viewer;
        this.sent = "";
        this.onLine(true);
        this.sendWanted();
      }
      this.onFrame(frame);
    };
    socket.onclose = () => {
      this.onLine(false);
      setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(5000, 2 * this.wait);
    };
  }

  want(streams: string[]): void {
    this.wanted = streams;
    this.sendWanted();
  }

  // Ask for everything once more: what came while the page was loading is lost.
  wantAgain(): void {
    this.send({ want: [] });
    this.sent = "";
    this.sendWanted();
  }

  private send(message: object): void {
    if (this.socket?.readyState === WebSocket.OPEN && this.viewer) this.socket.send(JSON.stringify(message));
  }

  private sendWanted(): void {
    const text = JSON.stringify({ want: this.wanted });
    if (this.socket?.readyState === WebSocket.OPEN && this.viewer && text !== this.sent) this.socket.send((this.sent = text));
  }

  // For what is repeated twenty times a second; nobody waits for the answer.
  hand(vehicle: string, axes: object): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ order: "hand", vehicle, arguments: axes }));
    }
  }

  async call(path: string, body?: unknown): Promise<any> {
    const headers: Record<string, string> = { "X-Viewer": this.viewer };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const value = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(typeof value.detail === "string" ? value.detail : `the server refused ${path}`);
    return value;
  }

  async world(): Promise<Frame> {
    return unframed(await (await fetch("/api/world")).arrayBuffer());
  }

  // A file of a run folder as an address that an image or a tab can show.
  async file(root: string, run: string, name: string): Promise<string> {
    const answer = await fetch(`/api/runs/${encodeURIComponent(run)}/files/${encodeURIComponent(name)}?root=${root}`);
    return URL.createObjectURL(await answer.blob());
  }
}
