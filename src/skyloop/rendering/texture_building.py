"""Textures of built and manufactured surfaces. Plain, plaster, concrete, metal, cloth and hair are near white, to be
tinted.

A painter is a function (rng, variant, size) → Painting.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skyloop.rendering.texture_patterns import (
    Canvas,
    Floats,
    Painting,
    blocks,
    cells,
    lit,
    mix,
    noise,
    normed,
    picked,
    places,
    ramp,
    rgb,
    steps,
)


def _grey(level: float, *parts: Floats) -> Floats:
    total = np.clip(level * (1 + np.sum(parts, axis=0)), 0, 1).astype(np.float32)
    return np.repeat(total[..., None], 3, axis=2)


def plain(rng: np.random.Generator, variant: int, size: int) -> Painting:
    grain = noise(rng, size, size / 16, size / 2, slope=0.3)
    return _grey(0.93, 0.012 * grain), (0.5 + 0.04 * grain).astype(np.float32)


def plaster(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: felted fine sand; 1: roughcast; 2: trowelled."""
    broad = noise(rng, size, 2, 20, slope=1.4)
    fine = noise(rng, size, size / 10, size / 2, slope=0.2)
    if variant == 0:
        height = normed(fine + 0.3 * broad)
        return _grey(0.895, 0.028 * fine, 0.012 * broad), height
    if variant == 1:
        bumps = cells(rng, size, 90, jitter=0.95)
        height = normed(0.5 - bumps.nearest + 0.12 * fine)
        return _grey(0.87, 0.75 * (lit(height, 0.35) - 1), 0.02 * fine, 0.012 * broad), height
    sweeps = noise(rng, size, 6, 90, slope=1.0, stretch=(3.0, 1.0)) + noise(
        rng, size, 6, 90, slope=1.0, stretch=(1.0, 2.5)
    )
    height = normed(sweeps + 0.25 * fine)
    return _grey(0.895, lit(sweeps, 0.05) - 1, 0.018 * fine, 0.012 * broad), height


