"""Proof by clients we did not write: AirSim's own and Cosys-AirSim's, each in an environment of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airsim_clients import client_python, run_client
from airsim_rpc import Rpc, Running
from PIL import Image

from skyloop.links.airsim.calls import UNSUPPORTED

pytestmark = pytest.mark.renders

SCRIPT = Path(__file__).parent / "airsim_script.py"


CLIENTS = ["airsim", "cosysairsim"]


@pytest.fixture(scope="module")
def prepared() -> None:
    """Before the server: it flies as fast as it can, and would do so while they are installed."""
    for client in CLIENTS:
        client_python(client)


@pytest.fixture(scope="module", params=CLIENTS)
def found(
    request: pytest.FixtureRequest, prepared: None, server: Running, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    folder = tmp_path_factory.mktemp(request.param)
    pausing = Rpc(server.port)
    pausing("simPause", False)
    said = run_client(request.param, SCRIPT, request.param, str(server.port), str(folder))
    pausing("simPause", True)
    pausing.close()
    return {**json.loads(said.rpartition("FOUND ")[2]), "client": request.param, "folder": folder, "said": said}


def test_it_connects_and_flies(found: Any) -> None:
    assert "Connected!" in found["said"] and "older version" not in found["said"]
    for up in found["up"]:
        assert up == pytest.approx([0.0, 0.0, -2.0], abs=0.35)
    for corner in found["corners"]:
        assert corner[3:] == pytest.approx(corner[:3], abs=0.6)
    assert found["landed"] == 0
    assert found["back"] == pytest.approx([0.0, 0.0, 0.0], abs=0.01)
    assert "simRunConsoleCommand" in found["refused"]


def test_every_image_type_arrives(found: Any) -> None:
    for kind, (n_bytes, n_floats, width, height) in found["images"].items():
        assert (width, height, n_bytes) == (64, 48, 64 * 48 * 3)
        assert n_floats == 64 * 48 * (2 if kind == "8" else 1)
        picture = np.asarray(Image.open(found["folder"] / f"{found['client']}_{kind}.png"))
        assert picture.shape == (48, 64, 3)
        if kind not in ("4", "8", "9"):  # near ground alone has disparity, and it hangs still
            assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 2


def test_sensors_and_a_collision_arrive(found: Any) -> None:
    assert found["points"] > 100
    assert found["imu"] == pytest.approx(-9.8, abs=2.0) and found["gps"] == pytest.approx(47.6414, abs=1e-3)
    assert found["baro"] == pytest.approx(99_800.0, rel=0.01) and found["mag"] > 0.3
    assert found["distance"] == pytest.approx(3.1, abs=1.0)
    assert found["hit"] == [True, "TemplateCube_Rounded_1"]
    if found["client"] == "cosysairsim":
        assert found["instances"][0] == found["instances"][1] > 40 and found["lifted"] == pytest.approx(0.0, abs=1e-6)
        assert found["same place"] == [0.0, 0.0]
        for seen, listed in (found["colours"], found["given"]):
            assert seen == listed, "as the client's own colour map has it"


@pytest.mark.parametrize("client", CLIENTS)
def test_every_method_the_client_can_call_is_answered(client: str, known_methods: set[str]) -> None:
    folder = client_python(client).parent.parent / "lib"
    (source,) = folder.rglob(f"{client}/client.py")
    called = set(re.findall(r"call(?:_async)?\(\s*'(\w+)'", source.read_text(encoding="utf-8")))
    assert len(called) > 100
    assert called - known_methods - set(UNSUPPORTED) == set()
