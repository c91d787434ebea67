"""What people and agents say: decisions, constraints and what is left open, as the prose has them."""

from collections.abc import Iterator

import msgspec

from blackbird.artifacts import prose, quotes, shortening
from blackbird.artifacts.claims import Claim
from blackbird.artifacts.model import Reach, Signal, Speaker, ThreadKind, ThreadState, Type
from blackbird.artifacts.prose import Hint
from blackbird.artifacts.scene import Scene
from blackbird.canon.model import Message, Text


class Memory:
    """Keeps what was read in a message, so that a session that grows is not read again from its start."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[Message, str, list[tuple[Text, Hint, bool]]]] = {}

    def claims(self, scene: Scene) -> Iterator[Claim]:
        """What each message claims. A question that an agent asked is answered by what its user says next."""
        before: dict[str, str] = {}
        waiting: dict[str, list[Claim]] = {}
        for item in scene.items:
            if not isinstance(item, Message):
                continue
            spoken = list(scene.spoken(item))
            if not spoken:
                continue
            is_human = any(human for _, human in spoken)
            if is_human:
                yield from _answered(scene, item, waiting.pop(item.thread, []))
            for part, hint, is_humans in self._hints(item, spoken, before.get(item.thread, "")):
                claim = _claim(scene, item, part, hint, is_human=is_humans)
                if claim is not None:
                    if claim.kind is ThreadKind.QUESTION and claim.type is Type.THREAD:
                        waiting.setdefault(item.thread, []).append(claim)
                    yield claim
            if not is_human:
                before[item.thread] = spoken[-1][0].text

    def _hints(self, message: Message, spoken: list[tuple[Text, bool]], before: str) -> list[tuple[Text, Hint, bool]]:
        known = self._read.get(message.id)
        if known is None or known[0] is not message or known[1] != before:
            found = [
                (part, hint, is_human)
                for part, is_human in spoken
                for hint in prose.read(part.text, Speaker.USER if is_human else Speaker.AGENT, before)
            ]
            known = self._read[message.id] = (message, before, found)
        return known[2]


def _claim(scene: Scene, message: Message, part: Text, hint: Hint, *, is_human: bool) -> Claim | None:
    place = quotes.of_text(message, part.text, part.spans, hint.first, hint.last)
    if place is None:
        return None
    run = scene.run_of(message)
    because = hint.rationale
    must = hint.must is not False
    # What is forbidden stands where else what is chosen does.
    named = hint.choice or (hint.rejected[0] if not must and len(hint.rejected) == 1 else None)
    return Claim(
        type=hint.kind,
        statement=shortening.one_line(hint.statement),
        normal=prose.normal(hint.statement),
        by=Speaker.USER if is_human else Speaker.AGENT,
        signal=Signal.IMPERATIVE if is_human else Signal.PROSE,
        provenance=(place,),
        order=scene.order[message.id],
        at=message.at,
        task=run.task,
        run=run.id,
        subject=hint.subject,
        choice=named,
        chosen=prose.key(named) if named is not None else None,
        rejected=hint.rejected if must else (),
        rationale=shortening.one_line(part.text[because[0] : because[1]]) if because is not None else None,
        must=must,
        reach=Reach.TASK if hint.is_local else Reach.SESSION,
        is_revert=hint.reverts,
        kind=hint.thread or ThreadKind.TODO,
        state=hint.state or ThreadState.OPEN,
    )


def _answered(scene: Scene, message: Message, waiting: list[Claim]) -> Iterator[Claim]:
    place = quotes.whole(message)
    words = next((part.text for part, is_human in scene.spoken(message) if is_human), "")
    for claim in waiting if place is not None else ():
        yield msgspec.structs.replace(
            claim,
            state=ThreadState.ANSWERED,
            closed_by=f"the user: {shortening.one_line(words, 120)}",
            provenance=(place,),
            order=scene.order[message.id],
            at=message.at,
        )