def concrete(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: cast smooth, with pores; 1: with the marks of shuttering boards."""
    stains = noise(rng, size, 2, 60, slope=1.3)
    fine = noise(rng, size, size / 12, size / 2, slope=0.3)
    pores = cells(rng, size, 64, jitter=0.95)
    wide = np.where(rng.random(pores.count) < 0.3, rng.uniform(0.06, 0.2, pores.count), 0.0).astype(np.float32)[
        pores.number
    ]
    hole = steps(pores.nearest - wide, 0.03, -0.04) * (wide > 0)
    level: Floats = np.zeros((size, size), np.float32)
    if variant == 1:
        board, _, _, flat = blocks(size, 1, 10, 2.0 / size, shift=rng.random(10).tolist())
        veins = noise(rng, size, 30, size / 2.5, slope=0.4, stretch=(9.0, 1.0))
        own = rng.normal(0, 0.025, 10).astype(np.float32)
        level = own[board] + 0.022 * veins - 0.16 * (1 - flat)
    height = np.clip(0.6 + 0.06 * fine + level - 0.5 * hole, 0, 1).astype(np.float32)
    colour = _grey(0.845, 0.035 * fine, 0.022 * stains, level, -0.3 * hole)
    return colour * rgb(253, 254, 252), height


def formboard(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Pale foam board in 60 cm panels."""
    fibre = noise(rng, size, 20, size / 2, slope=0.4)
    streaks = noise(rng, size, 10, 120, slope=0.8, stretch=(4.0, 1.0))
    panel, _, _, flat = blocks(size, 2, 2, 3.0 / size, shift=(0.0,))
    own = rng.normal(0, 0.012, 4).astype(np.float32)[panel]
    colour = _grey(0.87, 0.022 * fibre, 0.012 * streaks, own, -0.3 * (1 - flat)) * rgb(255, 252, 244)
    return colour, (0.2 + 0.5 * flat + 0.05 * fibre).astype(np.float32)


def brick(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: red; 1: brown and purple clinker; 2: yellow."""
    palette: Sequence[Sequence[float]] = (
        [(158, 82, 62), (146, 72, 56), (170, 94, 70), (136, 66, 54), (164, 100, 80)],
        [(112, 76, 66), (92, 66, 64), (130, 84, 66), (78, 60, 60), (120, 92, 80)],
        [(198, 166, 118), (186, 152, 104), (208, 180, 136), (176, 142, 100), (196, 158, 122)],
    )[variant]
    wobble = noise(rng, size, 12, 90, slope=1.0)
    number, s, t, _ = blocks(size, 4, 12, 0.0)
    gap = np.minimum(np.minimum(s, 1 - s) / 4, np.minimum(t, 1 - t) / 12) + 0.0008 * wobble
    mask = steps(gap, 0.0042, 0.0042 + 1.8 / size)
    tint = picked(rng, palette, 48, 0.05)[number]
    rough = noise(rng, size, 8, size / 2, slope=0.7)
    fine = noise(rng, size, size / 8, size / 2, slope=0.2)
    fired = noise(rng, size, 6, 40, slope=1.2)
    face = tint * (1 + 0.07 * rough + 0.05 * fine)[..., None] * (1 + 0.05 * fired[..., None] * rgb(255, 180, 120))
    mortar = (
        rgb(186, 180, 170)
        * (1 + 0.05 * fine + 0.03 * rough)[..., None]
        * (0.84 + 0.16 * steps(gap, 0.004, 0.0))[..., None]
    )
    height = (0.25 + 0.45 * mask + 0.05 * rough + 0.03 * fine).astype(np.float32)
    return mix(mortar, face, mask) * lit(height, 0.35)[..., None], height


def paving(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: concrete slabs of 40 cm; 1: clinker blocks of 20 by 10 cm."""
    columns, rows, joint = ((3, 3, 0.008), (6, 12, 0.006))[variant]
    number, _, _, mask = blocks(size, columns, rows, joint, shift=(0.0, 0.5 * variant))
    palette = (
        [(178, 174, 166), (168, 165, 158), (184, 178, 168)],
        [(150, 112, 94), (136, 100, 86), (164, 126, 104), (128, 106, 96)],
    )[variant]
    tint = picked(rng, palette, columns * rows, 0.035)[number]
    specks = cells(rng, size, 128, jitter=0.95)
    spot = rng.normal(0, 0.07, specks.count).astype(np.float32)[specks.number] * steps(specks.nearest, 0.6, 0.3)
    rough = noise(rng, size, 6, size / 2.5, slope=0.9)
    face = tint * (1 + spot + 0.03 * rough)[..., None]
    filler = rgb(92, 86, 76) * (1 + 0.12 * noise(rng, size, 40, size / 2, slope=0.3))[..., None]
    height = (0.2 + 0.55 * mask + 0.04 * rough + 0.3 * spot).astype(np.float32)
    return mix(filler, face, mask) * lit(height, 0.3)[..., None], height


def tiles(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: white glazed, 20 cm; 1: stone-grey, 25 cm; 2: light and dark checks, 25 cm."""
    columns = (5, 4, 4)[variant]
    number, s, t, mask = blocks(size, columns, columns, (0.006, 0.007, 0.005)[variant], shift=(0.0,))
    palette = ([(232, 232, 228)], [(150, 148, 144), (140, 138, 136), (158, 154, 148)], [(222, 218, 210)])[variant]
    tint = picked(rng, palette, columns * columns, 0.02)
    if variant == 2:
        odd = (np.arange(16) // 4 + np.arange(16) % 4) % 2 == 1
        tint[odd] = picked(rng, [(84, 82, 82)], 8, 0.05)
    cloud = noise(rng, size, 5, 160, slope=1.3)
    fine = noise(rng, size, size / 8, size / 2, slope=0.3)
    vein = steps(np.abs(noise(rng, size, 4, 90, slope=1.3)), 0.05, 0.0) if variant else np.float32(0)
    face = tint[number] * (1 + (0.012, 0.045, 0.03)[variant] * cloud + 0.012 * fine + 0.07 * vein)[..., None]
    pillow = np.minimum(np.minimum(s, 1 - s), np.minimum(t, 1 - t))
    height = (0.2 + 0.5 * mask + 0.1 * steps(pillow, 0.0, 0.08) + 0.01 * fine).astype(np.float32)
    grout = (rgb(168, 164, 156), rgb(104, 100, 96), rgb(130, 126, 120))[variant] * (1 + 0.06 * fine)[..., None]
    return mix(grout, face, mask) * lit(height, 0.25)[..., None], height


def roof_tiles(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Rows lap downwards (towards v = 0). 0: red pantiles; 1: brown plain tiles; 2: slates."""
    columns, rows = ((6, 4), (8, 8), (6, 8))[variant]
    number, s, t, _ = blocks(size, columns, rows, 0.0, shift=(0.0, (0.0, 0.5, 0.5)[variant]))
    palette = (
        [(170, 88, 64), (162, 81, 58), (177, 96, 70), (158, 82, 62)],
        [(120, 80, 64), (106, 72, 60), (132, 92, 74), (98, 70, 60)],
        [(92, 96, 104), (80, 84, 92), (104, 106, 112), (86, 86, 90)],
    )[variant]
    tint = picked(rng, palette, columns * rows, 0.05)[number]
    rough = noise(rng, size, 6, size / 2.2, slope=0.8)
    fine = noise(rng, size, size / 8, size / 2, slope=0.2)
    # an S-shaped profile across: a broad hump and a narrow trough; the thin ones only have joints
    if variant == 0:
        profile = 0.5 + 0.5 * np.sin(2 * np.pi * s + 0.6 * np.sin(2 * np.pi * s))
        joint = np.ones_like(s)
    else:
        profile = np.full_like(s, 0.5)
        joint = steps(np.minimum(s, 1 - s) / columns, 0.5 / size, 2.2 / size)
    # each row is thick at its lower edge (t = 0) and casts a shadow on the row below it (t = 1)
    shadow = 1 - 0.62 * steps(t, 1 - 0.16, 1 - 0.01)
    rim = steps(t, 0.0, 2.5 / size * rows)
    lichen = steps(noise(rng, size, 8, 120, slope=1.0), 1.5, 2.4)
    height = np.clip(0.35 * (1 - t) + 0.45 * profile * (1.0 if variant == 0 else 0.4) + 0.02 * rough, 0, 1) * (
        0.7 + 0.3 * joint
    )
    shade = shadow * (0.82 + 0.18 * rim) * (0.45 + 0.55 * joint) * (0.62 + 0.5 * profile if variant == 0 else 1.0)
    face = tint * (1 + 0.05 * rough + 0.045 * fine)[..., None]
    return mix(face, rgb(150, 148, 120), 0.35 * lichen) * shade[..., None], height.astype(np.float32)


def wood(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Grain along u. 0: oak boards; 1: pale pine veneer with knots; 2: weathered grey boards."""
    boards = (8, 4, 7)[variant]
    number, _, _, mask = blocks(size, 1, boards, (0.004, 0.0015, 0.008)[variant], shift=rng.random(boards).tolist())
    u, v = places(size)
    sag = noise(rng, size, 2, 14, slope=1.6, stretch=(3.0, 1.0))
    rings = 0.012 * sag
    knot = np.zeros((size, size), np.float32)
    for _ in range((10, 8, 12)[variant]):
        board, at_u, wide = rng.integers(boards), rng.random(), rng.uniform(0.006, 0.014)
        at_v = (board + rng.uniform(0.3, 0.7)) / boards
        rows = slice(int(board * size / boards), int((board + 1) * size / boards))
        du, dv = (u[0] - at_u + 0.5) % 1 - 0.5, v[rows, :1] - at_v
        # the rings bend around a knot
        rings[rows] += 1.1 * wide * np.sign(dv) * np.exp(-0.5 * (du / (5 * wide)) ** 2 - np.abs(dv) / (2.5 * wide))
        far = np.sqrt((du / 2.2) ** 2 + dv**2) / wide
        knot[rows] = np.maximum(knot[rows], steps(far, 1.1, 0.5))
    start = rng.random(boards).astype(np.float32)[number]
    phase = (v - rings) * (70, 46, 90)[variant] + 7 * start
    year = phase - np.floor(phase)
    late = steps(year, 0.25, 0.95) * steps(year, 1.0, 0.95)
    fibre = noise(rng, size, 40, size / 2, slope=0.4, stretch=(22.0, 1.0))
    pores = steps(noise(rng, size, 60, size / 2, slope=0.0, stretch=(14.0, 1.0)), 1.3, 2.2)
    low, high = (((112, 76, 44), (178, 132, 84)), ((188, 146, 98), (222, 190, 146)), ((104, 98, 90), (164, 158, 148)))[
        variant
    ]
    tone = np.clip(0.72 - 0.42 * late + 0.13 * fibre - (0.25, 0.06, 0.3)[variant] * pores, 0, 1)
    own = (1 + np.array((0.07, 0.03, 0.06))[variant] * rng.standard_normal(boards)).astype(np.float32)[number]
    colour = ramp(tone.astype(np.float32), low, high) * own[..., None]
    colour = mix(colour, np.array(low, np.float32) / 255 * 0.55, 0.8 * knot)
    height = (0.15 + mask * (0.55 - 0.12 * late + 0.05 * fibre - 0.1 * pores)).astype(np.float32)
    return colour * (0.3 + 0.7 * mask)[..., None], height


def glass(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Window panes with a dim room behind. 0: clear; 1: reflects a clouded sky."""
    waves = noise(rng, size, 2, 14, slope=1.8)
    grain = noise(rng, size, size / 8, size / 2, slope=0.2)
    tone = np.clip(0.5 + (0.10, 0.13)[variant] * waves + 0.01 * grain, 0, 1)
    colours = (
        ((112, 132, 146), (146, 166, 178), (176, 192, 200)),
        ((120, 146, 168), (156, 178, 196), (204, 214, 222)),
    )[variant]
    return ramp(tone.astype(np.float32), *colours), (0.5 + 0.02 * waves).astype(np.float32)


def metal(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: brushed along u; 1: galvanised, with visible crystals."""
    fine = noise(rng, size, size / 10, size / 2, slope=0.2)
    if variant == 0:
        brush = noise(rng, size, 20, size / 2, slope=0.3, stretch=(40.0, 1.0))
        scratch = noise(rng, size, 60, size / 2, slope=0.0, stretch=(12.0, 1.0))
        return _grey(0.86, 0.035 * brush, 0.015 * scratch, 0.008 * fine), (0.5 + 0.05 * brush).astype(np.float32)
    bend = (0.3 * noise(rng, size, 10, 90), 0.3 * noise(rng, size, 10, 90))
    flakes = cells(rng, size, 26, jitter=0.95, bend=bend)
    own = rng.normal(0, 0.045, flakes.count).astype(np.float32)[flakes.number]
    colour = _grey(0.84, own, 0.02 * fine) * rgb(252, 254, 255)
    return colour, (0.5 + own + 0.02 * fine).astype(np.float32)


def cloth(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """0: plain weave; 1: stripes; 2: checks; 3: denim."""
    u, v = places(size)
    threads = size // 4
    slub_u = noise(rng, size, 8, size / 2, slope=0.4, stretch=(16.0, 1.0))
    slub_v = noise(rng, size, 8, size / 2, slope=0.4, stretch=(1.0, 16.0))
    over = np.floor(u * threads) + np.floor(v * threads)
    weave = np.where(over % 2 == 0, np.sin(np.pi * ((v * threads) % 1)), np.sin(np.pi * ((u * threads) % 1)))
    if variant == 3:
        weave = 0.5 + 0.5 * np.sin(2 * np.pi * (u + v) * (threads // 2))
    folds = noise(rng, size, 2, 9, slope=1.5)
    pattern: Floats = np.zeros((size, size), np.float32)
    if variant == 1:
        pattern = -0.42 * steps(np.abs((u * 8) % 1 - 0.5), 0.2, 0.17)
    if variant == 2:
        bars = [
            steps(np.abs((x * 6) % 1 - 0.5), 0.26, 0.24) + 0.6 * steps(np.abs((x * 6) % 1 - 0.06), 0.03, 0.02)
            for x in (u, v)
        ]
        pattern = -0.2 * (bars[0] + bars[1])
    if variant == 3:
        pattern = 0.02 * noise(rng, size, 4, 60, slope=1.0)
    level = (0.91, 0.98, 1.06, 0.87)[variant]
    ripple, slub = ((0.05, 0.03), (0.05, 0.03), (0.05, 0.03), (0.16, 0.02))[variant]
    colour = _grey(level, pattern, ripple * (weave - 0.6), slub * slub_u, slub * slub_v, 0.01 * folds)
    return colour, np.clip(0.4 + 0.3 * weave + 0.05 * (slub_u + slub_v), 0, 1).astype(np.float32)


def hair(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Strands along v, near white. 0: straight; 1: wavy."""
    bend = 0.02 * noise(rng, size, 2, 8, slope=1.5) * (0.5, 1.0)[variant]
    strands = noise(rng, size, 20, size / 2, slope=0.35, stretch=(1.0, 14.0))
    locks = noise(rng, size, 5, 60, slope=0.8, stretch=(1.0, 9.0))
    columns = (np.arange(size)[None, :] + np.rint(bend * size).astype(int)) % size
    height = normed(np.take_along_axis(strands + 1.1 * locks, columns, axis=1))
    return _grey(0.82, 0.5 * (height - 0.5)), height


def cardboard(rng: np.random.Generator, variant: int, size: int) -> Painting:
    """Corrugated along v, with fibres."""
    u, _ = places(size)
    flutes = np.sin(2 * np.pi * u * 100)
    fibre = noise(rng, size, 30, size / 2, slope=0.3, stretch=(3.0, 1.0))
    cloud = noise(rng, size, 2, 60, slope=1.3)
    canvas = Canvas.of(size, rgb(188, 148, 104), 0.5)
    count = size * 3
    tint = picked(rng, [(150, 112, 74), (210, 176, 132), (128, 96, 66)], count, 0.05)
    canvas.strokes(
        rng.random((count, 2), dtype=np.float32),
        rng.uniform(0, 2 * np.pi, count).astype(np.float32),
        rng.uniform(0.003, 0.012, count).astype(np.float32),
        rng.normal(0, 0.8, count).astype(np.float32),
        np.stack([tint, tint], axis=1),
        np.full(count, 0.52, np.float32),
    )
    colour = canvas.colour * (1 + 0.02 * flutes + 0.03 * fibre + 0.02 * cloud)[..., None]
    return colour, (canvas.height + 0.06 * flutes + 0.03 * fibre).astype(np.float32)
