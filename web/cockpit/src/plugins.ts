// What plugins bring to the page. Each has a `layers.js` whose default export is called with a `Door`;
// docs/how-to/plugin.md has an example.

import * as THREE from "three";
import { Api } from "./api";
import { Layer } from "./layers";
import { Frame, Header } from "./wire";

export interface Door {
  THREE: typeof THREE;
  // A layer of the 3-D view. Streams of these messages are asked for while it is shown; `make` gives an object that
  // draws one stream from the headers and payloads of its frames.
  addLayer(name: string, messages: string[], make: (header: Header) => Omit<Layer, "kind">): void;
  // A tab of the side panel. `take` gets every frame of a stream of these messages.
  addTab(name: string, panel: HTMLElement, messages?: string[], take?: (frame: Frame) => void): void;
}

export async function loadPlugins(api: Api, door: Door, refused: (why: string) => void): Promise<void> {
  for (const address of (await api.call("/api/plugins")) as string[]) {
    try {
      (await import(/* @vite-ignore */ address)).default(door);
    } catch (error) {
      refused(`${address}: ${error}`);
    }
  }
}
