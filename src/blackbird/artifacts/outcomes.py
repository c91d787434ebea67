"""How each run of a task ended, by the last evidence: what was tested, said and stated, never by what is hoped."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from blackbird.artifacts import prose, quotes, repository, shortening, verdicts
from blackbird.artifacts.model import Artifact, Change, Command, Outcome, Provenance, Status, Type, artifact_id
from blackbird.artifacts.plan import Planned
from blackbird.artifacts.scene import Owner, Run, Scene
from blackbird.artifacts.work import Act
from blackbird.canon.model import Generation, Item, Mark, Message
from blackbird.canon.model import Outcome as Ended
from blackbird.timeline import statements

_COMMANDS = 40
_ERRORS, _FAILURES = 8, 12
_PLACES = 24
_NAMED_FILES = 6
_BULLET = 200
#: Lines of what a harness says of a run.
_SUMMED_UP = 6
_DESCRIPTION = 300
#: What ends sooner is no sentence, but an abbreviation.
_SHORTEST = 12
#: What is stated of a run before anything has come of it.
_BEGINNINGS = frozenset({"run.start", "run.describe", "run.context", "run.pack", "goal"})


class Verdict(NamedTuple):
    """What a piece of evidence says of a run, in words, and where it stands."""

    status: Status
    words: str
    place: Provenance
    order: int


def outcomes(scene: Scene, work: Sequence[Act], builder: str, blocked: Sequence[Verdict] = ()) -> Iterator[Artifact]:
    """One outcome for each run in which something happened; a session without runs has one."""
    by_run: dict[Owner, list[Act]] = {}
    for act in work:
        by_run.setdefault(act.owner, []).append(act)
    spoken: dict[Owner, list[Message]] = {}
    for item in scene.own():
        if isinstance(item, Message) and any(scene.spoken(item)):
            spoken.setdefault(scene.run_of(item).owner, []).append(item)
    asked = {scene.run_of(item).owner: item for item in scene.own() if isinstance(item, Generation)}
    stopped = {scene.run_of(item).owner: item for item in scene.own() if _is_stop(item)}
    for run in scene.runs.values():
        did, said = by_run.get(run.owner, []), spoken.get(run.owner, [])
        # That a run has begun is no way to end.
        if did or said or any(stated.event not in _BEGINNINGS for stated in run.stated):
            ends = [*blocked, *_broken_off(scene, asked.get(run.owner))]
            ends += _stopped(scene, stopped.get(run.owner), did, said)
            found = _outcome(scene, run, did, said, builder, ends)
            if found is not None:
                yield found


def _outcome(
    scene: Scene, run: Run, did: list[Act], said: list[Message], builder: str, blocked: Sequence[Verdict]
) -> Artifact | None:
    last = max(_evidence(scene, run, did, said, blocked), key=lambda verdict: verdict.order, default=None)
    status = last.status if last is not None else Status.UNKNOWN
    files, commands = repository.corrected(_files(did), run, scene.about.cwd), _commands(did)
    errors = _errors(did)
    final = _final(scene, said)
    bullets = tuple(_once((*_summed_up(run), *_bullets(files, commands, final))))
    places = _places(last, did, said, run)
    if not places:
        return None
    task = scene.planned.get(run.task or "", Planned(id=""))
    asked = run.description or task.title or _asked(scene, said)
    title = asked or (f"Task {run.task}" if run.task else "Session")
    return Artifact(
        id=artifact_id(Type.OUTCOME, scene.session, run.task or "", run.id or ""),
        type=Type.OUTCOME,
        session=scene.session,
        task=run.task,
        run=run.id,
        title=shortening.one_line(title, 120),
        content=Outcome(
            status=status,
            decided_by=last.words if last is not None else None,
            description=asked,
            bullets=bullets,
            files=files,
            read=tuple(dict.fromkeys(path for act in did for path in act.read)),
            commands=commands,
            errors=errors,
            mended=_mended(did, errors),
            final=final,
        ),
        provenance=places,
        builder=builder,
        at=_at(run, did, said),
    )


def _evidence(
    scene: Scene, run: Run, did: list[Act], said: list[Message], blocked: Sequence[Verdict]
) -> Iterator[Verdict]:
    """All that says how a run went."""
    for act in did:
        place = quotes.whole(act.result) if act.result is not None else None
        if place is None or act.result is None:
            continue
        order = scene.order[act.result.id]
        if act.verdict is not None and act.command is not None:
            words = f"`{shortening.one_line(act.command.line, 80)}`: {act.command.said or _ended(act.command)}"
            yield Verdict(Status.SUCCESS if act.verdict else Status.FAIL, words, place, order)
        elif act.is_refused:
            yield Verdict(Status.BLOCKED, f"the user refused {act.call.call.name}", place, order)
    for message in said:
        for part, is_human in scene.spoken(message):
            found = verdicts.read(part.text) if is_human else None
            if found is None:
                continue
            place = quotes.of_text(message, part.text, part.spans, found.first, found.last)
            if place is not None:
                words = f"the user: {shortening.one_line(part.text[found.first : found.last], 80)}"
                status = Status.SUCCESS if found.is_good else Status.FAIL
                yield Verdict(status, words, place, scene.order[message.id])
    yield from (verdict for verdict in blocked if _is_of(scene, verdict, run))
    yield from _stated(scene, run)


def _is_of(scene: Scene, verdict: Verdict, run: Run) -> bool:
    at = scene.order.get(verdict.place.item)
    return at is not None and scene.run_of(scene.items[at]).owner == run.owner


def _broken_off(scene: Scene, last: Generation | None) -> Iterator[Verdict]:
    """A run whose last request came to nothing."""
    if last is not None and last.outcome is Ended.ERROR and last.evidence:
        words = last.failure.message if last.failure is not None else f"status {last.status}"
        place = Provenance(item=last.id, evidence=last.evidence[0])
        yield Verdict(Status.FAIL, f"the provider: {shortening.one_line(words, 80)}", place, scene.order[last.id])


def _is_stop(item: Item) -> bool:
    return isinstance(item, Mark) and item.kind == "interrupt"


def _stopped(scene: Scene, stop: Item | None, did: list[Act], said: list[Message]) -> Iterator[Verdict]:
    """A run that its user stopped, and in which nothing happened since: what went well before says nothing of it."""
    if stop is None or not stop.evidence:
        return
    last = max((scene.order[one.id] for one in (*(act.call for act in did), *said)), default=-1)
    if scene.order[stop.id] > last:
        place = Provenance(item=stop.id, evidence=stop.evidence[0])
        yield Verdict(Status.UNKNOWN, "the user interrupted it", place, scene.order[stop.id])


def _stated(scene: Scene, run: Run) -> Iterator[Verdict]:
    """What the harness says, which is the last word; of an agent's exit code, only one that says no."""
    behind = len(scene.items)
    for number, stated in enumerate(run.stated):
        place = quotes.of_statement(stated)
        if stated.event == statements.OUTCOME and stated.data.get("status") in set(Status):
            yield Verdict(Status(stated.data["status"]), "the harness", place, behind + number + 1)
        elif stated.event == "run.end" and (run.exit_code or run.signal):
            words = (
                f"the agent ended with {run.exit_code}" if run.exit_code else f"the agent was ended by {run.signal}"
            )
            yield Verdict(Status.FAIL, words, place, behind)


