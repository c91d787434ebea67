"""The files and commands that whoever works on next will most likely need again, best first.

What was worked on lately is worked on again: of all that was tried on real sessions of one project, a plain list of
the files and commands of the last sessions was the hardest to beat. So that is where this starts from. It weighs:

- when: each session that did something counts half as much as the one that came `HALF_LIFE` sessions later;
- what was done: a file that was changed counts more than one that was only read, a command that went well more than
  one that failed, and one that tests, builds or checks more than any other;
- what is asked for now: sessions that speak of the same count more, and so do paths and commands with its words.

What does not exist any more, or lies outside of the project, is left out. Pure: it looks at its arguments alone.

How it stands in a pack: some lines, each of some commands, of some files or of some errors, each item once, the
best first; paths in full from the folder of the work, since a shortened path cannot be opened, and no id to each of
them, but one to a line. `batches` gives the lines in the order in which they are worth their place.
"""

import functools
import math
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from blackbird.artifacts import commands, shell
from blackbird.artifacts.model import Artifact, Command, Outcome
from blackbird.pack import relevance

#: So many sessions later, one counts half.
HALF_LIFE = 2.0
#: What each use of a file or of a command is worth.
CHANGED, READ = 1.0, 0.5
WENT_WELL, UNKNOWN, FAILED = 1.0, 0.8, 0.5
#: How much it adds if the session, or the path or the command itself, speaks of what is asked for.
SAME_MATTER, SAME_WORDS = 1.0, 0.5
#: Commands that look around are made up anew each time; these are worth keeping, and the first of them most.
_KINDS = {"test": 1.0, "build": 1.0, "lint": 1.0, "format": 0.7, "run": 0.5, "install": 0.5, "other": 0.4}
#: What is of no known kind is worth it only if it was needed again.
_OTHER = "other"
_LONGEST = 160
_PLACES = 3
#: What a name takes beside its letters, when long commands are weighed against short ones.
_FRAME = 8

FILES, COMMANDS, ERRORS = "files", "commands", "errors"
_FIRST_COMMANDS, _COMMANDS, _FILES, _ERRORS = 7, 6, 24, 6
_BESIDE = "../"
_OWN_TOOLS = ("<", "Exit code")
#: A beginning of so many letters says which word is meant.
_TELLING = 4

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TEMPORARY = re.compile(r"(?:/private)?/(?:tmp|var|dev|proc)/")


class Worth(NamedTuple):
    """Something worth naming: as it is written, the outcomes that it comes from (the newest first), and why."""

    text: str
    ids: tuple[str, ...]
    score: float
    why: str


class WorkingSet(NamedTuple):
    """Files, commands and the lines in which errors were told, each by what they are worth."""

    files: tuple[Worth, ...] = ()
    commands: tuple[Worth, ...] = ()
    errors: tuple[Worth, ...] = ()


class Batch(NamedTuple):
    """What stands on one line of a pack: `kind` is `files`, `commands` or `errors`."""

    kind: str
    items: tuple[Worth, ...]


class _Past(NamedTuple):
    """One session's work: what it did with which file, its commands, and how much it counts now."""

    artifact: Artifact
    outcome: Outcome
    files: dict[str, float]
    gone: frozenset[str]
    words: frozenset[str]


class _Use(NamedTuple):
    """A use of a file or a command in the past."""

    id: str
    session: str
    weight: float
    what: str


def working_set(
    outcomes: Iterable[Artifact],
    folders: Mapping[str, str | None],
    *,
    folder: str | None = None,
    description: str | None = None,
    session: str | None = None,
) -> WorkingSet:
    """What is worth naming, of the outcomes of one project's sessions.

    `folders` has the folder of each session, by which its relative paths are understood; `folder` is where the work
    is going to be, and `description` what it is said to be. `session` is the one that goes on: what was mended in it
    is over, while the same work elsewhere may meet the same error again.
    """
    newest = sorted(outcomes, key=lambda one: (-(one.at or 0), one.id))
    past = [_past(one, folders.get(one.session), folder) for one in newest if isinstance(one.content, Outcome)]
    asked = _words(description or "")
    weights = _weights(past, asked)
    files = sorted(_weighed(_file_uses(past, weights), asked), key=lambda one: (-one.score, one.text))
    lines = sorted(_weighed(_command_uses(past, weights), asked), key=_by_room)
    errors = sorted(_weighed(_error_uses(past, weights, session), asked), key=lambda one: (-one.score, one.text))
    return WorkingSet(tuple(files), tuple(lines), tuple(errors))


