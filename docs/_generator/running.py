"""Runs commands for a page in a folder of their own, and knows which commands there are."""

import contextlib
import inspect
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import typer.main

from _generator.places import PARTS, ROOT
from blackbird.cli import app as blackbird_app
from blackbird.cli import commands as blackbird_commands
from blackbox.cli import app as blackbox_app
from blackbox.redaction.config import load_redactor

#: What a terminal of 80 columns without colours says; the folder itself is the home.
ENVIRONMENT = {
    "COLUMNS": "80",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONIOENCODING": "utf-8",
    "BLACKBIRD_HOME": ".",
}
#: A trace that a recorder wrote, for the commands that read one.
TRACE = PARTS / "blackbird" / "trace"
PROGRAMS: dict[str, tuple[typer.Typer, Callable[[], None]]] = {
    "blackbox": (blackbox_app.app, blackbox_app.main),
    "blackbird": (blackbird_commands.build(), blackbird_app.main),
}

_SHOWN_FILE = re.compile(r"^```[a-z]+ ([\w./-]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEAD = re.compile(r"(.*?) \| head -n (\d+)")
_CAT = re.compile(r"cat (\S+)(?: \| (.*))?")


def commands(program: str = "blackbox") -> dict[str, str]:
    """The commands of a program and what the first sentence of their help says."""
    members = _members(program)
    return {name: inspect.cleandoc(command.help or "").partition("\n")[0] for name, command in members.items()}


def subcommands(name: str, program: str = "blackbox") -> list[str]:
    """The sub-commands of a command; most have none."""
    return list(getattr(_members(program)[name], "commands", {}))


def _members(program: str) -> dict[str, typing.Any]:
    found: dict[str, typing.Any] = getattr(typer.main.get_command(PROGRAMS[program][0]), "commands", {})
    return found


@contextlib.contextmanager
def scratch(page: str, *, trace: bool = False) -> Iterator[None]:
    """A folder to run a page's commands in: examples/, the files that the page shows, and a trace if asked for."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder, "examples"))
        if trace:
            shutil.copytree(TRACE, Path(folder, "trace"))
        for name, text in _SHOWN_FILE.findall(page):
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text(text, encoding="utf-8")
        # Nobody's own settings are to show in a page.
        others = {name: value for name, value in os.environ.items() if not name.startswith("BLACKBIRD_")}
        with contextlib.chdir(folder), mock.patch.dict(os.environ, {**others, **ENVIRONMENT}, clear=True):
            # It is read once in a process, and here each page has its own.
            load_redactor.cache_clear()
            try:
                yield
            finally:
                load_redactor.cache_clear()


def run(line: str, expected: int = 0) -> str:
    """What a command line prints, both streams together. Understands `cat FILE`, `cat FILE | …`, `… | head -n N`."""
    head = _HEAD.fullmatch(line)
    rest = head[1] if head else line
    cat = _CAT.fullmatch(rest)
    data = Path(cat[1]).read_bytes() if cat else b""
    words = shlex.split((cat[2] or "") if cat else rest)
    if words and words[0] not in PROGRAMS:
        raise SystemExit(f"only {' and '.join(PROGRAMS)} can be run in a page, not `{line}`")
    printed, code = _call(words, data) if words else (data.decode(), 0)
    if code != expected:
        raise SystemExit(f"`{line}` exited with {code}, not {expected}:\n{printed}")
    return "\n".join(printed.split("\n")[: int(head[2])]) if head else printed


def _call(words: list[str], data: bytes) -> tuple[str, int]:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    code = 0
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(data))),
        mock.patch.object(sys, "stdout", out),
        mock.patch.object(sys, "stderr", out),
    ):
        try:
            PROGRAMS[words[0]][1]()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return raw.getvalue().decode(), code


def session_of(line: str, code: str | None) -> str:
    """A command line as a terminal shows it: prompt, output, and the exit code if it is not 0."""
    # The scratch folder has another name each time.
    printed = run(line, int(code or 0)).rstrip("\n").replace(str(Path.cwd()), "~")
    tail = f"\n$ echo $?\n{code}" if code else ""
    lines = [text.rstrip() for text in f"$ {line}\n{printed}{tail}".split("\n")]
    return "```console\n" + "\n".join(lines) + "\n```"