def _ended(command: Command) -> str:
    return f"exit code {command.exit_code}" if command.exit_code is not None else "passed" if command.ok else "failed"


def _files(did: list[Act]) -> tuple[Change, ...]:
    """Each file once, with all that was added to it and taken from it; the last cause counts."""
    found: dict[str, Change] = {}
    for change in (change for act in did for change in act.changes):
        known = found.get(change.path)
        if known is None:
            found[change.path] = change
            continue
        found[change.path] = Change(
            path=change.path,
            added=_sum(known.added, change.added),
            removed=_sum(known.removed, change.removed),
            action=known.action if known.action == "created" and change.action == "edited" else change.action,
            symbols=tuple(dict.fromkeys((*known.symbols, *change.symbols))),
            cause=change.cause,
            request=change.request,
        )
    return tuple(found.values())


def _errors(did: list[Act]) -> tuple[str, ...]:
    """What went wrong, each once: the first line of each error, then what is named as failed."""
    first = [act.error.text for act in did if act.error is not None]
    named = [line for act in did for line in act.failures]
    return tuple(dict.fromkeys((*list(dict.fromkeys(first))[:_ERRORS], *named)))[: _ERRORS + _FAILURES]


def _mended(did: list[Act], errors: Sequence[str]) -> tuple[str, ...]:
    """The errors that were not there any more when the same command was run again and went well."""
    open_errors: dict[str, set[str]] = {}
    mended: set[str] = set()
    for act in did:
        told = {*([act.error.text] if act.error is not None else []), *act.failures}
        mended -= told
        if act.command is not None and act.command.ok:
            mended |= open_errors.pop(act.known_as, set())
        elif act.command is not None:
            open_errors.setdefault(act.known_as, set()).update(told)
    return tuple(error for error in errors if error in mended)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _commands(did: list[Act]) -> tuple[Command, ...]:
    """The commands, of a row of the same with the same end one; of very many the first and the last."""
    found: list[Command] = []
    for command in (act.command for act in did if act.command is not None):
        last = found[-1] if found else None
        if last is not None and (last.line, last.exit_code, last.ok) == (command.line, command.exit_code, command.ok):
            found[-1] = Command(
                line=command.line,
                kind=command.kind,
                exit_code=command.exit_code,
                ok=command.ok,
                said=command.said,
                times=last.times + 1,
                item=command.item,
            )
        else:
            found.append(command)
    half = _COMMANDS // 2
    return tuple(found if len(found) <= _COMMANDS else [*found[:half], *found[-half:]])