def _by_room(command: Worth) -> tuple[float, str]:
    """What is worth most for the room it takes: commands made up for one occasion are long."""
    return -command.score / (len(command.text) + _FRAME), command.text


def batches(found: WorkingSet) -> Iterator[Batch]:
    """What is worth naming in lines: as many commands as one remembers and files by turns, late in that errors."""
    files, lines, errors = list(found.files), list(found.commands), list(found.errors[:_ERRORS])
    takes = iter((_FIRST_COMMANDS,))
    while files or lines or errors:
        is_first = (take := next(takes, _COMMANDS)) == _FIRST_COMMANDS
        if lines:
            yield Batch(COMMANDS, tuple(lines[:take]))
        if files:
            yield Batch(FILES, tuple(files[:_FILES]))
        lines, files = lines[take:], files[_FILES:]
        if errors and (not is_first or not (files or lines)):
            yield Batch(ERRORS, tuple(errors))
            errors = []


def spelled(batch: Batch, count: int) -> str:
    """The first so many of a batch on one line; files beside the folder of the work stand behind the others."""
    names = [one.text for one in batch.items[:count]]
    if batch.kind == COMMANDS:
        return " · ".join(names)
    if batch.kind == ERRORS:
        return f"errors met: {' · '.join(names)}"
    inside = [name for name in names if not name.startswith(_BESIDE)]
    beside = [name.removeprefix(_BESIDE) for name in names if name.startswith(_BESIDE)]
    return "; ".join(filter(None, (" ".join(inside), f"in {_BESIDE}: {' '.join(beside)}" if beside else "")))


# Sessions


def _past(artifact: Artifact, base: str | None, folder: str | None) -> _Past:
    outcome = artifact.content
    assert isinstance(outcome, Outcome)  # noqa: S101 - only those are asked about
    files: dict[str, float] = {}
    gone: set[str] = set()
    for path in outcome.read:
        if (name := _spelled(path, base, folder)) is not None:
            files[name] = READ
    for change in outcome.files:
        if (name := _spelled(change.path, base, folder)) is None:
            continue
        if change.action == "deleted":
            files.pop(name, None)
            gone.add(name)
        else:
            files[name] = CHANGED
    said = " ".join((artifact.title, outcome.description or "", outcome.final or "", *files))
    return _Past(artifact, outcome, files, frozenset(gone), _words(said))


def _weights(past: Sequence[_Past], asked: frozenset[str]) -> list[float]:
    """How much each session counts: by its age in sessions that did something, and by what it was about."""
    known = Counter(word for each in past for word in each.words)
    alike = [sum(_rarity(known[word], len(past)) for word in asked & each.words) for each in past]
    most = max(alike, default=0.0)
    found, age = [], 0
    for each, likeness in zip(past, alike, strict=True):
        found.append(0.5 ** (age / HALF_LIFE) + (SAME_MATTER * likeness / most if most else 0.0))
        age += bool(each.files or each.gone)
    return found


def _rarity(count: int, of: int) -> float:
    return math.log(1 + of / count)


# Files


def _spelled(path: str, base: str | None, folder: str | None) -> str | None:
    """A path from the folder of the work; None for what is not of the project.

    A folder's spelling may differ in its capitals, as on disks that do not tell them apart. Of what lies outside of
    the folder, what is beside it counts: the rest of a repository of which the folder is a part.
    """
    if not path or path.endswith("/") or _TEMPORARY.match(path):
        return None
    if not path.startswith(("/", "~")):
        if base is None or folder is None:
            return None if path.startswith("../") else path
        path = posixpath.normpath(f"{base}/{path}")
    if folder is None:
        return None
    for prefix, instead in ((folder, ""), (posixpath.dirname(folder.rstrip("/")), "../")):
        inside = prefix.rstrip("/") + "/"
        if len(inside) > 1 and path.lower().startswith(inside.lower()):
            return instead + path[len(inside) :]
    return None


