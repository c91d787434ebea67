"""What to read: files, folders, globs and standard input as one list of logs."""

import glob
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import typer

from blackbox.document.files import BLOCK_SIZE, EXTENSIONS, open_log
from blackbox.errors import ReadError, UsageError, WriteError
from blackbox.terminal import output
from blackbox.terminal.codes import EXIT_ENVIRONMENT

STDIN = "-"


def find_logs(arguments: list[str]) -> list[str]:
    """The logs that the arguments name, in order and without repetition; without arguments those below here."""
    found: list[str] = []
    for argument in arguments or ["."]:
        found += _expand(argument, explicit=bool(arguments))
    if found.count(STDIN) > 1:
        raise UsageError("`-` is given more than once", "standard input can be read only once")
    return list(dict.fromkeys(found))


def nearby_logs() -> list[str]:
    """The logs in this folder and in the folders right below it: a look around that ends soon anywhere."""
    paths = [path for pattern in ("*", "*/*") for path in Path().glob(pattern)]
    return sorted(str(path) for path in paths if path.suffix in EXTENSIONS and path.is_file())


def _expand(argument: str, *, explicit: bool) -> list[str]:
    if argument == STDIN:
        return [STDIN]
    path = Path(argument)
    if path.is_dir():
        logs = sorted(str(log) for log in _walk(path))
        if not logs:
            where = argument if explicit else "this folder"
            raise ReadError(f"{where}: no {', '.join(EXTENSIONS)} file below it", "name a log, a folder or a pattern")
        return logs
    if not path.exists() and glob.has_magic(argument):
        matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - a whole pattern, absolute or not
        logs = [match for match in matches if Path(match).is_file()]
        if not logs:
            raise ReadError(f"{argument}: no file matches", "check the pattern; quote it so that the shell leaves it")
        return logs
    return [argument]


def _walk(folder: Path) -> Iterator[Path]:
    def stop(error: OSError) -> None:
        raise ReadError(f"{error.filename}: {error.strerror}", "make the folder readable, or leave it out") from error

    for directory, _, names in os.walk(folder, onerror=stop):
        yield from (Path(directory, name) for name in names if name.endswith(EXTENSIONS))


def check_target(names: list[str], *, write: bool, to: str | None, one_by_one: str) -> None:
    """Refuse options of a command that changes logs, in place or into another file, if they contradict each other."""
    if write and to is not None:
        raise UsageError("--write and --output exclude each other", "choose one")
    if to is not None and len(names) > 1:
        raise UsageError(f"--output takes one log, {len(names)} were given", f"use --write, or {one_by_one}")
    if to is not None and to != STDIN and Path(to).is_file():
        raise UsageError(f"{to} is there already", "name a new file, or use --write to change a log in place")
    if write and STDIN in names:
        raise UsageError("standard input cannot be changed in place", "use --output FILE, or --output - for a pipe")


def each_log(names: list[str], work: Callable[[str], None], *, as_json: bool) -> None:
    """Do the work for each log. One that cannot be read or written is told, and the others go on."""
    failed = False
    for name in names:
        try:
            work(name)
        except (ReadError, WriteError) as error:
            failed = True
            output.tell_error(error, as_json=as_json)
    if failed:
        raise typer.Exit(EXIT_ENVIRONMENT)


def read_blocks(name: str) -> Iterator[bytes]:
    """The bytes of a log, block by block."""
    if name == STDIN:
        yield from _blocks(sys.stdin.buffer)
        return
    with open_log(name) as source:
        yield from _blocks(source)


def read_all(name: str) -> bytes:
    """The bytes of a log at once."""
    return b"".join(read_blocks(name))


def _blocks(source: BinaryIO) -> Iterator[bytes]:
    while block := source.read(BLOCK_SIZE):
        yield block


def shown(name: str) -> str:
    """A log's name as people see it."""
    return "standard input" if name == STDIN else name


def total_size(names: list[str]) -> int:
    """The size of all logs on disk; what cannot be measured counts as nothing."""
    return sum(Path(name).stat().st_size for name in names if name != STDIN and Path(name).is_file())
