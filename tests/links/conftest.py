"""One simulation with a listener for all tests of a module, looked at before and after each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from link_rig import Rig, eventually, flying, held
from skyloop_client.errors import LinkError
from unplotted import leave_out_pictures

if TYPE_CHECKING:
    from ros2_rig import Node


@pytest.fixture(scope="module", autouse=True)
def without_pictures() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_pictures(patch)
        yield


@pytest.fixture(scope="module")
def one_rig() -> Iterator[Rig]:
    with flying(ports=2) as rig:
        yield rig


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    """A ROS 2 node of other people's making."""
    from ros2_rig import Node

    node = Node()
    yield node
    node.close()


@pytest.fixture
def rig(one_rig: Rig) -> Iterator[Rig]:
    """Before and after each test the same descriptors and threads are held, and after it the simulator still flies."""
    still_flies(one_rig)
    assert eventually(lambda: not one_rig.listener._peers)
    before = held()
    one_rig.news.clear()
    yield one_rig
    assert eventually(lambda: not one_rig.listener._peers)
    assert eventually(lambda: all(now <= then for now, then in zip(held(), before, strict=True))), (held(), before)
    assert one_rig.error is None
    still_flies(one_rig)


def still_flies(rig: Rig) -> None:
    # the last pilot's goodbye may still be on its way
    session = eventually(lambda: _session(rig))
    with session:
        t_ns = session.ask().t_ns
        assert session.ask(until_ns=t_ns + 20_000_000).t_ns == t_ns + 20_000_000


def _session(rig: Rig) -> Any:
    with contextlib.suppress(LinkError):
        return rig.connect(clock=lambda: 0)
