"""The command line: each verb parses its options, calls one function and prints the result."""

from __future__ import annotations

import _thread
import io
import signal
import sys
import threading
from typing import TYPE_CHECKING

from skyloop.cli.exit_codes import INTERRUPTED

if TYPE_CHECKING:
    from skyloop.cli.verbs import app as app

__all__ = ["app", "main"]


def main() -> None:
    """The verbs are imported in here, so that Ctrl-C ends the program with one line even during the import."""
    asked = False

    def interrupt(*_: object) -> None:
        nonlocal asked
        asked = True
        raise KeyboardInterrupt

    def unraisable(what: sys.UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt):
            # lost in a destructor or callback: raised again a moment later, because in here it would be lost as well
            again = threading.Timer(0.01, _thread.interrupt_main)
            again.daemon = True
            again.start()
        else:
            hook(what)

    for stream in (sys.stdout, sys.stderr):
        # a terminal without a character shows a ? for it
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")
    hook, before = sys.unraisablehook, signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
        sys.unraisablehook = unraisable
    code = INTERRUPTED
    try:
        from skyloop.cli.verbs import execute

        code = execute(sys.argv[1:])
    except BaseException as error:
        # an import that was interrupted may raise any error
        if isinstance(error, SystemExit) or not (asked or isinstance(error, KeyboardInterrupt)):
            raise
        print("skyloop: stopped", file=sys.stderr)
    finally:
        sys.unraisablehook = hook
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
    sys.exit(code)


def __getattr__(name: str) -> object:
    """Loaded on first use, as in `main`."""
    if name == "app":
        from skyloop.cli.verbs import app

        return app
    raise AttributeError(f"module 'skyloop.cli' has no attribute '{name}'")
