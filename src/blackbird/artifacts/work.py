"""What the calls of a session did: files changed and read, commands run and how they ended, in order."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec
from blackbox.events.tools import MODIFYING, Access

from blackbird.artifacts import commands, diffs, outputs, paths, quotes, shortening
from blackbird.artifacts.model import Change, Command, Provenance
from blackbird.artifacts.outputs import Report
from blackbird.artifacts.scene import Deed, Run, Scene
from blackbird.canon.model import Call, Result
from blackbird.deeds import changes
from blackbird.deeds.results import exit_code, is_error, is_interrupted
from blackbox.events import tools

_COMMAND = 400
_ERROR = 200
#: What a client prints before the words of a command.
_TEST_KINDS = frozenset({"test", "build", "lint"})


class Error(NamedTuple):
    """The first line of what went wrong, and where it stands."""

    text: str
    place: Provenance


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """What one call did. `is_refused`: the user did not let it happen."""

    call: Call
    result: Result | None
    run: str | None
    at: int | None
    command: Command | None = None
    #: The same command is known again by this, and what each program of the line is.
    known_as: str = ""
    changes: tuple[Change, ...] = ()
    read: tuple[str, ...] = ()
    reports: tuple[Report, ...] = ()
    error: Error | None = None
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
    is_refused = result is not None and result.details.get("is_rejected") is True
    act = Act(
        call=deed.call,
        result=deed.result,
        run=run.id,
        at=deed.result.at if deed.result is not None else deed.call.at,
        is_refused=is_refused,
    )
    if is_refused:
        return act
    if tools.is_command(deed.call.call.name):
        return _command(scene, deed, act)
    return msgspec.structs.replace(
        act,
        changes=tuple(_edits(scene, deed)),
        read=tuple(_reads(scene, deed)),
        error=_failure(deed),
    )


def _command(scene: Scene, deed: Deed, act: Act) -> Act:
    line = _line(deed.call.call.arguments or {}, deed.call.call.raw)
    ran = commands.read(line)
    result = deed.outcome
    text = result.text if result is not None else ""
    reports = outputs.read(text, line) if text else ()
    code = exit_code(result) if result is not None else None
    main = next((one for one in ran if one.kind in _TEST_KINDS), ran[0] if ran else None)
    kind = next((report.kind for report in reports if report.kind in _TEST_KINDS), main.kind if main else "other")
    return msgspec.structs.replace(
        act,
        command=Command(
            line=shortening.one_line(line, _COMMAND),
            kind=kind,
            exit_code=code,
            ok=_ok(deed, reports, code, is_hidden=any(one.is_hidden for one in ran if one.kind == kind)),
            said="; ".join(report.summary for report in reports if report.summary) or None,
            item=deed.call.id,
        ),
        known_as=" && ".join(one.normal for one in ran if one.kind == kind) or shortening.one_line(line, _COMMAND),
        changes=tuple(_patched(scene, deed)),
        read=tuple(dict.fromkeys(paths.relative(path, scene.about.cwd) for one in ran for path in one.reads)),
        reports=reports,
        error=_error(deed, reports) or _failure(deed),
    )


def _ok(deed: Deed, reports: tuple[Report, ...], code: int | None, *, is_hidden: bool) -> bool | None:
    """What the output says counts before the exit code, which may be that of the last program of a pipe."""
    said = [report.ok for report in reports if report.ok is not None]
    if said:
        return all(said)
    if deed.outcome is None or is_interrupted(deed.outcome) or is_hidden:
        return None
    if code is not None:
        return code == 0
    return False if deed.outcome.error is True else None


def _line(given: dict[str, Any], raw: str) -> str:
    """The command line; a list of words is one, too."""
    value = next(tools.named(given, tools.keys().commands), None)
    if isinstance(value, list):
        return commands.joined([str(word) for word in value])
    return value if isinstance(value, str) else raw


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
    named = tools.paths_in(call.arguments or {}) or ([given.path] if given is not None and given.path else [])
    for path in named:
        yield _change(
            scene,
            deed,
            path,
            added=given.added if given is not None and len(named) == 1 else None,
            removed=given.removed if given is not None and len(named) == 1 else None,
            action=_ACTIONS.get(access, "edited"),
            symbols=diffs.symbols(given.lines) if given is not None else (),
        )


_ACTIONS = {Access.DELETE: "deleted"}


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
    first = next((line for line in result.text.split("\n") if line.strip()), "")
    at = result.text.find(first) if first else 0
    place = quotes.of_text(deed.result, result.text, result.spans, at, at + len(first))
    return Error(shortening.one_line(first or "failed", _ERROR), place) if place is not None else None
