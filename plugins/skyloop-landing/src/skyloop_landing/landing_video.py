"""The monitor of a landing as a video in the run folder: all images from its beginning to the first contact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from skyloop.core.bus import Bus
from skyloop_client.messages import CameraImage, Detections, Event, EventKind, LandingStatus, Message
from skyloop_landing.monitor import monitor_picture
from skyloop_landing.motion_jpeg import MotionJpeg

BY_AUTOPILOT = "the autopilot lands straight down"


@dataclass(slots=True)
class _Landing:
    """Of one vehicle."""

    status: LandingStatus
    figures: Detections | None = None
    image: CameraImage | None = None
    """The newest; it is drawn when the next one comes, because what was found in it is told in between."""
    video: MotionJpeg | None = None
    over: bool = False


class LandingVideos:
    """Listens during a run, and writes `landing-<vehicle>.avi` of each vehicle that publishes a LandingStatus."""

    def __init__(self, bus: Bus, folder: Path) -> None:
        self._bus, self._folder = bus, folder
        self._landings: dict[str, _Landing] = {}
        self._images: dict[str, CameraImage] = {}
        """By stream, the newest."""
        bus.on_every(self._take)

    def _take(self, message: Message) -> None:
        data, vehicle = message.data, message.stream.partition("/")[0]
        if isinstance(data, CameraImage):
            self._on_image(vehicle, message.stream, data)
        elif isinstance(data, LandingStatus):
            landing = self._landings.setdefault(vehicle, _Landing(data))
            landing.status = data
        elif vehicle in self._landings:
            self._on_other(vehicle, data)

    def _on_other(self, vehicle: str, data: object) -> None:
        landing = self._landings[vehicle]
        if isinstance(data, Detections) and data.t_ns == landing.status.t_ns:
            landing.figures = data
            stream = f"{vehicle}/{data.source}"
            if landing.video is None and stream in self._images:
                rate = self._bus.infos[stream].rate
                video_rate = (30, 1) if rate is None else (rate.num, rate.den)
                landing.video = MotionJpeg(self._folder / f"landing-{vehicle}.avi", video_rate)
                landing.image = self._images[stream]
        elif isinstance(data, Event) and data.kind in (EventKind.CONTACT, EventKind.LANDED):
            # on the ground there is nothing before the camera
            self._draw(landing)
            landing.over = True

    def _on_image(self, vehicle: str, stream: str, image: CameraImage) -> None:
        self._images[stream] = image
        landing = self._landings.get(vehicle)
        if landing is None or landing.figures is None or stream != f"{vehicle}/{landing.figures.source}":
            return
        self._draw(landing)
        landing.image = image
        landing.over |= landing.status.stage == "given up"

    def _draw(self, landing: _Landing) -> None:
        image, status, figures = landing.image, landing.status, landing.figures
        if landing.over or image is None or landing.video is None:
            return
        if status.t_ns != image.t_ns:
            figures = None
            if status.stage == "land":
                status = replace(
                    status, t_ns=image.t_ns, found=False, velocity=np.zeros(3), yaw_rate=0.0, reason=BY_AUTOPILOT
                )
        landing.video.add(monitor_picture(image.colour, status, figures))

    def finish(self) -> None:
        for landing in self._landings.values():
            self._draw(landing)
            if landing.video is not None:
                landing.video.close()
