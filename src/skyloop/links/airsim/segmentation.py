"""AirSim's segmentation ids, and Cosys-AirSim's instance lists and annotation layers."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from skyloop.links.airsim.palette import COSYS_PALETTE, N_COLOURS
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Axes, Map, must_be_ned, number_of, pattern_of, shown_name
from skyloop_client.errors import LinkError, unknown_name


class Segmentation:
    def __init__(self, server: ServerState) -> None:
        self._server = server
        self.given: dict[int, int] = {}
        """Ids by instance, where a client gave one."""
        self._ids = np.zeros(0, np.uint8)
        self._cosys = np.zeros((0, 3), np.uint8)
        self.layers: dict[str, dict[int, tuple[int, int, int]]] = {
            name: {} for name in server.options.annotation_layers
        }
        """Colours by instance, of annotation layers."""
        self.values: dict[tuple[str, int], float] = {}
        server.on_join.append(lambda vehicle: self.ids_changed())

    def ids_changed(self) -> None:
        """Things were added."""
        self._ids, self._cosys = np.zeros(0, np.uint8), np.zeros((0, 3), np.uint8)

    # ---- for pictures

    def ids(self) -> NDArray[np.uint8]:
        return self._table()

    def cosys_colours(self) -> NDArray[np.uint8]:
        """(n, 3) by instance: the k-th of the list of instances has the k-th colour unless it was given an id."""
        n = len(self._names())
        if len(self._cosys) != n:
            ids = np.arange(-1, n - 1) % N_COLOURS
            for number, value in self._given_now(n):
                ids[number] = value
            self._cosys = COSYS_PALETTE[ids]
            self._cosys[0] = 0
        return self._cosys

    def colours(self, layer: str) -> NDArray[np.uint8]:
        """(n, 3) by instance."""
        if layer not in self.layers:
            raise unknown_name("annotation layer", layer, self.layers)
        table = np.zeros((len(self._names()), 3), np.uint8)
        for number, colour in self.layers[layer].items():
            if number < len(table):
                table[number] = colour
        return table

    def annotated(self, layer: str) -> list[int]:
        """Things of a layer that are there."""
        self.colours(layer)
        there = set(self._server.editor.present())
        return [number for number in self.layers[layer] if number in there]

    def _table(self) -> NDArray[np.uint8]:
        names = self._names()
        if len(self._ids) != len(names):
            # a name gives the same id in every run, as in AirSim; 0 is the sky
            own = [1 + zlib.crc32(name.encode()) % 255 for name in names]
            own[0] = 0
            if not self._server.options.labels_all:
                own = [0] * len(names)
            for number, value in self._given_now(len(names)):
                own[number] = value % 256
            self._ids = np.array(own, np.uint8)
        return self._ids

    def _names(self) -> list[str]:
        return self._server.editor.names()

    def _given_now(self, n: int) -> list[tuple[int, int]]:
        """Without those of things that are no longer there: a snapshot from before them was restored."""
        return [(number, value) for number, value in self.given.items() if number < n]

    def matching(self, name: str, is_regex: bool) -> list[int]:
        """Instances of a name, or of names that match an expression; upper and lower case are alike."""
        pattern = pattern_of(name, is_regex=is_regex)
        editor = self._server.editor
        return [
            number
            for number in editor.present()
            if pattern.fullmatch(name := editor.name_of(number)) or pattern.fullmatch(shown_name(name))
        ]


class SegmentationMethods:
    """What clients may call."""

    def __init__(self, server: ServerState, own: Segmentation) -> None:
        self._server, self._own = server, own

    def simSetSegmentationObjectID(self, mesh_name: str, object_id: int, is_name_regex: bool = False) -> bool:
        found = self._own.matching(mesh_name, bool(is_name_regex))
        if isinstance(object_id, bool) or not isinstance(object_id, int) or not 0 <= object_id < N_COLOURS:
            raise LinkError(f"object_id is {object_id!r}; give 0 to 255, or to {N_COLOURS - 1} with Cosys-AirSim")
        for number in found:
            self._own.given[number] = object_id
        self._own.ids_changed()
        return bool(found)

    def simGetSegmentationObjectID(self, mesh_name: str) -> int:
        """-1 where there is no such object."""
        found = self._own.matching(mesh_name, False)
        return int(self._own.ids()[found[0]]) if found else -1

    # ---- Cosys-AirSim

    def simListInstanceSegmentationObjects(self) -> list[str]:
        editor = self._server.editor
        return [shown_name(editor.name_of(number)) for number in editor.present()]

    def simListInstanceSegmentationPoses(self, ned: bool = True, only_visible: bool = False) -> list[Map]:
        """All of them are visible: nothing here can be hidden."""
        must_be_ned(ned)
        editor = self._server.editor
        return [Axes().pose(*editor.place_of(number)[:2]) for number in editor.present()]

    def simListAnnotationObjects(self, annotation_name: str) -> list[str]:
        editor = self._server.editor
        return [shown_name(editor.name_of(number)) for number in self._own.annotated(annotation_name)]

    def simListAnnotationPoses(self, annotation_name: str, ned: bool = True, only_visible: bool = False) -> list[Map]:
        """All of them are visible: nothing here can be hidden."""
        must_be_ned(ned)
        editor = self._server.editor
        return [Axes().pose(*editor.place_of(number)[:2]) for number in self._own.annotated(annotation_name)]

    def simSetAnnotationObjectColor(
        self, annotation_name: str, mesh_name: str, r: int, g: int, b: int, is_name_regex: bool = False
    ) -> bool:
        colour = tuple(int(np.clip(number_of(part), 0, 255)) for part in (r, g, b))
        return self._annotate(annotation_name, mesh_name, is_name_regex, colour)

    def simSetAnnotationObjectID(
        self, annotation_name: str, mesh_name: str, object_id: int, is_name_regex: bool = False
    ) -> bool:
        value = int(number_of(object_id)) % N_COLOURS
        return self._annotate(annotation_name, mesh_name, is_name_regex, tuple(COSYS_PALETTE[value].tolist()), value)

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
        self._own.colours(layer)
        for number in self._own.matching(name, False):
            if number in self._own.layers[layer]:
                return number
        raise LinkError(f"'{name}' has no annotation in layer '{layer}'")
