"""JSONL logs on disk: which there are, their actions, and sub-agents as sessions; only read, and only here."""

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from blackbox.document.document import parse
from blackbox.document.files import EXTENSIONS, open_log
from blackbox.errors import ReadError, UsageError
from blackbox.formats.convert import LOG
from blackbox.formats.files import read_session
from blackbox.formats.logs import to_log
from blackbox.formats.recognise import Form
from blackbox.report.actions import FileActions
from blackbox.report.places import Member
from blackbox.session.session import Session

SUFFIX = ".jsonl"
_SUBAGENT = ".sub-"


class Source(NamedTuple):
    """A place where JSONL logs are looked for, and those found there."""

    name: str
    paths: tuple[str, ...]


def find_files(arguments: list[str]) -> list[str]:
    """The JSONL logs that the arguments name: files, folders and patterns. A line log is refused."""
    found: list[str] = []
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            inside = list(_below(path))
            if not inside:
                raise ReadError(f"{argument}: no {SUFFIX} file below it", _how_to_get_one())
            found += inside
        elif not path.exists() and glob.has_magic(argument):
            matches = sorted(glob.glob(argument, recursive=True))  # noqa: PTH207 - a whole pattern, absolute or not
            if not matches:
                raise ReadError(f"{argument}: no file matches", "check the pattern; quote it so the shell leaves it")
            found += find_files(matches)
        else:
            _refuse_line_log(path)
            found.append(argument)
    return list(dict.fromkeys(found))


def usual_sources(environment: Mapping[str, str], home: Path, here: Path) -> list[Source]:
    """Where logs are without being named: the log folder below here, then the agents' own folders."""
    logs = here / "docs" / "logs"
    claude = Path(environment.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    codex = Path(environment.get("CODEX_HOME") or home / ".codex")
    return [
        Source(os.path.join("docs", "logs"), tuple(_below(logs))),  # noqa: PTH118 - a name to show, no path to open
        Source(str(claude), tuple(_below(claude))),
        Source(str(codex / "projects"), tuple(_below(codex / "projects"))),
        Source(str(codex / "sessions"), tuple(_below(codex / "sessions", "rollout-"))),
    ]


def read_actions(path: str) -> FileActions:
    """The actions of one JSONL log, read line by line. Lines that are no JSON are counted, never fatal."""
    name = Path(path)
    found = FileActions(name.name.removesuffix(SUFFIX), str(name.parent), path)
    decoder = msgspec.json.Decoder()
    with open_log(path) as source:
        for line in source:
            if not line.strip():
                continue
            try:
                found.add(decoder.decode(line))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                found.add(None)
    return found


class Subagents(NamedTuple):
    """The sub-agents that were read from their companions, and why others could not be."""

    members: list[Member]
    errors: list[ReadError]


def read_subagents(log: str, session: Session) -> Subagents:
    """The sub-agents of an .rlog that have only a companion, `NAME.sub-ID.jsonl` beside it, as sessions.

    Their lines are those of the log that an export of the companion would be.
    """
    path = Path(log)
    found = Subagents([], [])
    if path.suffix != LOG:
        return found
    followed = {subagent.id for subagent in session.subagents if subagent.session is not None}
    for companion in sorted(path.parent.glob(f"{glob.escape(path.stem)}{_SUBAGENT}*{SUFFIX}")):
        name = companion.name.removeprefix(path.stem + _SUBAGENT).removesuffix(SUFFIX)
        if name in followed:
            continue
        try:
            own = _as_session(companion)
        except ReadError as error:
            found.errors.append(error)
        else:
            found.members.append(Member(own, own.id or name))
    return found


def _as_session(companion: Path) -> Session:
    flight = read_session(companion).reading.flight
    try:
        return Session(parse(to_log(flight, Form.BBOX.value)[0]))
    except UsageError as error:
        raise ReadError(f"{companion}: {error.message}", error.remedy) from error


def _below(folder: Path, prefix: str = "") -> Iterator[str]:
    """The JSONL logs below a folder, in order; a folder that is not there has none."""
    if not folder.is_dir():
        return
    names: list[str] = []

    def stop(error: OSError) -> None:
        raise ReadError(f"{error.filename}: {error.strerror}", "make the folder readable, or leave it out") from error

    for directory, _, files in os.walk(folder, onerror=stop):
        names += [str(Path(directory, name)) for name in files if name.endswith(SUFFIX) and name.startswith(prefix)]
    yield from sorted(names)


def _refuse_line_log(path: Path) -> None:
    if path.suffix not in EXTENSIONS or not path.exists():
        return
    companion = path.with_suffix(SUFFIX)
    remedy = f"use its companion: {companion}" if companion.is_file() else _how_to_get_one()
    raise UsageError(
        f"{path}: actions are not counted from {path.suffix} logs: they may have been shortened for reading", remedy
    )


def _how_to_get_one() -> str:
    return (
        "actions are counted from JSONL: name a companion or an agent's own log; "
        "`blackbox export --format rlog` writes a log with its companion"
    )
