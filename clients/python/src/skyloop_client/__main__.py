"""`skyloop-client`: run a pilot beside the vehicle's computer, against a simulator elsewhere."""

from __future__ import annotations

import argparse
import inspect
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyloop_client.clocks import source_of
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.plugins import load_plugin
from skyloop_client.session import DEFAULT_PORT, connect, fly

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


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
    _add_agent(verbs.add_parser("agent", help="start a SUT of any kind, and freeze it while its time stands still"))
    options = parser.parse_args(arguments)
    try:
        if options.verb == "agent":
            return _agent(options)
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


def _add_agent(agent: argparse.ArgumentParser) -> None:
    agent.add_argument("command", nargs="+", metavar="COMMAND", help="the SUT, after --")
    agent.add_argument("--connect", default="", metavar="HOST:PORT", help="default: SKYLOOP_ADDRESS, or 127.0.0.1:4700")
    agent.add_argument("--clock", choices=("wall", "cpu"), help="what execution time follows (cpu with --speed)")
    agent.add_argument(
        "--speed",
        type=float,
        default=1.0,
        help="of the target; 1: this machine; below 1 it is really slow where its time is not kept",
    )
    agent.add_argument("--throttle", type=float, default=1.0, metavar="SHARE", help="let it run this share of the time")


def _agent(options: argparse.Namespace) -> int:
    from skyloop_client.agent import Agent

    clock = options.clock or ("wall" if options.speed == 1.0 else "cpu")
    source_of(clock, options.speed)
    if not 0.001 <= options.throttle <= 1.0:
        raise LinkError(f"--throttle {options.throttle:g}: give a share of 0.001 to 1")
    if options.throttle < 1.0 and clock == "cpu":
        raise LinkError("a throttled SUT takes its time from the wall clock; leave out --clock cpu and --speed")
    simulator = options.connect or os.environ.get("SKYLOOP_ADDRESS", f"127.0.0.1:{DEFAULT_PORT}")

    def told(number: int, _: object) -> None:
        """Told to end, the agent ends the SUT first."""
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, told) for each in SIGNALS}
    try:
        return Agent(options.command, simulator, clock, options.speed, options.throttle).run()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


if __name__ == "__main__":
    sys.exit(main())
