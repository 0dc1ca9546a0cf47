"""Both parts of the landing detector, one image after the other."""

from __future__ import annotations

from dataclasses import dataclass

from skyloop_landing.vision.figures import PRIOR_IMAGES, MarkerDetection, Rules, SeenMarker, find_marker, min_area
from skyloop_landing.vision.object_list import ObjectFinder, ObjectList, Pixels


@dataclass(frozen=True, slots=True)
class MarkerSighting:
    """The last marker, and how many images ago it was seen. What the processor keeps between two images."""

    marker: SeenMarker | None = None
    age: int = 0

    def after(self, detection: MarkerDetection) -> MarkerSighting:
        if detection.marker is not None:
            return MarkerSighting(detection.marker)
        if self.age + 1 >= PRIOR_IMAGES:
            return MarkerSighting()
        return MarkerSighting(self.marker, self.age + 1)


class LandingDetector:
    """Finds the marker in one image after the other."""

    def __init__(self, rules: Rules = "touchdown") -> None:
        self._rules: Rules = rules
        # the published detector knows no flat tiles
        self._finder = ObjectFinder(min_contrast=0) if rules == "published" else ObjectFinder()
        self._sighting = MarkerSighting()
        self.listed: ObjectList | None = None
        """Of the last image."""

    def look(self, image: Pixels, altitude: float) -> MarkerDetection:
        """altitude: m, of the camera above the marker. Firmware is given whole centimetres, so these are used."""
        altitude_cm = round(100.0 * altitude)
        self.listed = self._finder.find(image, min_area(altitude_cm, self._rules))
        detection = find_marker(self.listed, altitude_cm, self._sighting.marker, self._rules)
        self._sighting = self._sighting.after(detection)
        return detection
