"""The files of a dual recording: a pair for the session, one a sub-agent; all are created, none is replaced."""

import datetime as dt
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from blackbox.disk import make_folder
from blackbox.dual import names
from blackbox.errors import UsageError
from blackbox.formats.convert import COMPANION, LOG
from blackbox.formats.jsonlines import dump_all
from blackbox.write.sink import Durability, FileSink

_ATTEMPTS = 10_000


class Pair(NamedTuple):
    """The two files of a session, and the name they have in common."""

    name: str
    log: FileSink
    companion: FileSink


def create_pair(root: Path, when: dt.datetime, task: str, durability: Durability) -> Pair:
    """`DATE/HHMMSS-task.rlog` and `.jsonl` below `root`; a session of the same second and task gets `-2`."""
    folder = root / names.day(when)
    make_folder(folder)
    for number in range(1, _ATTEMPTS):
        name = names.stem(when, task, number)
        # The companion is the claim on the name.
        companion = _create(folder / (name + COMPANION), durability)
        if companion is None:
            continue
        log = _create(folder / (name + LOG), durability)
        if log is not None:
            return Pair(name, log, companion)
        remove(companion)
    raise UsageError(
        f"{folder}: {_ATTEMPTS} sessions have the name {names.stem(when, task)}", "use another task name"
    )


def create_beside(folder: Path, stem: str, given: str | None, durability: Durability) -> tuple[str, FileSink]:
    """A sub-agent's id and its file `STEM.sub-ID.jsonl`; without a given id one that no file has."""
    for _ in range(_ATTEMPTS):
        name = secrets.token_hex(3) if given is None else names.check_id(given)
        path = folder / f"{stem}.sub-{name}{COMPANION}"
        sink = _create(path, durability)
        if sink is not None:
            return name, sink
        if given is not None:
            raise UsageError(f"{path}: there is such a file already", "give each sub-agent an id of its own")
    raise UsageError(f"{folder}: no free id for a sub-agent", "start a new session")


def remove(sink: FileSink) -> None:
    """Take back a file that was created in vain."""
    sink.close()
    sink.path.unlink()


def write_lines(sink: FileSink, lines: Iterable[dict[str, Any]]) -> None:
    """All lines of an entry in one write."""
    sink.write(dump_all(lines).encode())


def _create(path: Path, durability: Durability) -> FileSink | None:
    try:
        return FileSink.create(path, durability)
    except UsageError as error:
        if isinstance(error.__cause__, FileExistsError):
            return None
        raise
