"""The estimators of a scenario."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, model_validator

from skyloop.core.plugins import Registry
from skyloop.core.quantities import Delay
from skyloop.vehicle.airframe import STRICT
from skyloop_client.errors import nearest_name
from skyloop_client.user_code import is_plugin

Options = dict[str, Any]
"""Arguments of a class of the user's, by name."""
ESTIMATORS: Registry[Any] = Registry("estimators", "estimator")
"""Classes made as `Class(setup, **options)`, with a method `on_message`; or one of the functions of
`estimator_assembly` that make a part."""
PARTS_OF_THE_SIMULATION = ("ekf", "link")
"""Kinds that are no classes: they cannot run at the other end of a link."""


class EstimatorConfig(BaseModel):
    """An estimator: its estimates are on the stream `<vehicle>/<its name>`, and `state: <its name>` flies on them."""

    model_config = STRICT

    kind: str
    """module:Class, a name of `skyloop list`, ekf (the built-in one), or link: it runs at the other end of
    `skyloop loop`."""
    inputs: list[str] = []
    """Streams whose messages it gets: `imu` is short for `<vehicle>/imu`, and `state` is the one that the controller
    flies on. Left out: all sensors of the vehicle."""
    latency: Delay = 0.0
    """s, the computing time from the arrival of a message to that of its estimate."""
    options: Options = Field(default_factory=dict)
    """Arguments of the class's constructor."""
    products: dict[str, str] = Field(default_factory=dict)
    """Of kind link: the streams it publishes, such as {detect/boxes: Detections}, so that others may have them as
    inputs. Left out: a stream of estimates."""

    @model_validator(mode="after")
    def _kind_is_known(self) -> EstimatorConfig:
        if not is_plugin(self.kind) and self.kind not in ESTIMATORS:
            hint = nearest_name(self.kind, ESTIMATORS)
            raise ValueError(f"no estimator of kind '{self.kind}'; {hint} Or your own as module:Class")
        if self.options and self.kind == "ekf":
            raise ValueError("the built-in EKF has its numbers under ekf; leave out options")
        if self.latency and self.kind == "link":
            raise ValueError("what computing takes on the other end of a link is measured; leave out latency")
        if self.products and self.kind != "link":
            raise ValueError("a class says itself what it publishes; products are for kind link")
        for name in self.inputs:
            if self.inputs.count(name) > 1:
                raise ValueError(f"'{name}' is there twice under inputs")
        return self