def _final(scene: Scene, said: list[Message]) -> str | None:
    """What the agent said last, on its own thread."""
    for message in reversed(said):
        texts = [part.text for part, is_human in scene.spoken(message) if not is_human]
        if texts and message.thread not in scene.subagents:
            return shortening.one_line("\n".join(texts), 600)
    return None


def _asked(scene: Scene, said: list[Message]) -> str | None:
    """What the human typed first; what they only passed on counts if they typed nothing."""
    asked = [part.text for message in said for part, is_human in scene.spoken(message) if is_human]
    words = (" ".join(text[first:last] for first, last in prose.typed(text)) for text in asked)
    found = next((text for text in words if text.strip()), None) or next(
        (text for text in asked if text.strip()), None
    )
    return shortening.one_line(found, _DESCRIPTION) if found is not None else None


def _summed_up(run: Run) -> tuple[str, ...]:
    """What the harness says of a run, line by line; its last word."""
    told = [one.data.get("summary") for one in run.stated if one.event == statements.OUTCOME]
    last = next((text for text in reversed(told) if isinstance(text, str) and text.strip()), "")
    lines = [shortening.one_line(line.strip().lstrip("-*•").lstrip(), _BULLET) for line in last.splitlines()]
    return tuple([line for line in lines if line][:_SUMMED_UP])


def _at(run: Run, did: list[Act], said: list[Message]) -> int | None:
    """When a run ended; of one without an end, when something was last heard of it."""
    if run.ended is not None:
        return run.ended
    times = [act.at for act in did] + [one.at for one in said]
    return max((at for at in times if at), default=None) or (run.stated[-1].at if run.stated else None)


def _once(bullets: Iterable[str]) -> list[str]:
    """Bullets without those that only say again what another says: the same words, or the first of them."""
    kept: list[str] = []
    for bullet in bullets:
        words = prose.normal(bullet)
        if not any(prose.normal(one).startswith(words) for one in kept):
            kept.append(bullet)
    return kept


def _bullets(files: tuple[Change, ...], commands: tuple[Command, ...], final: str | None) -> tuple[str, ...]:
    bullets: list[str] = []
    if files:
        named = ", ".join(_file(change) for change in files[:_NAMED_FILES])
        more = f" and {len(files) - _NAMED_FILES} more" if len(files) > _NAMED_FILES else ""
        bullets.append(f"Changed {named}{more}")
    last = next(
        (one for one in reversed(commands) if one.kind in ("test", "build", "lint") and one.ok is not None), None
    )
    if last is not None:
        bullets.append(f"`{shortening.one_line(last.line, 80)}`: {last.said or _ended(last)}")
    if final:
        bullets.append(first_sentence(final))
    return tuple(shortening.one_line(bullet, _BULLET) for bullet in bullets)


def first_sentence(text: str) -> str:
    """The first sentence of a line."""
    for at, sign in enumerate(text):
        if sign in ".!?" and text[at + 1 : at + 2] in ("", " ") and at > _SHORTEST:
            return text[: at + 1]
    return text


def _file(change: Change) -> str:
    if change.action != "edited":
        return f"{change.path} ({change.action})"
    return f"{change.path} (+{change.added} −{change.removed})" if change.added is not None else change.path


def _places(last: Verdict | None, did: list[Act], said: list[Message], run: Run) -> tuple[Provenance, ...]:
    """What decided it first, then what changed something or went wrong, then the words at both ends."""
    found = [last.place] if last is not None else []
    telling = [act for act in did if act.changes or act.verdict is not None or act.error is not None]
    telling = telling or (did[-1:] if not said else [])
    found += [place for act in telling if act.result is not None and (place := quotes.whole(act.result)) is not None]
    found += [place for message in (*said[:1], *said[-1:]) if (place := quotes.whole(message)) is not None]
    stated = [one for one in run.stated if one.event == repository.CHANGES] or run.stated[:2]
    found += [quotes.of_statement(one) for one in stated]
    return tuple(list(dict.fromkeys(found))[:_PLACES])
