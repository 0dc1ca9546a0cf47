"""Kernels are compiled and tests translated once, before the workers start, so that no test's output or time depends on
a cold cache and no two workers do the same work."""

import gc
import importlib
import signal
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # so it is in a script's background job; tests that press Ctrl-C would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):
        compile_kernels()
        if config.getoption("numprocesses", None):
            rewrite_asserts(config)


def compile_kernels() -> None:
    """All of them: two workers that miss the same one would both compile it."""
    from skyloop.core import jit

    package = Path(jit.__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        if b"\n@kernel" in path.read_bytes():
            importlib.import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))
    jit.prepare()


def rewrite_asserts(config: pytest.Config) -> None:
    """As pytest does when it imports a test. Every worker imports all of them, and all begin at once: in a fresh clone
    this was more than half of each worker's start."""
    state = config.stash[rewrite.assertstate_key]
    for given in config.args:
        place = config.invocation_params.dir / given.partition("::")[0]
        for path in place.rglob("test_*.py") if place.is_dir() else [place] if place.is_file() else []:
            folder = rewrite.get_cache_dir(path)
            kept = folder / f"{path.stem}{rewrite.PYC_TAIL}"
            if rewrite.try_makedirs(folder) and rewrite._read_pyc(path, kept, state.trace) is None:
                source, code = rewrite._rewrite_test(path, config)
                rewrite._write_pyc(state, code, source, kept)


LONGEST = (
    "ui/test_page", "test_readme", "test_docs_datasets", "test_docs_tutorials", "gym/test_device_environment",
    "datasets/test_flying_once", "datasets/test_recording_run", "perception/test_detection_training",
    "tasks/test_sync_hil_tasks", "sim/test_snapshot_of_edits", "sim/test_scenario", "datasets/test_two_vehicles",
    "campaigns/test_with_ray", "campaigns/test_campaign", "reproductions/test_radar_trial", "test_site",
    "test_examples", "ui/test_verbs", "ui/test_flight", "ui/test_view", "ui/test_same_bytes", "gym/test_gym_docs",
    "tasks/test_navigate", "airsim/test_airsim_clients", "links/test_ros2_out", "navigation/test_vio_backends",
    "datasets/test_people_set", "datasets/test_click_missions", "sensors/radar/test_power", "sim/test_map_streams",
    "gym/test_device_flight", "fabric/test_fabric_patterns", "links/test_coordinator", "links/test_targets",
    "clients/test_cpp_sut", "reproductions/test_sync_hil",
)  # fmt: skip
"""Files of more than ten seconds. They come first, so that at the end no worker waits long for another."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A file's tests stay together on one worker (`--dist loadfile`), because many share something expensive."""
    tests = Path(__file__).parent
    places = {(tests / f"{name}.py"): place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_collection_finish() -> None:
    # thousands of collected tests stay for good; not looking through them again and again saves a twentieth of the time
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
