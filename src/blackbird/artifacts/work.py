"""What the calls of a session did: files changed and read, commands run and how they ended, in order."""

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from blackbird.artifacts import commands, diffs, outputs, paths, quotes, shortening, symbols
from blackbird.artifacts.commands import Ran
from blackbird.artifacts.model import Change, Command, Provenance
from blackbird.artifacts.outputs.report import Report
from blackbird.artifacts.scene import Deed, Owner, Run, Scene
from blackbird.canon.model import Call, Result
from blackbird.deeds import changes
from blackbird.deeds.results import exit_code, is_error, is_interrupted, is_refused
from blackbox.events import tools
from blackbox.events.tools import MODIFYING, Access

_COMMAND = 400
_ERROR = 200
_TEST_KINDS = frozenset({"test", "build", "lint"})
_ONLY_CODE = re.compile(r"\s*Exit code:? -?\d+\s*")


class Error(NamedTuple):
    """The first line of what went wrong, and where it stands."""

    text: str
    place: Provenance


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What one call did. `is_refused`: the user did not let it happen."""

    call: Call
    result: Result | None
    owner: Owner
    at: int | None
    command: Command | None = None
    #: The same command is known again by this, and what each program of the line is.
    known_as: str = ""
    changes: tuple[Change, ...] = ()
    read: tuple[str, ...] = ()
    reports: tuple[Report, ...] = ()
    error: Error | None = None
    #: The lines that name what failed: tests, targets, files.
    failures: tuple[str, ...] = ()
    is_refused: bool = False

    @property
    def verdict(self) -> bool | None:
        """Whether a test, a build or a check went well; None for anything else, and where nobody knows."""
        return self.command.ok if self.command is not None and self.command.kind in _TEST_KINDS else None


def acts(scene: Scene, known: dict[str, tuple[Deed, Act]]) -> list[Act]:
    """What each call of this session did. `known` keeps what was found for calls that did not change since."""
    found: list[Act] = []
    for deed in scene.deeds:
        if deed.call.is_inherited:
            continue
        before = known.get(deed.call.id)
        if before is None or before[0].call is not deed.call or before[0].result is not deed.result:
            before = known[deed.call.id] = (deed, _act(scene, deed, scene.run_of(deed.call)))
        found.append(before[1])
    return found


def _act(scene: Scene, deed: Deed, run: Run) -> Act:
    result = deed.outcome
    act = Act(
        call=deed.call,
        result=deed.result,
        owner=run.owner,
        at=deed.result.at if deed.result is not None else deed.call.at,
        is_refused=result is not None and is_refused(result),
    )
    if act.is_refused:
        return act
    if tools.is_command(deed.call.call.name) or _told_command(deed) is not None:
        return _command(scene, deed, act)
    return msgspec.structs.replace(
        act,
        changes=tuple(_edits(scene, deed)),
        read=tuple(_reads(scene, deed)),
        error=_failure(deed),
    )


def _command(scene: Scene, deed: Deed, act: Act) -> Act:
    line = _line(deed)
    ran = commands.read(line)
    result = deed.outcome
    text = result.text if result is not None else ""
    reports = outputs.read(text, line) if text else ()
    code = exit_code(result) if result is not None else None
    kind = _kind(ran, reports)
    telling = [one for one in ran if one.kind == kind] or list(ran)
    return msgspec.structs.replace(
        act,
        command=Command(
            line=shortening.one_line(line, _COMMAND),
            kind=kind,
            exit_code=code,
            ok=_ok(deed, telling, reports, code),
            said="; ".join(report.summary for report in reports if report.summary) or None,
            item=deed.call.id,
        ),
        known_as=shortening.one_line(" && ".join(one.line for one in telling) or line, _COMMAND),
        changes=(*_patched(scene, deed), *_written(scene, deed, ran, code)),
        read=tuple(dict.fromkeys(paths.relative(path, scene.about.cwd) for one in ran for path in one.reads)),
        reports=reports,
        error=_error(deed, reports) or _failure(deed),
        failures=tuple(
            dict.fromkeys(shortening.one_line(one.at.text, _ERROR) for report in reports for one in report.failures)
        ),
    )


def _kind(ran: Sequence[Ran], reports: Sequence[Report]) -> str:
    """What a line was run for: to test, to build or to check before anything else."""
    kinds = [*(report.kind for report in reports), *(one.kind for one in ran)]
    return next((kind for kind in kinds if kind in _TEST_KINDS), ran[0].kind if ran else "other")


def _ok(deed: Deed, ran: Sequence[Ran], reports: tuple[Report, ...], code: int | None) -> bool | None:
    """What the output says counts before the exit code, which may be that of the last program of a pipe."""
    said = [report.ok for report in reports if report.ok is not None]
    if said:
        return all(said)
    if deed.outcome is None or is_interrupted(deed.outcome):
        return None
    if code is not None:
        ends = [one.went_well(code) for one in ran] or [code == 0]
        return False if False in ends else None if None in ends else True
    return False if deed.outcome.error is True else None


def _line(deed: Deed) -> str:
    """The command line; a list of words is one, too. Of a tool that no model called, who ran it knows."""
    call = deed.call.call
    value = next(tools.named(call.arguments or {}, tools.keys().commands), None)
    if isinstance(value, list):
        return shlex.join(str(word) for word in value)
    return value if isinstance(value, str) else _told_command(deed) or call.raw


def _told_command(deed: Deed) -> str | None:
    value = deed.outcome.details.get("command") if deed.outcome is not None else None
    return value if isinstance(value, str) and value else None


def _written(scene: Scene, deed: Deed, ran: Sequence[Ran], code: int | None) -> Iterator[Change]:
    """The files that a line of shell says it writes or removes, unless it failed."""
    if deed.outcome is None or code or is_error(deed.outcome):
        return
    for one in ran:
        for path in one.writes:
            if not path.startswith("/dev/"):
                yield _change(scene, deed, path)
        for path in one.removes:
            yield _change(scene, deed, path, action="deleted")


def _edits(scene: Scene, deed: Deed) -> Iterator[Change]:
    """The files that an edit changed; one that failed changed none."""
    call, result = deed.call.call, deed.outcome
    access = tools.access_of(call.name, call.arguments)
    if access not in MODIFYING or result is None or is_error(result) or is_interrupted(result):
        return
    patched = list(_patched(scene, deed))
    if patched:
        yield from patched
        return
    given = changes.change_of(call, result)
    written = result.details.get("writes")
    named = [path for path in written if isinstance(path, str)] if isinstance(written, list) else []
    named = named or tools.paths_in(call.arguments or {})
    named = named or ([given.path] if given is not None and given.path else [])
    for path in named:
        yield _change(
            scene,
            deed,
            path,
            added=given.added if given is not None and len(named) == 1 else None,
            removed=given.removed if given is not None and len(named) == 1 else None,
            action=_ACTIONS.get(access, "edited"),
            symbols=_symbols(path, given.lines) if given is not None else (),
        )


_ACTIONS = {Access.DELETE: "deleted"}


def _symbols(path: str, lines: Iterable[str]) -> tuple[str, ...]:
    """What lines that came or went define."""
    language = symbols.language_of(path)
    if language is None:
        return ()
    named = (symbols.defined(language, line[1:].removeprefix(" ")) for line in lines if line[:1] in ("+", "-"))
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _patched(scene: Scene, deed: Deed) -> Iterator[Change]:
    """What a patch says that the client's own log, a hook or the call itself has."""
    if deed.outcome is None:
        return
    patch = next((one for key in ("patch", "diff") if isinstance(one := deed.outcome.details.get(key), str)), None)
    if patch is None:
        patch = tools.first_text(deed.call.call.arguments or {}, tools.keys().patches)
        patch = patch if patch is not None and tools.patched_in(patch) else None
    for file in diffs.read(patch) if patch is not None else ():
        yield _change(
            scene,
            deed,
            file.path,
            added=file.added,
            removed=file.removed,
            action=file.action,
            symbols=file.symbols,
        )


