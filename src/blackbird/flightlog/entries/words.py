"""What an agent thought and said, and what was said in somebody's name, as events."""

from blackbird.canon.model import Message, Origin, Refusal, Thinking
from blackbird.flightlog.entries.line import part_text, spoken
from blackbox.events import comments
from blackbox.events.build import Event
from blackbox.events.messages import Message as Said
from blackbox.events.messages import Thinking as Thought
from blackbox.write.scalars import MetaFields

_ENCRYPTED = "[encrypted]"
_LABELS = {Origin.SYSTEM: "system prompt", Origin.CLIENT: "from the client", Origin.PACK: "context pack"}
_SUMMARY = ("[COMPACT SUMMARY]", "[/COMPACT SUMMARY]")


def note_of(item: Message, tid: str | int | None) -> comments.Note | None:
    """What neither user nor agent said: a note; None for their own words."""
    label = _LABELS.get(item.origin)
    if label is None:
        return None
    return comments.Note(f"{label}{'' if tid is None else f', tid {tid}'}: {spoken(item)}")


def summary_of(item: Message) -> Said:
    """What the client made of an earlier part of the conversation."""
    return Said("agent", "\n".join([_SUMMARY[0], spoken(item), _SUMMARY[1]]))


def turns_of(item: Message) -> list[tuple[Event, MetaFields]]:
    """What an agent thought and said, in order; neighbouring words are one line."""
    found: list[tuple[Event, MetaFields]] = []
    words: list[str] = []
    is_refusal = False

    def speak() -> None:
        if words:
            meta: MetaFields = {"extra": {"refusal": True}} if is_refusal else {}
            found.append((Said("agent", "\n".join(words)), meta))
            words.clear()

    for part in item.parts:
        if isinstance(part, Thinking):
            speak()
            meta: MetaFields = {"sig": part.signature} if part.signature else {}
            if part.is_encrypted:
                meta["extra"] = {"encrypted": True}
            found.append((Thought(part.text or _ENCRYPTED if part.is_encrypted else part.text), meta))
            continue
        text = part_text(part)
        if text is not None:
            if isinstance(part, Refusal) is not is_refusal:
                speak()
            is_refusal = isinstance(part, Refusal)
            words.append(text)
    speak()
    return found
