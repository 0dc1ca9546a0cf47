"""The clients and peers of two other folders of tests, here at once."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("airsim", "links")]
