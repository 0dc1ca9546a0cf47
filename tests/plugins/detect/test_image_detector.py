"""Detectors in the loop: the one that reads labels, one of the user's own, and the window."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from people_scenes import CAMERA, START

from skyloop.recording.stream_pictures import ImagesSeen, boxes_picture
from skyloop_client.errors import PartError, ScenarioError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import CameraImage, Detections, ImageTruth, Label, Message
from skyloop_client.streams import StreamInfo
from skyloop_detect.image_detector import ImageDetector, with_boxes
from skyloop_detect.label_detector import LabelDetector, LabelDetectorConfig, contrast_of
from virtual_screens import needs_screen, said_before_a_screen

TRUTH = StreamInfo("truth/drone/front", "ImageTruth", None, "drone")
BOX = (100, 80, 111, 119)
"""12 x 40 px."""


def label(instance: int = 3, box: tuple[int, int, int, int] = BOX, visible: int = 300) -> Label:
    centre = np.array([8.0, 0.0, 0.9])
    return Label(instance, "somebody", "person", box, visible, 0.0, 0.0, centre, np.array([0.5, 0.5, 1.7]), 0.0, 9.0)


def picture(levels: float) -> np.ndarray:
    """Somebody brighter than the ground by so many levels."""
    image = np.full((240, 320, 3), 100, np.uint8)
    image[80:120, 100:112] += np.uint8(levels)
    return image


def setup(*infos: StreamInfo) -> EstimatorSetup:
    return EstimatorSetup("drone", "detect", {info.name: info for info in infos}, START)


def looked(detector: ImageDetector, t_ns: int, image: np.ndarray, *labels: Label) -> Detections | None:
    truth = ImageTruth(t_ns, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), labels=labels)
    assert detector.on_message(Message(TRUTH.name, 0, t_ns, t_ns, truth)) is None
    answer = detector.on_message(Message(CAMERA.name, 0, t_ns, t_ns, CameraImage(t_ns, image)))
    return None if answer is None else answer[1]


def test_contrast_is_that_of_the_box_against_what_is_around_it() -> None:
    assert contrast_of(picture(30.0)[..., 0].astype(float), BOX) == pytest.approx(30.0)
    assert contrast_of(np.full((240, 320), 70.0), BOX) == 0.0


def test_chance_falls_with_contrast_and_size() -> None:
    detector = LabelDetector(LabelDetectorConfig(), 1, "front")
    chances = [detector.chance(picture(levels)[..., 0].astype(float), label()) for levels in (60, 12, 6, 2)]
    assert chances == sorted(chances, reverse=True) and chances[0] > 0.95 and chances[3] < 0.05
    assert chances[2] == pytest.approx(0.5, abs=0.02), "half of them at the contrast of one half"
    small = [detector.chance(picture(60)[..., 0].astype(float), label(visible=px)) for px in (300, 50, 16, 4)]
    assert small == sorted(small, reverse=True) and small[2] == pytest.approx(0.5, abs=0.02)


def test_people_are_found_as_often_as_their_chance_says() -> None:
    detector = LabelDetector(LabelDetectorConfig(false_boxes=0.0), 1, "front")
    grey = picture(8)
    people = [label(instance) for instance in range(40)]
    found = [len(detector.find(grey, people, k * 1_000_000_000)[1]) for k in range(50)]
    chance = detector.chance(grey[..., 0].astype(float), people[0])
    assert np.mean(found) / 40 == pytest.approx(chance, abs=0.05)
    # the same again within a second more often than by chance
    both = [set(detector_names(detector, grey, people, t)) for t in (0, 100_000_000)]
    assert len(both[0] & both[1]) > 40 * chance**2
    assert detector.find(grey, people, 7)[0].tobytes() == detector.find(grey, people, 7)[0].tobytes()


def detector_names(detector: LabelDetector, grey: np.ndarray, people: list[Label], t_ns: int) -> list[int]:
    return [person.instance for person in people if len(detector.find(grey, [person], t_ns)[1])]


def test_labels_become_boxes_stamped_as_the_image() -> None:
    detector = ImageDetector(setup(CAMERA, TRUTH), detector="labels", options={"false_boxes": 0.0, "edge_share": 0.0})
    record = looked(detector, 500_000_000, picture(60), label())
    assert record is not None and record.t_ns == 500_000_000 and record.source == "front"
    assert record.boxes_px == pytest.approx(np.array([[100.0, 80.0, 112.0, 120.0]]), abs=2.5)
    assert detector.products == ImageDetector.products_of("detect") == {"detect/boxes": "Detections"}
    saved = detector.snapshot()
    detector.restore(saved)


def test_a_detector_of_ones_own_and_what_is_wrong_with_others(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "import numpy as np\n"
        "class Mine:\n"
        "    def find(self, image):\n"
        "        assert image.shape == (240, 320, 3)\n"
        "        return np.array([[1.0, 2.0, 3.0, 4.0]]), ('person',), np.array([image.mean() / 255.0])\n"
        "def nothing():\n"
        "    return 7\n"
    )
    detector = ImageDetector(setup(CAMERA), detector=f"{path}:Mine")
    grey = CameraImage(5, np.full((240, 320), 51, np.uint8))
    answer = detector.on_message(Message(CAMERA.name, 0, 5, 5, grey))
    assert answer is not None and answer[1].scores.tolist() == [0.2]
    for options, error, words in (
        ({"detector": "netwrok"}, PartError, "no detector named 'netwrok'; give network, labels"),
        ({"detector": f"{path}:nothing"}, PartError, "returns a int without find"),
        ({"detector": "labels"}, PartError, "needs the camera's truth"),
        ({"detector": "labels", "options": {"half": 2}}, ScenarioError, "half"),
        ({"windw": True}, ScenarioError, "windw"),
    ):
        with pytest.raises(error, match=words):
            ImageDetector(setup(CAMERA, TRUTH) if "options" in options else setup(CAMERA), **options)
    with pytest.raises(PartError, match="looks at 0 cameras"):
        ImageDetector(setup(TRUTH), detector="labels")


def test_boxes_are_drawn_where_they_are() -> None:
    found = Detections(7, np.array([[10.0, 20.0, 30.0, 60.0]]), ("person",), np.array([0.9]), source="front")
    image = np.zeros((120, 160, 3), np.uint8)
    drawn = with_boxes(image, found.boxes_px)
    assert drawn[20, 15].any() and drawn[59, 15].any() and drawn[40, 10].any() and drawn[40, 29].any()
    assert not drawn[40, 20].any() and not image.any()
    enlarged = boxes_picture(image, found)
    assert enlarged.shape == (240, 320, 3) and enlarged[80, 20].any() and not enlarged[80, 40].any()


def test_boxes_that_come_before_their_image_are_drawn_with_it() -> None:
    seen = ImagesSeen()
    found = Detections(7, np.zeros((0, 4)), (), np.zeros(0), source="front")
    message = Message("drone/detect/boxes", 0, 7, 7, found)
    assert seen.picture(message) is None
    seen.add("drone/front", CameraImage(7, np.zeros((8, 8, 3), np.uint8)))
    assert seen.waiting("drone/front") == [message] and seen.waiting("drone/front") == []
    assert seen.picture(message) is not None


WINDOW = """
import numpy as np
from skyloop_detect.image_detector import DetectionWindow, with_boxes
from skyloop_client.messages import Detections
image = np.full((60, 80, 3), 40, np.uint8)
found = Detections(0, np.array([[10.0, 20.0, 30.0, 50.0]]), ("person",), np.ones(1))
window = DetectionWindow("detect")
for _ in range(3):
    window.show(image, found)
seen = window.seen()
window.close()
window.close()
print(seen.shape, np.array_equal(seen[::2, ::2], with_boxes(image, found.boxes_px)))
"""


@pytest.mark.processes
@needs_screen
def test_a_window_shows_the_image_with_its_boxes() -> None:
    assert said_before_a_screen(WINDOW, "640x480x24") == "(120, 160, 3) True"
