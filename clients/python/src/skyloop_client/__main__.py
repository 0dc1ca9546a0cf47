"""`skyloop-client`: run a pilot or an estimator on the vehicle's computer, against a simulator elsewhere."""

from __future__ import annotations

import argparse
import inspect
import json
import logging
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from skyloop_client.clocks import source_of
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.estimator import run_estimator
from skyloop_client.pipe import DEFAULT_PORT
from skyloop_client.session import ONLY, connect, fly
from skyloop_client.user_code import load_chosen
from skyloop_client.version import __version__

TREE = "skyloop_client"


def add_log_options(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("-v", "--verbose", action="store_true", help="log what is started and connected, on stderr")
    choice.add_argument("-q", "--quiet", action="store_true", help="no log lines, only errors")


@contextmanager
def log_lines(program: str, options: argparse.Namespace) -> Iterator[None]:
    """Until the command ends, log lines go to stderr with the program's name before them."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(f"{program}: %(message)s"))
    logger = logging.getLogger(TREE)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if options.verbose else logging.ERROR if options.quiet else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


log = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="skyloop-client", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    pilot = verbs.add_parser("pilot", help="fly with pilot(bundle) -> setpoint")
    pilot.add_argument("pilot", metavar="FILE.py:NAME", help="a function, or a class made with --options")
    pilot.add_argument(
        "--options", default="", metavar="JSON", help="arguments of the class, or of the function that makes the pilot"
    )
    pilot.add_argument("--rate", default="50", metavar="HZ", help="calls per simulated second (50)")
    estimator = verbs.add_parser("estimator", help="estimate with a class that has on_message(message)")
    estimator.add_argument("estimator", metavar="FILE.py:CLASS", help="made as Class(setup, **options)")
    estimator.add_argument("--name", default="", help="the name of the scenario's estimator; default: its only one")
    for verb in (pilot, estimator):
        verb.add_argument("--connect", default="", metavar="HOST:PORT", help="default: SKYLOOP_ADDRESS, or port 4700")
        verb.add_argument("--vehicle", default="", help="the vehicle, if there are several")
        verb.add_argument("--clock", default="", choices=("wall", "cpu"), help="what execution time follows (wall)")
        verb.add_argument("--speed", type=float, help="the target's speed; 1: this machine; needs --clock cpu")
    _add_agent(
        verbs.add_parser("agent", help="start software under test (SUT), and freeze it while its time stands still")
    )
    _add_calibrate(verbs.add_parser("calibrate", help="measure this computer's speed relative to another"))
    for verb in verbs.choices.values():
        add_log_options(verb)
    options = parser.parse_args(arguments)
    try:
        with log_lines(parser.prog, options):
            does = {"agent": _agent, "calibrate": _calibrate, "estimator": _estimator, "pilot": _pilot}
            return does[options.verb](options)
    except SkyloopError as error:
        print(f"skyloop-client: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _pilot(options: argparse.Namespace) -> int:
    flown = load_chosen(options.pilot, Path.cwd())
    given = _options_from(options.options)
    flown = flown(**given) if inspect.isclass(flown) or given else flown
    with connect(options.connect, vehicle=options.vehicle, clock=options.clock, speed=options.speed) as session:
        log.debug("flying '%s', mode %s, %d streams", session.vehicle, session.mode, len(session.infos))
        fly(session, flown, options.rate)
    return 0


def _options_from(text: str) -> dict[str, object]:
    try:
        read = json.loads(text or "{}")
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise LinkError(f"--options {text[:80]}: give a JSON object, such as '{{\"height\": 2}}'")
    return read


def _estimator(options: argparse.Namespace) -> int:
    make = load_chosen(options.estimator, Path.cwd())
    how = {"vehicle": options.vehicle, "clock": options.clock, "speed": options.speed}
    with connect(options.connect, estimator=options.name or ONLY, **how) as session:
        run_estimator(session, make, lambda line: log.warning("%s", line))
    return 0


def _add_calibrate(calibrate: argparse.ArgumentParser) -> None:
    calibrate.add_argument("--json", action="store_true", help="print the calibration, for a file: board.json")
    calibrate.add_argument("--board", type=Path, metavar="FILE", help="print its speed relative to this computer")
    calibrate.add_argument(
        "--here", type=Path, metavar="FILE", help="this computer's calibration; default: measure it now"
    )


def _calibrate(options: argparse.Namespace) -> int:
    from skyloop_client.calibration import calibrate, compared, read_calibration

    board = None if options.board is None else read_calibration(options.board)
    here = calibrate() if options.here is None else read_calibration(options.here)
    if board is not None:
        ratio = compared(board, here)
        result = {"speed": ratio.speed, "by_work": ratio.by_work, "machine": ratio.machine}
        print(json.dumps(result) if options.json else ratio.text)
    elif options.json:
        print(json.dumps(here.plain()))
    else:
        rates = ", ".join(f"{work} {rate:.4g}" for work, rate in here.rates.items())
        print(f"{here.machine}: {rates} runs per second; with --json for a file, and --board FILE to compare")
    return 0


def _add_agent(agent: argparse.ArgumentParser) -> None:
    agent.add_argument("command", nargs="+", metavar="COMMAND", help="the SUT, after --")
    agent.add_argument("--connect", default="", metavar="HOST:PORT", help="default: SKYLOOP_ADDRESS, or 127.0.0.1:4700")
    agent.add_argument("--clock", choices=("wall", "cpu"), help="what execution time follows (cpu with --speed)")
    agent.add_argument(
        "--speed",
        type=float,
        default=1.0,
        help="the target's speed; 1: this machine; below 1 the SUT really runs slower if its time is not synchronised",
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

    def on_signal(number: int, _: object) -> None:
        """On a signal the agent first ends the SUT."""
        for each in SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    before = {each: signal.signal(each, on_signal) for each in SIGNALS}
    try:
        return Agent(options.command, simulator, clock, options.speed, options.throttle).run()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


if __name__ == "__main__":
    sys.exit(main())