def _change(scene: Scene, deed: Deed, path: str, **more: Any) -> Change:
    return Change(
        path=paths.relative(path, scene.about.cwd), cause=deed.call.id, request=scene.request_of(deed.call), **more
    )


def _reads(scene: Scene, deed: Deed) -> Iterable[str]:
    call, result = deed.call.call, deed.outcome
    if result is None or is_error(result) or tools.access_of(call.name, call.arguments) is not Access.READ:
        return ()
    return dict.fromkeys(paths.relative(path, scene.about.cwd) for path in tools.paths_in(call.arguments or {}))


def _error(deed: Deed, reports: tuple[Report, ...]) -> Error | None:
    """The first error that the output of a program names."""
    first = next((report.first_error for report in reports if report.first_error is not None), None)
    if first is None or deed.result is None:
        return None
    result = deed.result.result
    place = quotes.of_text(deed.result, result.text, result.spans, first.first, first.last)
    return Error(shortening.one_line(first.text, _ERROR), place) if place is not None else None


def _failure(deed: Deed) -> Error | None:
    """The first line of what a call that failed said."""
    if deed.result is None or not is_error(deed.result.result):
        return None
    result = deed.result.result
    lines = [line for line in result.text.split("\n") if line.strip()]
    # That there was an exit code is known; why comes behind it.
    first = next((line for line in lines if not _ONLY_CODE.fullmatch(line)), lines[0] if lines else "")
    at = result.text.find(first) if first else 0
    place = quotes.of_text(deed.result, result.text, result.spans, at, at + len(first))
    return Error(shortening.one_line(first or "failed", _ERROR), place) if place is not None else None
