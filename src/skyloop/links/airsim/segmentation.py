"""AirSim's segmentation ids and their colours, and Cosys-AirSim's instance lists and annotation layers."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import SKY, Map, matches, must_be_ned, number_of, pattern_of, shown_name
from skyloop.links.airsim.wire import Dialect
from skyloop_client.errors import LinkError, unknown_name

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


# ---- ids and annotations


class Segmentation:
    """Ids and colours by instance number, for images and LiDARs."""

    def __init__(self, server: ServerState) -> None:
        self._server = server
        self.given: dict[int, int] = {}
        """Ids by instance that clients have set."""
        self._tables: dict[Dialect, NDArray[np.int64]] = {}
        self.layers: dict[str, dict[int, tuple[int, int, int]]] = {
            name: {} for name in server.options.annotation_layers
        }
        """Colours by instance, for each annotation layer."""
        self.values: dict[tuple[str, int], float] = {}
        server.on_join.append(lambda vehicle: self.ids_changed())

    def ids_changed(self) -> None:
        """Call this when objects were added or ids were set."""
        self._tables.clear()

    def ids(self, dialect: Dialect) -> NDArray[np.int64]:
        names = self._server.editor.names()
        if len(self._tables.get(dialect, ())) != len(names):
            own = _airsim_ids(names) if dialect is Dialect.AIRSIM else np.arange(-1, len(names) - 1)
            if dialect is Dialect.AIRSIM and not self._server.options.labels_all:
                own[:] = 0
            own[0] = 0
            for number, value in self.given.items():
                # skip objects that no longer exist, after a restore of an earlier snapshot
                if number < len(names):
                    own[number] = value
            self._tables[dialect] = own
        return self._tables[dialect]

    def colours(self, dialect: Dialect) -> NDArray[np.uint8]:
        """(n, 3) by instance."""
        if dialect is Dialect.AIRSIM:
            return AIRSIM_PALETTE[shown_ids(self.ids(dialect))]
        colours = cosys_palette()[np.maximum(self.ids(dialect), 0)]
        # the first colour is white; the sky has no colour
        colours[0] = cosys_palette()[self.given[0]] if 0 in self.given else 0
        return colours

    def layer_colours(self, layer: str) -> NDArray[np.uint8]:
        """(n, 3) by instance."""
        if layer not in self.layers:
            raise unknown_name("annotation layer", layer, self.layers)
        table = np.zeros((len(self._server.editor.names()), 3), np.uint8)
        for number, colour in self.layers[layer].items():
            if number < len(table):
                table[number] = colour
        return table

    def annotated(self, layer: str) -> list[int]:
        """The objects of a layer that exist now."""
        self.layer_colours(layer)
        there = set(self._server.editor.present())
        return [number for number in self.layers[layer] if number in there]

    def matching(self, name: str, is_regex: bool) -> list[int]:
        """Instances with this name, or with a name that matches the expression. Case is ignored."""
        pattern, editor = pattern_of(name, is_regex=is_regex), self._server.editor
        found = [number for number in editor.present() if matches(pattern, editor.name_of(number))]
        return [0, *found] if pattern.fullmatch(SKY) else found


def shown_ids(ids: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Ids as AirSim's images show them: -1, which hides an object, as 0; a larger one than 255 as 255."""
    return np.clip(ids, 0, 255).astype(np.uint8)


def _airsim_ids(names: list[str]) -> NDArray[np.int64]:
    """AirSim's initial ids: 5 plus the sum of the letters of a name. Numbered objects of one kind share an id."""
    return np.array(
        [(5 + sum(code for code in map(ord, shown_name(name).lower()) if code >= 97)) % 256 for name in names]
    )


