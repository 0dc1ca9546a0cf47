"""Kernels are compiled and tests translated once, before the first test, so that no test's output or time depends on
a cold cache and no two workers do the same work."""

import gc
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from _pytest.assertion import rewrite

COMPILING = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # so it is in a script's background job; tests that press Ctrl-C would wait for ever
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return
    if config.getoption("numprocesses", None):
        config.stash[COMPILING] = subprocess.Popen([sys.executable, Path(__file__).with_name("compiled_kernels.py")])
        rewrite_asserts(config)
    else:
        compile_kernels()


def compile_kernels() -> None:
    from compiled_kernels import import_kernels
    from skyloop.core import jit

    import_kernels()
    jit.prepare()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any) -> None:
    """Workers import the tests while one process compiles, and begin when all is compiled: two that miss the same
    kernel would both compile it."""
    if node.config.stash[COMPILING].wait():
        pytest.exit("the kernels do not compile; see above", 1)


def pytest_unconfigure(config: pytest.Config) -> None:
    if COMPILING in config.stash:
        config.stash[COMPILING].kill()
        config.stash[COMPILING].wait()


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
    "fabric/test_fabric_patterns", "ui/test_page", "test_docs_tutorials", "datasets/test_recording_run",
    "datasets/test_flying_once", "perception/test_detection_training", "gym/test_device_environment",
    "options/test_navigate_options", "sim/test_scenario", "test_examples", "test_readme", "test_docs_datasets",
    "navigation/test_vio_filter", "datasets/test_people_set", "clients/test_cpp_sut", "campaigns/test_with_ray",
    "tasks/test_navigate", "tasks/test_sync_hil_tasks", "test_site", "reproductions/test_sync_hil",
    "gym/test_device_flight", "reproductions/test_radar_trial", "sim/test_snapshot_of_edits", "test_bad_input",
    "test_folder_removed", "airsim/test_airsim_clients", "datasets/test_two_vehicles", "test_absurd_numbers",
    "test_same_object", "ui/test_verbs", "clients/test_cpp_client", "campaigns/test_seeds", "campaigns/test_campaign",
    "datasets/test_localising", "test_interrupts", "test_cli", "links/test_targets", "datasets/test_click_missions",
    "ui/test_flight", "ui/test_view", "ui/test_same_bytes", "gym/test_gym_docs", "links/test_ros2_out",
    "navigation/test_vio_backends", "sensors/radar/test_power", "sim/test_map_streams", "links/test_coordinator",
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
