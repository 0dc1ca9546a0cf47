// Frames of the server: 4 bytes (length of the header), a JSON header, a payload at a multiple of 8 bytes.

export interface Header {
  k: string;
  [name: string]: any;
}

export interface Frame {
  header: Header;
  payload: ArrayBuffer;
}

const decoder = new TextDecoder();

export function unframed(data: ArrayBuffer): Frame {
  const length = new DataView(data).getUint32(0, true);
  const header = JSON.parse(decoder.decode(new Uint8Array(data, 4, length))) as Header;
  return { header, payload: data.slice(4 + length) };
}

type Place = [string, number, number];

// An array of a payload, from numpy's name of its type, its offset and its number of values.
export function arrayAt(payload: ArrayBuffer, place: Place): Float32Array | Uint16Array | Uint32Array | Uint8Array {
  const [kind, offset, count] = place;
  switch (kind) {
    case "<f4": return new Float32Array(payload, offset, count);
    case "<u2": return new Uint16Array(payload, offset, count);
    case "<u4": return new Uint32Array(payload, offset, count);
    case "|u1": return new Uint8Array(payload, offset, count);
    default: throw new Error(`no array of ${kind}`);
  }
}

// "a.b.2" of a record's numbers, or null where there is none.
export function numberAt(record: Record<string, any>, path: string): number | null {
  let value: any = record;
  for (const step of path.split(".")) value = value?.[step];
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "number" ? value : null;
}

// All paths of numbers in a record, for the choice of what to plot.
export function numberPaths(record: Record<string, any>): string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(record)) {
    if (typeof value === "number" || typeof value === "boolean") found.push(name);
    else if (Array.isArray(value)) value.forEach((_, index) => found.push(`${name}.${index}`));
  }
  return found;
}

export function clock(seconds: number): string {
  const sign = seconds < 0 ? "-" : "";
  const whole = Math.abs(seconds);
  const minutes = Math.floor(whole / 60);
  return `${sign}${minutes}:${(whole - 60 * minutes).toFixed(2).padStart(5, "0")}`;
}
