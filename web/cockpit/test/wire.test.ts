import { expect, test } from "vitest";
import { axesOf, axesOfPad, isMoving } from "../src/keys";
import { arrayAt, clock, numberAt, numberPaths, unframed } from "../src/wire";

function framed(header: object, payload: Uint8Array): ArrayBuffer {
  let text = JSON.stringify(header);
  while ((4 + text.length) % 8) text += " ";
  const data = new Uint8Array(4 + text.length + payload.length);
  new DataView(data.buffer).setUint32(0, text.length, true);
  data.set(new TextEncoder().encode(text), 4);
  data.set(payload, 4 + text.length);
  return data.buffer;
}

test("a frame is a header and a payload", () => {
  const payload = new Uint8Array(new Float32Array([1, 2, 3]).buffer);
  const frame = unframed(framed({ k: "world", at: ["<f4", 0, 3] }, payload));
  expect(frame.header.k).toBe("world");
  expect([...arrayAt(frame.payload, frame.header.at)]).toEqual([1, 2, 3]);
  expect(() => arrayAt(frame.payload, ["<f8", 0, 1])).toThrow("no array");
});

test("numbers of a record are found by path", () => {
  const record = { position: [1, 2, 3], valid: true, mode: "hover", gap: [null] };
  expect(numberAt(record, "position.2")).toBe(3);
  expect(numberAt(record, "valid")).toBe(1);
  expect(numberAt(record, "mode")).toBeNull();
  expect(numberAt(record, "gap.0")).toBeNull();
  expect(numberPaths(record)).toEqual(["position.0", "position.1", "position.2", "valid", "gap.0"]);
});

test("times are minutes and seconds", () => {
  expect(clock(0)).toBe("0:00.00");
  expect(clock(75.5)).toBe("1:15.50");
});

test("E2ES's keys, alone and together", () => {
  expect(axesOf(["y"])).toEqual({ forward: 1, left: 0, up: 0, turn: 0 });
  expect(axesOf(["H", "g", "w", "d"])).toEqual({ forward: -1, left: 1, up: 0.5, turn: -0.3 });
  expect(isMoving(axesOf(["y", "h"]))).toBe(false);
});

test("sticks have a dead zone", () => {
  expect(isMoving(axesOfPad([0.05, 0, -0.09, 0]))).toBe(false);
  expect(axesOfPad([0, 0, 0, -1]).forward).toBe(2);
  expect(axesOfPad([1, 0, 0, 0]).turn).toBe(-0.6);
});