class SegmentationMethods:
    """The segmentation methods that clients may call."""

    def __init__(self, server: ServerState, own: Segmentation) -> None:
        self._server, self._own = server, own

    def simSetSegmentationObjectID(self, mesh_name: str, object_id: int, is_name_regex: bool = False) -> bool:
        found, cosys = self._own.matching(mesh_name, bool(is_name_regex)), self._server.dialect is Dialect.COSYS
        if isinstance(object_id, bool) or not isinstance(object_id, int) or not -1 <= object_id < COSYS_COLOURS:
            raise LinkError(f"object_id is {object_id!r}; give 0 to {COSYS_COLOURS - 1 if cosys else 255}")
        # Unreal limits too large ids to the largest one
        object_id = object_id if cosys else min(object_id, 255)
        for number in found:
            self._own.given[number] = object_id
        self._own.ids_changed()
        return bool(found)

    def simGetSegmentationObjectID(self, mesh_name: str) -> int:
        """-1 if there is no such object."""
        found = self._own.matching(mesh_name, False)
        return int(self._own.ids(self._server.dialect)[found[0]]) if found else -1

    # ---- Cosys-AirSim

    def simListInstanceSegmentationObjects(self) -> list[str]:
        editor = self._server.editor
        return [shown_name(editor.name_of(number)) for number in editor.present()]

    def simListInstanceSegmentationPoses(self, ned: bool = True, only_visible: bool = False) -> list[Map]:
        """All objects count as visible, because no object can be hidden here."""
        must_be_ned(ned)
        editor = self._server.editor
        return [self._server.world.pose(*editor.place_of(number)[:2]) for number in editor.present()]

    def simListAnnotationObjects(self, annotation_name: str) -> list[str]:
        editor = self._server.editor
        return [shown_name(editor.name_of(number)) for number in self._own.annotated(annotation_name)]

    def simListAnnotationPoses(self, annotation_name: str, ned: bool = True, only_visible: bool = False) -> list[Map]:
        """All objects count as visible, because no object can be hidden here."""
        must_be_ned(ned)
        editor = self._server.editor
        return [
            self._server.world.pose(*editor.place_of(number)[:2]) for number in self._own.annotated(annotation_name)
        ]

    def simSetAnnotationObjectColor(
        self, annotation_name: str, mesh_name: str, r: int, g: int, b: int, is_name_regex: bool = False
    ) -> bool:
        colour = tuple(int(np.clip(number_of(part), 0, 255)) for part in (r, g, b))
        return self._annotate(annotation_name, mesh_name, is_name_regex, colour)

    def simSetAnnotationObjectID(
        self, annotation_name: str, mesh_name: str, object_id: int, is_name_regex: bool = False
    ) -> bool:
        value = int(number_of(object_id))
        if not 0 <= value < COSYS_COLOURS:
            raise LinkError(f"object_id is {value}; give 0 to {COSYS_COLOURS - 1}")
        return self._annotate(annotation_name, mesh_name, is_name_regex, tuple(cosys_palette()[value].tolist()), value)

    def simSetAnnotationObjectValue(
        self, annotation_name: str, mesh_name: str, greyscale_value: float, is_name_regex: bool = False
    ) -> bool:
        value = float(np.clip(number_of(greyscale_value), 0.0, 1.0))
        grey = round(255.0 * value)
        return self._annotate(annotation_name, mesh_name, is_name_regex, (grey, grey, grey), value)

    def _annotate(
        self, layer: str, name: str, is_regex: bool, colour: tuple[int, ...], value: float | None = None
    ) -> bool:
        found = self._own.matching(name, bool(is_regex))
        colours = self._own.layers.setdefault(str(layer), {})
        for number in found:
            colours[number] = (colour[0], colour[1], colour[2])
            if value is not None:
                self._own.values[layer, number] = value
        return bool(found)

    def simGetAnnotationObjectColor(self, annotation_name: str, mesh_name: str) -> str:
        return ",".join(map(str, self._own.layers[annotation_name][self._annotated(annotation_name, mesh_name)]))

    def simGetAnnotationObjectID(self, annotation_name: str, mesh_name: str) -> int:
        number = self._annotated(annotation_name, mesh_name)
        return int(self._own.values.get((annotation_name, number), -1))

    def simGetAnnotationObjectValue(self, annotation_name: str, mesh_name: str) -> float:
        number = self._annotated(annotation_name, mesh_name)
        return float(self._own.values.get((annotation_name, number), -1.0))

    def _annotated(self, layer: str, name: str) -> int:
        self._own.layer_colours(layer)
        for number in self._own.matching(name, False):
            if number in self._own.layers[layer]:
                return number
        raise LinkError(f"'{name}' has no annotation in layer '{layer}'")
