"""A flight seen three ways: by its traffic, by the client's own log, and by both together."""

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blackbird.canon.model import (
    Call,
    Generation,
    Item,
    Message,
    Origin,
    Outcome,
    Purpose,
    Result,
    Side,
    Text,
    Thinking,
    Usage,
)
from blackbird.timeline import gather
from blackbird.timeline.timeline import Timeline
from blackbird.trace.folder import Trace

SCRIPTS = Path(sysconfig.get_path("scripts"))
FORMATS = ("bbox", "rlog")
#: A generation that nothing came out of, as when a connection is made warm.
WARM_UP = "warm-up"
#: An attempt that another took the place of: it was paid for as far as it came, and no client logs it.
GIVEN_UP = "given up"


@dataclass(frozen=True)
class View:
    """What a home of Blackbird has of a flight: its sessions in which a model was asked, oldest first."""

    home: Path
    timelines: tuple[Timeline, ...]

    @property
    def trace(self) -> Trace:
        """Where it comes from."""
        return Trace(self.home / "trace")

    @property
    def items(self) -> list[Item]:
        """All that happened, but for what a later attempt took the place of, and what an earlier session had.

        What only a hook told of is left out, too: the calls of a script that a model wrote are in no log.
        """
        items = (item for timeline in self.timelines for item in timeline.items)
        told = (item for item in items if any(pointer.side is not Side.EVENT for pointer in item.evidence))
        return [item for item in told if not item.is_superseded and not item.is_inherited]

    def generations(self) -> Iterator[tuple[str, Generation]]:
        """What the model was asked, by what for, attempts that failed included."""
        for timeline in self.timelines:
            fruitful = {item.generation for item in timeline.items}
            for item in timeline.items:
                if isinstance(item, Generation) and not item.is_inherited:
                    is_idle = item.outcome is Outcome.COMPLETE and item.id not in fruitful
                    usual = WARM_UP if is_idle and item.purpose is Purpose.TURN else item.purpose.value
                    yield GIVEN_UP if item.is_superseded else usual, item


@dataclass(frozen=True)
class Views:
    """The three of them."""

    wire: View
    log: View
    both: View

    def each(self) -> dict[str, View]:
        """By name."""
        return {"wire": self.wire, "log": self.log, "both": self.both}


@dataclass(frozen=True)
class Told:
    """What was said and done, as far as a log can have it."""

    words: list[tuple[str, ...]]
    thoughts: list[tuple[str, str]]
    calls: list[tuple[str, str, str, str]]
    results: dict[str, str]
    #: Sub-agents: the call that started each, and what it was asked.
    errands: list[tuple[str | None, str]] = field(default_factory=list)


def take(folder: Path) -> Views:
    """Import the logs of a flight, into a home of their own and into a copy of the recording's."""
    homes = [folder / name for name in ("bb", "logged", "joined")]
    for home in homes[1:]:
        shutil.rmtree(home, ignore_errors=True)
    homes[1].mkdir(mode=0o700)
    shutil.copy(homes[0] / "config.toml", homes[1])
    shutil.copytree(homes[0], homes[2], ignore=shutil.ignore_patterns("run", "derived"))
    for home in homes[1:]:
        _run(["blackbird", "import", "--all", "--yes", "--json"], folder, home)
    return Views(*map(look, homes))


def look(home: Path) -> View:
    """What a home has."""
    trace = Trace(home / "trace")
    found = [gather.read(trace, scope) for scope in gather.scopes(trace)]
    asked = [timeline for timeline in found if any(isinstance(item, Generation) for item in timeline.items)]
    return View(home, tuple(sorted(asked, key=lambda timeline: timeline.about.began or 0)))


def tell(view: View, known: Mapping[str, Any]) -> Told:
    """What a view has of the conversation, without what the log of this client is known to change."""
    items, defaults = view.items, known.get("adds", {})
    is_trimmed = "trims" in known
    words = [
        (item.thread, item.origin.value, "".join(part.text for part in item.parts if isinstance(part, Text)))
        for item in items
        if isinstance(item, Message) and item.origin in (Origin.USER, Origin.AGENT)
    ]
    thoughts = [
        (item.thread, part.text)
        for item in items
        if isinstance(item, Message)
        for part in item.parts
        if isinstance(part, Thinking)
    ]
    calls = [
        (item.thread, item.call_id, item.call.name, _given(item, defaults.get(item.call.name, {})))
        for item in items
        if isinstance(item, Call)
    ]
    first = {item.thread: item.text for item in reversed(items) if isinstance(item, Message) and item.text}
    errands = [
        (thread.call_id, first.get(thread.id, ""))
        for timeline in view.timelines
        for thread in timeline.threads
        if thread.parent is not None
    ]
    return Told(
        words=[(*who, said.strip() if is_trimmed else said) for *who, said in words if said.strip()],
        thoughts=[thought for thought in thoughts if thought[1]],
        calls=calls,
        results={item.call_id: item.result.text for item in items if isinstance(item, Result)},
        errands=sorted(errands, key=str),
    )


def spent(view: View, without: Container[str] = ()) -> Usage:
    """All tokens, but for those of some purposes."""
    total = Usage()
    for purpose, generation in view.generations():
        if purpose not in without and generation.usage is not None:
            total += generation.usage
    return total


def export(view: View, folder: Path) -> dict[str, bytes]:
    """A view's sessions as flight logs: all files that are written, by their names."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for timeline in view.timelines:
        for form in FORMATS:
            words = ["blackbird", "export", timeline.about.session, "--format", form, "-o", str(folder), "--json"]
            _run(words, folder, view.home)
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def findings(folder: Path) -> list[Any]:
    """What `blackbox validate` finds in logs besides remarks."""
    told = _run(["blackbox", "validate", str(folder), "--json"], folder, folder)
    reports = [json.loads(line) for line in told.splitlines()]
    assert reports, "no log was checked"
    return [
        finding for report in reports for finding in report["findings"] if finding["severity"] in ("error", "warning")
    ]


def _given(item: Call, defaults: dict[str, Any]) -> str:
    if item.call.arguments is None:
        return item.call.raw
    meant = {key: value for key, value in item.call.arguments.items() if defaults.get(key, ...) != value}
    return json.dumps(meant, sort_keys=True)


def _run(words: list[str], folder: Path, home: Path) -> str:
    """A command of ours, for the user that the client had."""
    user = next((place / "home" for place in (folder, *folder.parents) if (place / "home").is_dir()), folder)
    environ = {"PATH": os.environ["PATH"], "HOME": str(user), "BLACKBIRD_HOME": str(home), "LANG": "C.UTF-8"}
    command = [str(SCRIPTS / words[0]), *words[1:]]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout
