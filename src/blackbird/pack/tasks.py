"""What earlier tasks did, a line a task whatever its runs, and what failed in them and is not to be tried again."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from blackbird.artifacts.model import Artifact, Command, Outcome, Status
from blackbird.pack import planning, relevance
from blackbird.pack.marking import quoted
from blackbird.pack.material import Candidate, Choice, Material
from blackbird.pack.model import LeftOut

#: How many tasks are told of, and in how many bullets each at most.
LAST_TASKS = 8
_BULLETS = 3
_LENGTHS = (160, 80, 50)
_BULLET = 140
_ERRORS = 2
_LOOKING, _CHECKING = ("search", "read"), ("test", "build", "lint", "format")
#: What the agent's own tools complain of says nothing of the project.
_OWN_TOOLS = ("<", "Exit code")
#: Who says that a run did not end well, without a word on why.
_SAYING_NOTHING = ("the harness", "the agent ended with", "the agent was ended by")
_CUT = re.compile(r"(?: 2>&1)?(?: \| (?:head|tail)\b[^|;&]*)?$")
_LONG = (200, 120, 70)


class Done(NamedTuple):
    """A task, or a session without tasks: the outcome of each of its runs, the last one last."""

    session: str
    task: str | None
    runs: tuple[tuple[Artifact, Outcome], ...]

    @property
    def last(self) -> tuple[Artifact, Outcome]:
        """How it stands."""
        return self.runs[-1]


class _Failure(NamedTuple):
    """Something that went wrong and was not put right later; `worth` is how much that says."""

    artifact: Artifact
    forms: tuple[str, ...]
    why: str
    worth: float


def implemented(material: Material) -> Choice:
    """The last tasks: how each ended, and one to three bullets."""
    done = tasks(material)
    ages = relevance.ages([one.last[0].at for one in done])
    left_out = [
        LeftOut(id=one.last[0].id, section="implemented", title=_title(one), why="an older task")
        for one in done[LAST_TASKS:]
    ]
    told = [_told(material, one, age) for one, age in zip(done[:LAST_TASKS], ages, strict=False)]
    so_far = planning.checkpoint(material)
    return Choice("implemented", "Done before", [*([so_far] if so_far is not None else []), *told], left_out)


def tasks(material: Material) -> list[Done]:
    """The tasks of the session, the newest first, then those of other sessions."""
    runs: dict[tuple[str, str | None], list[tuple[Artifact, Outcome]]] = {}
    for artifact in material.every():
        if isinstance(artifact.content, Outcome):
            key = (artifact.session, artifact.task if artifact.task is not None else artifact.run)
            runs.setdefault(key, []).append((artifact, artifact.content))
    found = [
        Done(session, group[0][0].task, tuple(sorted(group, key=lambda run: (run[0].at or 0, run[0].id))))
        for (session, _), group in runs.items()
    ]
    return sorted(
        found, key=lambda one: (material.is_other(one.last[0]), -(one.last[0].at or 0), one.session, one.last[0].id)
    )


def _told(material: Material, done: Done, age: float) -> Candidate:
    artifact, outcome = done.last
    files = [change.path for change in outcome.files]
    weight = relevance.weigh(material.ahead, _title(done), files, age=age, task_id=done.task)
    runs = f" after {len(done.runs)} runs" if len(done.runs) > 1 else ""
    status = "" if outcome.status is Status.UNKNOWN else f"{outcome.status}{runs}: "
    if planning.is_open_again(material, done.session, done.task):
        status = f"open, last run {outcome.status}: "
    name = f"{quoted(done.task, 64)}: " if done.task is not None else ""
    what = outcome.description or artifact.title
    reason = _reason(outcome) if _is_ahead(material, done) else None
    bullets = [bullet for bullet in outcome.bullets[:_BULLETS] if bullet != reason]
    return Candidate(
        ids=tuple(run.id for run, _ in reversed(done.runs[-2:])),
        forms=tuple(dict.fromkeys(f"{name}{status}{quoted(what, longest)}" for longest in _LENGTHS)),
        bullets=tuple(quoted(bullet, _BULLET) for bullet in bullets),
        why="; ".join(("one of the last tasks", *weight.why)),
        session=artifact.session if material.is_other(artifact) else None,
    )


def _title(done: Done) -> str:
    artifact, outcome = done.last
    return quoted(f"{done.task or ''} {outcome.description or artifact.title}", 120)


def warnings(material: Material) -> Choice:
    """What failed: tasks that ended so, commands that never went well afterwards, errors nobody saw the end of."""
    found = list(_failures(material, tasks(material)))
    ages = relevance.ages([failure.artifact.at for failure in found])
    ranked = []
    seen: set[str] = set()
    left_out = []
    for failure, age in zip(found, ages, strict=True):
        if failure.forms[0] in seen:
            left_out.append(
                LeftOut(id=failure.artifact.id, section="warnings", title=failure.forms[0], why="it is told already")
            )
            continue
        seen.add(failure.forms[0])
        weight = relevance.weigh(material.ahead, failure.forms[0], age=age, task_id=failure.artifact.task)
        is_other = material.is_other(failure.artifact)
        candidate = Candidate(
            ids=(failure.artifact.id,),
            forms=failure.forms,
            why="; ".join((failure.why, *weight.why)),
            session=failure.artifact.session if is_other else None,
        )
        score = weight.score + failure.worth
        ranked.append(((is_other, -score, failure.artifact.id, failure.forms[0]), candidate))
    ranked.sort(key=lambda pair: pair[0])
    return Choice("warnings", "Do not redo", [candidate for _, candidate in ranked], left_out)


def _failures(material: Material, done: Sequence[Done]) -> Iterator[_Failure]:
    put_right = _put_right(done)
    for place, one in enumerate(done):
        artifact, outcome = one.last
        reason = _reason(outcome)
        is_said = place < LAST_TASKS and reason in outcome.bullets[:_BULLETS] and not _is_ahead(material, one)
        if reason is not None and not is_said:
            yield _failure(artifact, f"{_tried(material, one)}: {reason}", f"it ended in {outcome.status}", 1.0)
        for artifact, outcome in reversed(one.runs):
            for command in outcome.commands:
                is_right = put_right.get(_line(command), -1) >= (artifact.at or 0)
                if command.ok is False and not is_right and _is_telling(command, outcome):
                    text = f"`{quoted(_line(command), 80)}` failed{_end(command)}"
                    yield _failure(artifact, text, "it failed, and no later run of it went well", 0.5)
            if outcome.status is not Status.SUCCESS:
                errors = [error for error in outcome.errors if not error.startswith(_OWN_TOOLS)]
                for error in [error for error in errors if error not in outcome.mended][:_ERRORS]:
                    yield _failure(artifact, f"error met: {error}", "an error of a run that did not end well", 0.0)


def _reason(outcome: Outcome) -> str | None:
    """Why a run did not end well, in words that say more than that it did not."""
    is_bad = outcome.status in (Status.FAIL, Status.BLOCKED)
    words = outcome.decided_by if is_bad else None
    return None if words is None or words.startswith(_SAYING_NOTHING) else words


def _is_ahead(material: Material, done: Done) -> bool:
    """Whether it is the very task that is tried again."""
    wanted = material.wanted
    return done.task is not None and done.task == wanted.task and done.session == wanted.session


def _tried(material: Material, done: Done) -> str:
    """What did not end well, by its id: what it was about may be a rule, which must not be turned around."""
    ended = "failed" if done.last[1].status is Status.FAIL else "was blocked"
    if _is_ahead(material, done):
        return f"earlier attempt of this task {ended}"
    return f"{quoted(done.task, 64)} {ended}" if done.task is not None else f"an earlier run {ended}"


def _is_telling(command: Command, outcome: Outcome) -> bool:
    """Whether it says something that a command failed.

    A look that found nothing does not, nor does a check that failed on the way to a good end, nor what decided the
    end of the run and is told with it.
    """
    if command.kind in _LOOKING or f"`{command.line}`" in (outcome.decided_by or ""):
        return False
    return not (command.kind in _CHECKING and outcome.status is Status.SUCCESS)


def _put_right(done: Sequence[Done]) -> dict[str, int]:
    """For each command when it last went well."""
    found: dict[str, int] = {}
    for one in done:
        for artifact, outcome in one.runs:
            last = {_line(command): command.ok for command in outcome.commands}
            for line, is_well in last.items():
                if is_well:
                    found[line] = max(found.get(line, 0), artifact.at or 0)
    return found


def _end(command: Command) -> str:
    if command.said is not None:
        return f": {command.said}"
    return f" with {command.exit_code}" if command.exit_code else ""


def _line(command: Command) -> str:
    """A command to know it again by, without what only cuts its output."""
    return _CUT.sub("", " ".join(command.line.split()))


def _failure(artifact: Artifact, text: str, why: str, worth: float) -> _Failure:
    return _Failure(artifact, tuple(dict.fromkeys(quoted(text, longest) for longest in _LONG)), why, worth)
