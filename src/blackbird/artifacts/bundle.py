"""The evidence of one task in a bounded form: all that whoever wants to describe it better may see."""

from collections.abc import Iterable, Sequence

import msgspec

from blackbird.artifacts import shortening
from blackbird.artifacts.model import Artifact, Change, Command, Outcome, Segment, Speaker, Type

#: Characters of each part.
_DESCRIPTION, _TURN, _OUTPUT = 1000, 1500, 600
_TURNS, _COMMANDS, _FILES, _ERRORS = 6, 20, 40, 8


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of a task: nothing else is to be looked at, and nothing can be called."""

    session: str
    task: str | None
    run: str | None
    description: str | None
    status: str
    decided_by: str | None
    #: What the agent said last, and before that; the last is whole up to the bound.
    turns: tuple[str, ...]
    commands: tuple[Command, ...]
    files: tuple[Change, ...]
    errors: tuple[str, ...]
    #: What was left out for the bound, by part.
    left_out: dict[str, int]
    #: The artifacts that it is made of.
    sources: tuple[str, ...]


def bundle(outcome: Artifact, artifacts: Iterable[Artifact]) -> Bundle:
    """The bundle of the task that an outcome is of; the same artifacts always give the same bundle."""
    content = outcome.content
    if not isinstance(content, Outcome):
        raise TypeError(f"{outcome.id} is no outcome")
    said = _said(outcome, artifacts)
    turns = [one.content.text for one in said if isinstance(one.content, Segment)]
    parts: dict[str, tuple[int, int]] = {
        "turns": (len(turns), _TURNS),
        "commands": (len(content.commands), _COMMANDS),
        "files": (len(content.files), _FILES),
        "errors": (len(content.errors), _ERRORS),
    }
    return Bundle(
        session=outcome.session,
        task=outcome.task,
        run=outcome.run,
        description=shortening.one_line(content.description, _DESCRIPTION) if content.description else None,
        status=content.status,
        decided_by=content.decided_by,
        turns=tuple(_cut(text, _TURN) for text in turns[-_TURNS:]),
        commands=content.commands[-_COMMANDS:],
        files=content.files[:_FILES],
        errors=tuple(_cut(error, _OUTPUT) for error in content.errors[:_ERRORS]),
        left_out={name: there - most for name, (there, most) in parts.items() if there > most},
        sources=(outcome.id, *(one.id for one in said[-_TURNS:])),
    )


def _said(outcome: Artifact, artifacts: Iterable[Artifact]) -> Sequence[Artifact]:
    """What the agent said in that run, in order."""
    return sorted(
        (
            one
            for one in artifacts
            if one.type is Type.SEGMENT
            and (one.session, one.run) == (outcome.session, outcome.run)
            and isinstance(one.content, Segment)
            and one.content.speaker == Speaker.AGENT
        ),
        key=lambda one: one.content.position if isinstance(one.content, Segment) else 0,
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
