"""The renderer gives way to whatever started it, also when that is nice itself."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.renders

NICENESS = """
import os
from skyloop.rendering.process import take_short_turns
os.nice({first})
take_short_turns(10)
print(os.nice(0))
"""


@pytest.mark.parametrize(("first", "then"), [(0, 10), (5, 15), (15, 19)])
def test_its_niceness_is_added_to_that_of_its_parent(first: int, then: int) -> None:
    command = [sys.executable, "-c", NICENESS.format(first=first)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(said.stdout) == min(then + _own(), 19)


def _own() -> int:
    """What this process was started with."""
    return int(subprocess.run(["nice"], capture_output=True, text=True, check=True).stdout)
