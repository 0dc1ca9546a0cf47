"""AirSim's segmentation ids, and Cosys-AirSim's instance lists and annotation layers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skyloop.links.airsim.dialect import Dialect
from skyloop.links.airsim.palette import AIRSIM_PALETTE, COSYS_COLOURS, cosys_palette
from skyloop.links.airsim.scene_names import SKY, matches, shown_name
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map, must_be_ned, number_of, pattern_of
from skyloop_client.errors import LinkError, unknown_name


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
