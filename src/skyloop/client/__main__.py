"""`skyloop-client`: run a pilot beside the vehicle's computer, against a simulator elsewhere."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyloop.client.session import connect, fly
from skyloop.errors import SkyloopError
from skyloop.plugins import load_plugin


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="skyloop-client", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    pilot = verbs.add_parser("pilot", help="fly with pilot(bundle) -> setpoint")
    pilot.add_argument("pilot", metavar="FILE.py:NAME", help="a function, or a class made without arguments")
    pilot.add_argument("--connect", default="", metavar="HOST:PORT", help="default: SKYLOOP_ADDRESS, or 127.0.0.1:4700")
    pilot.add_argument("--vehicle", default="", help="which to fly, if there are several")
    pilot.add_argument("--rate", default="50", metavar="HZ", help="calls per simulated second (50)")
    pilot.add_argument("--clock", default="", choices=("wall", "cpu"), help="what execution time follows (wall)")
    pilot.add_argument("--speed", type=float, help="of the target; 1: this machine; needs --clock cpu")
    options = parser.parse_args(arguments)
    try:
        flown: Any = load_plugin(options.pilot, Path.cwd())
        flown = flown() if inspect.isclass(flown) else flown
        with connect(options.connect, vehicle=options.vehicle, clock=options.clock, speed=options.speed) as session:
            fly(session, flown, options.rate)
    except SkyloopError as error:
        print(f"skyloop-client: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