def _file_uses(past: Sequence[_Past], weights: Sequence[float]) -> Mapping[str, list[_Use]]:
    """What was done with each file, the newest first; of one that is gone, nothing."""
    uses: dict[str, list[_Use]] = defaultdict(list)
    gone: set[str] = set()
    for each, weight in zip(past, weights, strict=True):
        gone |= each.gone - uses.keys()
        for name, worth in each.files.items():
            if name in uses or not gone & {name, *_above(name)}:
                uses[name].append(
                    _Use(
                        each.artifact.id,
                        each.artifact.session,
                        worth * weight,
                        "changed" if worth == CHANGED else "read",
                    )
                )
    return uses


def _above(name: str) -> Iterator[str]:
    """The folders that a file lies in."""
    while name := name.rpartition("/")[0]:
        yield name


# Commands


def _command_uses(past: Sequence[_Past], weights: Sequence[float]) -> Mapping[str, list[_Use]]:
    """How each command went, once a session, the newest first."""
    uses: dict[str, list[_Use]] = defaultdict(list)
    kinds: dict[str, str] = {}
    for each, weight in zip(past, weights, strict=True):
        met: dict[str, float] = {}
        for command in each.outcome.commands:
            for line, kind in _parts(command.line):
                kinds[line] = kind
                met[line] = max(_KINDS[kind] * _went(command), met.get(line, 0.0))
        for line, worth in met.items():
            uses[line].append(_Use(each.artifact.id, each.artifact.session, worth * weight, "run"))
    needed = {line: met for line, met in uses.items() if kinds[line] != _OTHER or len(met) > 1}
    # What only adds an option to another is made up from that when it is needed.
    return {line: met for line, met in needed.items() if not any(line.startswith(f"{one} -") for one in needed)}


def _went(command: Command) -> float:
    return WENT_WELL if command.ok else UNKNOWN if command.ok is None else FAILED


@functools.lru_cache(maxsize=4096)
def _parts(line: str) -> tuple[tuple[str, str], ...]:
    """The commands of a line that are worth keeping, as they were typed, and what they are for."""
    found = []
    for typed in shell.as_typed(line):
        if len(typed) > _LONGEST or not _is_repeatable(typed):
            continue
        ran = commands.read(typed)
        kind = ran[0].kind if ran and ran[0].program != "cd" else ""
        if kind in _KINDS:
            found.append((typed, kind))
    return tuple(found)


def _is_repeatable(typed: str) -> bool:
    """Whether a command can be run again as it stands: without what is different each time or was cut off."""
    return not (typed.endswith("…") or "$(" in typed or "\n" in typed or _TEMPORARY.search(typed))


# Errors


def _error_uses(past: Sequence[_Past], weights: Sequence[float], session: str | None) -> Mapping[str, list[_Use]]:
    """Where each error was met; what the agent's own tools complain of is of no use to others."""
    uses: dict[str, list[_Use]] = defaultdict(list)
    for each, weight in zip(past, weights, strict=True):
        for line in each.outcome.errors:
            is_over = each.artifact.session == session and line in each.outcome.mended
            if not is_over and not line.startswith(_OWN_TOOLS):
                uses[line].append(_Use(each.artifact.id, each.artifact.session, weight, "met"))
    return uses


# What is asked for


def _weighed(uses: Mapping[str, list[_Use]], asked: frozenset[str]) -> Iterator[Worth]:
    known = Counter(word for name in uses for word in _words(name))
    meant = {word for word in known if _is_meant(word, asked)}
    named = {name: sum(_rarity(known[word], len(uses)) for word in meant & _words(name)) for name in uses}
    most = max(named.values(), default=0.0)
    for name, met in uses.items():
        bonus = SAME_WORDS * named[name] / most if most else 0.0
        ids = tuple(dict.fromkeys(use.id for use in met))[:_PLACES]
        yield Worth(name, ids, sum(use.weight for use in met) + bonus, _why(met, is_named=bonus > 0))


def _is_meant(word: str, asked: frozenset[str]) -> bool:
    """Whether a word of a name is asked for; names run words together, and begin with the one that matters."""
    return word in asked or any(len(one) >= _TELLING and word.startswith(one) for one in asked)


def _why(met: Sequence[_Use], *, is_named: bool) -> str:
    counts = Counter(what for what, _ in dict.fromkeys((use.what, use.session) for use in met))
    told = ", ".join(f"{what} in {count} session{'s' * (count > 1)}" for what, count in counts.items())
    return f"{told}; named in what is asked for" if is_named else told


def _words(text: str) -> frozenset[str]:
    """The words of a text, those that names are put together from included."""
    return relevance.words(_CAMEL.sub(" ", text))
