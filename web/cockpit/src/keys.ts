// Keys of E2ES's keyboard node: what is held becomes speeds along the body's axes.

export const SPEED = 1.0;
export const CLIMB = 0.5;
export const TURN = 0.3;

export interface Axes {
  forward: number;
  left: number;
  up: number;
  turn: number;
}

const HELD: Record<string, [keyof Axes, number]> = {
  w: ["up", CLIMB], s: ["up", -CLIMB], a: ["turn", TURN], d: ["turn", -TURN],
  y: ["forward", SPEED], h: ["forward", -SPEED], g: ["left", SPEED], j: ["left", -SPEED],
};
export const PRESSED: Record<string, string> = { "1": "take_off", "2": "land", " ": "hover" };

export function isHeldKey(key: string): boolean {
  return key.toLowerCase() in HELD;
}

export function axesOf(keys: Iterable<string>): Axes {
  const axes: Axes = { forward: 0, left: 0, up: 0, turn: 0 };
  for (const key of keys) {
    const [axis, speed] = HELD[key.toLowerCase()] ?? [];
    if (axis !== undefined && speed !== undefined) axes[axis] += speed;
  }
  return axes;
}

const DEAD_ZONE = 0.1;

function stick(value: number): number {
  const size = Math.min(1, Math.abs(value));
  return size < DEAD_ZONE ? 0 : (Math.sign(value) * (size - DEAD_ZONE)) / (1 - DEAD_ZONE);
}

// Left stick climbs and turns, right stick flies forward and to the side.
export function axesOfPad(sticks: readonly number[]): Axes {
  const [x = 0, y = 0, rx = 0, ry = 0] = sticks.map(stick);
  return { forward: -2 * SPEED * ry || 0, left: -2 * SPEED * rx || 0, up: -2 * CLIMB * y || 0, turn: -2 * TURN * x || 0 };
}

export function isMoving(axes: Axes): boolean {
  return Object.values(axes).some((value) => value !== 0);
}
