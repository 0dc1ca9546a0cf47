"""Options that verbs share without seeing them: `-v` and `--quiet`, which choose the log lines, and `--no-code`.

Modules log to `logging.getLogger(__name__)`. Importing them sets up no handler, so a Python program that uses skyloop
chooses what it sees. Only the command line sets up a handler, while one command runs."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from skyloop_client.errors import ScenarioError
from skyloop_client.user_code import without_code

TREES = ("skyloop", "skyloop_client")
"""The root loggers of the two distributions."""

Verb = TypeVar("Verb", bound=Callable[..., Any])


class ConsoleLines(logging.Handler):
    """One line per record. It uses the console, so that it does not run into a progress bar."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        text = " ".join(record.getMessage().split())
        if record.levelno < logging.INFO:
            text = f"[{record.relativeCreated / 1e3:.3f} s, {record.name}] {text}"
        elif record.levelno >= logging.WARNING:
            text = f"{record.levelname.lower()}: {text}"
        self._console.print(f"skyloop: {text}", markup=False, highlight=False)


@contextmanager
def log_lines(console: Console) -> Iterator[None]:
    """Send log lines to this console. The options of the command select them."""
    handler = ConsoleLines(console)
    loggers = [logging.getLogger(name) for name in TREES]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)


def is_quiet() -> bool:
    """Whether `--quiet` was given."""
    return logging.getLogger(TREES[0]).getEffectiveLevel() >= logging.ERROR


def _verbose(wanted: bool) -> None:
    if wanted:
        _show(logging.DEBUG, "--quiet", already=logging.ERROR)


def _quiet(wanted: bool) -> None:
    if wanted:
        _show(logging.ERROR, "--verbose", already=logging.DEBUG)


def _show(level: int, other: str, *, already: int) -> None:
    loggers = [logging.getLogger(name) for name in TREES]
    if any(logger.level == already for logger in loggers):
        raise ScenarioError(f"{other} was given too; give --verbose or --quiet, not both")
    for logger in loggers:
        logger.setLevel(level)


Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", callback=_verbose, help="Log what is started, built and written, on stderr.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_quiet, help="No log lines and no progress bar, only errors.")
]


NoCode = Annotated[
    bool,
    typer.Option(
        "--no-code", help="Run no code that the file names (FILE.py:NAME, module:Name): for files of strangers."
    ),
]


class Verbs(typer.Typer):
    """A Typer whose verbs all have -v and --quiet. The options take effect by themselves; the verbs do not see them."""

    def command(self, *arguments: Any, opens_code: bool = False, **options: Any) -> Callable[[Verb], Verb]:
        """opens_code: the verb opens files that may name code, so that it has --no-code too."""
        register = super().command(*arguments, **options)

        def registered(verb: Verb) -> Verb:
            register(_with_shared_options(verb, {"no_code": NoCode} if opens_code else {}))
            return verb

        return registered


def _with_shared_options(verb: Callable[..., object], more: dict[str, Any]) -> Callable[..., Any]:
    added = {**more, "verbose": Verbose, "quiet": Quiet}

    @functools.wraps(verb)
    def called(*arguments: object, no_code: bool = False, **options: object) -> Any:
        with without_code("--no-code was given") if no_code else nullcontext():
            return verb(*arguments, **{name: value for name, value in options.items() if name not in added})

    signature = inspect.signature(verb, eval_str=True)
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword, default=False, annotation=kind) for name, kind in added.items()]
    # Typer reads the signature, and the annotations if the signature names a type by a string
    called.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *parameters])  # type: ignore[attr-defined]
    called.__annotations__ = {**verb.__annotations__, **added}
    return called
