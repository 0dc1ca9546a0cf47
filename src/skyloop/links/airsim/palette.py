"""The colours of segmentation ids: AirSim's 256, and those of Cosys-AirSim's simGetSegmentationColorMap."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

# RGB of ids 0 to 255, from AirSim's list of segmentation colours
_AIRSIM = bytes.fromhex(
    "000000996c067069bf597948bee140cebe3b510d2473b0c3a1ab1b87a9b41d1ac76610eff26b929cc6173159a044da740bec09c41e0879431c"
    "003541923446e2958f977eabc22707cd78a1d4333cd350d0bd87bc3648cd67fc9d7c157b138445c3ed845efdafb6fb575aa2f2c71d01fe0ce5"
    "23c4f4dca33156fed69803815c1f6acfe55a7d4b3062374a7e81eede996d559822ad451f25807d3a1321863977da7c737800c8e1835cf65a10"
    "339bf1ca619bb891b660e82c85f485b4bf1d01dec063f2685ba8db4136d9944282cb66ccd84e4bea14fa6dce18a4c2119d17ec9e7258f5166e"
    "431123b5d55daab32a34bb94f7c86f193eae6419f0bfc390fc2443f14d95ed218d77e6551c226c4e62fe72a11e4b32f342e2fd2e684c08ead8"
    "0ff1665d0e47c0ffc1fd29a418af78b9f3e7a9e961f3d791488915a07165d65c0da78c93656db535767e03b120283f63ba8b9958cf644792e3"
    "ec26bbd704d712d3427131862f2a3fdb677f39f089e385d39147c9d9adb7fa2871d07d44e0baf945942eef55146c74e038d61ab3932b30bcac"
    "dd532f9ba6da3ed9bdc6b47ac990a984020e80bd72a3e3702d9db140568e76c1a30e204fc82daa4a51023b25d44923e15fe02754aadc9f3aad"
    "115bed1f5f5422c9f83f49d181eb6be77328244a5feee49a3dd4360d5ea58dae008ca7ff755d5bb70abaa51c3d90eec20c9e294c6eea960979"
    "8e01f6e688c6053ce9e8fa508f7038bb469c02b93e8adfe27ab7dea6f503af068cf03bd2f82c0a535234dff8a7570f966fb275c55416ebd07c"
    "094c2db018329a9ffb956fcfa8e70fd1f7ca50cd98b2ddd51b0826f475336b44be17c78bab58a888ca3a062e56697fb0aef9c5acac8ae48e51"
    "07ccb9163df7e9644e7f416921579e8b9cfc2a07881463b34f96df83b6b86e7b253c8a60d2605e7b301289c5a2bc120527db97cc8f87f94f49"
    "4d40b229f64d109a04748613047aebb16ae615770c6805623282351ec0191aa5a60aa0526a2b832cd867ff65dd2097c4d5dc5946d1e461b853"
    "52efe8fba480c10bf5261b9fe58dcb82383793d20ba2cb76ffffff"
)
AIRSIM_PALETTE: NDArray[np.uint8] = np.frombuffer(_AIRSIM, np.uint8).reshape(256, 3)
COSYS_COLOURS = 140**3
"""Number of ids in Cosys-AirSim: each of the three channels has 140 values."""
# displayed values of the odd values from 79 to 147; from 150 on a value is displayed unchanged, and others are unused
_SHOWN = (
    79, 81, 83, 85, 86, 88, 90, 93, 95, 96, 98, 101, 102, 105, 106, 109, 110, 113, 114, 117, 119, 120, 122, 125, 127,
    129, 131, 133, 135, 137, 139, 141, 143, 145, 147,
)  # fmt: skip


def _channel() -> NDArray[np.uint8]:
    """The displayed values of a channel, ordered so that each new value halves the gaps between the earlier ones."""
    values = [0]
    for step in (256 >> k for k in range(9)):
        values += range(step - 1, 257, 2 * step)
    shown = {79 + 2 * k: value for k, value in enumerate(_SHOWN)} | {value: value for value in range(150, 256)}
    return np.array([shown[value] for value in values[:256] if value in shown], np.uint8)


@functools.cache
def cosys_palette() -> NDArray[np.uint8]:
    """(COSYS_COLOURS, 3), RGB, ordered in shells of ever finer values."""
    shown = _channel()
    shells = []
    for last in range(len(shown)):
        before, newest = shown[:last], shown[last : last + 1]
        # the channels that have the newest value, beginning with blue alone
        for red, green, blue in ((0, 0, 1), (0, 1, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1)):
            of_channels = np.meshgrid(
                *(newest if is_new else before for is_new in (red, green, blue)), indexing="ij", copy=False
            )
            shells.append(np.stack([values.ravel() for values in of_channels], axis=1))
    return np.ascontiguousarray(np.concatenate(shells))
