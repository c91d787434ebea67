"""Runs a command line to its exit code: what goes wrong becomes one clear message."""

import re
import sys
from collections.abc import Mapping
from typing import NoReturn

import typer

from blackbox.errors import BlackboxError, IntegrityError, UsageError, WriteError
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_ENVIRONMENT, EXIT_INTEGRITY, EXIT_USAGE

_CODES: Mapping[type[BlackboxError], int] = {UsageError: EXIT_USAGE, IntegrityError: EXIT_INTEGRITY}


def run(app: typer.Typer, codes: Mapping[type[BlackboxError], int] | None = None) -> NoReturn:
    """Run a command and leave; `codes` are exit codes for errors that only this command has."""
    as_json = "--json" in sys.argv[1:]
    try:
        code = _call(app)
    except BlackboxError as error:
        output.tell_error(error, as_json=as_json)
        known = {**_CODES, **(codes or {})}
        code = next((code for kind, code in known.items() if isinstance(error, kind)), EXIT_ENVIRONMENT)
    sys.exit(code)


def _call(app: typer.Typer) -> int:
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else app.info.name
        message = re.sub(r"\s*\n\s*", " ", error.format_message())
        raise UsageError(message, f"{command} --help shows how it is used") from error
    except BrokenPipeError:
        output.mute()
        return 0
    except OSError as error:
        output.mute()
        raise WriteError(f"standard output: {error.strerror}", "check the disk it is written to") from error
    return code if isinstance(code, int) else 0
