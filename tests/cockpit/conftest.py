"""One cockpit for all tests of a worker and one browser per module: starting them takes longer than most tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from cockpit_rig import FLAGS, CockpitRig
from unplotted import leave_out_pictures


@pytest.fixture(scope="module", autouse=True)
def without_pictures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_pictures(patch)
        yield


@pytest.fixture(scope="session")
def lasting_rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CockpitRig]:
    with CockpitRig(tmp_path_factory.mktemp("cockpit")) as made:
        yield made


@pytest.fixture(scope="module")
def rig(lasting_rig: CockpitRig) -> Iterator[CockpitRig]:
    """Nothing of it flies on beside the worker's next tests."""
    yield lasting_rig
    lasting_rig.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Per module: while Playwright runs, other tests of the worker cannot start an event loop of their own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield opened
        opened.close()
