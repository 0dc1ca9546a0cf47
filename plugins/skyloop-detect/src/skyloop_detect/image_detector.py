"""A detector in the loop: an estimator that looks at each image and publishes boxes, drawn in a window if wished.

    estimators:
      detect:
        kind: people-detector
        inputs: [front]
        options: {detector: "my_detector.py:load"}

A detector is what `find(image)` of an (h, w, 3) uint8 image gives as boxes (n, 4) px, n classes and (n,) scores. The
option names a function that returns one. `detector: labels` is the detector that reads the truth (`label_detector`);
its inputs are the camera and the camera's truth: [front, truth/drone/front].
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from skyloop.core.image_viewer import ImageWindow
from skyloop.core.validation import validated
from skyloop_client.errors import PartError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, CameraImage, Detections, ImageTruth, Message
from skyloop_client.user_code import is_plugin, load_plugin
from skyloop_detect.label_detector import Found, LabelDetector, LabelDetectorConfig

SCALE = 2
"""Screen pixels per pixel of an image."""
YELLOW = (255, 210, 40)


class DetectionWindow:
    """Opens with the first image. Closing the window ends the flight."""

    def __init__(self, title: str) -> None:
        self._title = f"skyloop: {title}"
        self._window: ImageWindow | None = None

    def show(self, image: NDArray[np.uint8], found: Detections) -> None:
        if self._window is None:
            size = image.shape[1], image.shape[0]
            self._window = ImageWindow(self._title, size, instead="Or leave out window: true", scale=SCALE)
        self._window.show(with_boxes(image, found.boxes_px))

    def seen(self) -> NDArray[np.uint8]:
        """What is on the screen, for tests: (rows, columns, 3), first row on top."""
        assert self._window is not None
        return self._window.seen()

    def close(self) -> None:
        """It may be called twice."""
        if self._window is not None:
            self._window.close()
            self._window = None


def with_boxes(image: NDArray[np.uint8], boxes_px: Array) -> NDArray[np.uint8]:
    """A copy with a line of one pixel around each box."""
    drawn = image.copy()
    height, width = image.shape[:2]
    for left, top, right, bottom in np.round(boxes_px).astype(int).tolist():
        x0, x1 = sorted((min(max(left, 0), width - 1), min(max(right - 1, 0), width - 1)))
        y0, y1 = sorted((min(max(top, 0), height - 1), min(max(bottom - 1, 0), height - 1)))
        drawn[[y0, y1], x0 : x1 + 1] = YELLOW
        drawn[y0 : y1 + 1, [x0, x1]] = YELLOW
    return drawn


LABELS = "labels"
NETWORK = "skyloop_detect.detector:load_detector"
"""The shipped network."""


@runtime_checkable
class BoxDetector(Protocol):
    def find(self, image: NDArray[np.uint8]) -> Found: ...


class ImageDetectorConfig(BaseModel):
    """What looks at the images."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    detector: str = "network"
    """network (the shipped one), labels (reads the truth; for tests of what comes after detection), or module:Function
    that returns an object with `find(image)`."""
    options: dict[str, Any] = Field(default_factory=dict)
    """For that function, such as {runtime: torch}. Of `labels`: those of LabelDetectorConfig."""
    seed: int = Field(0, ge=0)
    """Of `labels`: what its chance depends on."""
    window: bool = False
    """true: a window shows each image with its boxes."""


class ImageDetector:
    """Publishes `<name>/boxes`, stamped as the image is. Everything is loaded in the constructor, which takes no
    simulated time."""

    def __init__(self, setup: EstimatorSetup, **options: Any) -> None:
        """options: those of ImageDetectorConfig."""
        where = f"{setup.vehicle}.estimators.{setup.name}.options"
        config: ImageDetectorConfig = validated(ImageDetectorConfig, options, where)
        cameras = [info for info in setup.infos.values() if info.message == "CameraImage"]
        truths = [info for info in setup.infos.values() if info.message == "ImageTruth"]
        if len(cameras) != 1:
            raise PartError(f"estimator '{setup.name}' looks at {len(cameras)} cameras; put one under inputs")
        self._source = cameras[0].name.partition("/")[2]
        self.products = self.products_of(setup.name)
        """The streams it publishes on."""
        (self._stream,) = self.products
        self._labels: LabelDetector | None = None
        self._detector: BoxDetector | None = None
        if config.detector == LABELS:
            if not truths:
                raise PartError(
                    f"estimator '{setup.name}': detector labels needs the camera's truth; give the camera "
                    f"truth: [labels], and put truth/{cameras[0].name} under inputs"
                )
            found = validated(LabelDetectorConfig, config.options, f"{where}.options")
            self._labels = LabelDetector(found, config.seed, cameras[0].name)
        else:
            self._detector = detector_from(config.detector, config.options)
            details = cameras[0].details
            # the first image takes longer than the others
            self._detector.find(np.zeros((int(details["height"]), int(details["width"]), 3), np.uint8))
        self._window = DetectionWindow(setup.name) if config.window else None
        self._truths: dict[int, ImageTruth] = {}
        """Of `labels`: by stamp, of images that have not arrived yet."""

    @staticmethod
    def products_of(name: str) -> dict[str, str]:
        return {f"{name}/boxes": "Detections"}

    def on_message(self, message: Message) -> tuple[str, Detections] | None:
        data = message.data
        if isinstance(data, ImageTruth) and self._labels is not None:
            self._truths[data.t_ns] = data
        elif isinstance(data, CameraImage):
            return self._look(data)
        return None

    def _look(self, image: CameraImage) -> tuple[str, Detections] | None:
        if self._detector is not None:
            return self._message(image, self._detector.find(colour_of(image)))
        assert self._labels is not None
        truth = self._truths.get(image.t_ns)
        self._truths = {t_ns: kept for t_ns, kept in self._truths.items() if t_ns > image.t_ns}
        return (
            None if truth is None else self._message(image, self._labels.find(image.colour, truth.labels, image.t_ns))
        )

    def _message(self, image: CameraImage, found: Found) -> tuple[str, Detections]:
        boxes, classes, scores = found
        record = Detections(image.t_ns, np.asarray(boxes, np.float64), tuple(classes), scores, source=self._source)
        if self._window is not None:
            self._window.show(colour_of(image), record)
        return self._stream, record

    def snapshot(self) -> dict[int, ImageTruth]:
        """Detectors themselves remember nothing from image to image."""
        return dict(self._truths)

    def restore(self, saved: dict[int, ImageTruth]) -> None:
        self._truths = dict(saved)


def colour_of(image: CameraImage) -> NDArray[np.uint8]:
    """(h, w, 3), also of a grey image."""
    pixels = image.colour
    return pixels if pixels.ndim == 3 else np.repeat(pixels[..., None], 3, axis=2)


def detector_from(name: str, options: dict[str, Any]) -> BoxDetector:
    """The object that a name stands for; anything without `find` is refused."""
    source = NETWORK if name == "network" else name
    if not is_plugin(source):
        raise PartError(f"no detector named '{name}'; give network, labels, or module:Function")
    detector = load_plugin(source)(**options)
    if not isinstance(detector, BoxDetector):
        raise PartError(f"'{source}' returns a {type(detector).__name__} without find(image)")
    return detector
