"""Words of the timeline with the place where they stand, and the proof that they do."""

import json

import msgspec

from blackbird.artifacts.model import Provenance
from blackbird.canon.model import Item, Span
from blackbird.timeline.timeline import Stated


def whole(item: Item) -> Provenance | None:
    """An item as it stands; nothing for one that stands nowhere."""
    return Provenance(item=item.id, evidence=item.evidence[0]) if item.evidence else None


def of_statement(stated: Stated) -> Provenance:
    """Something that was stated: its record is all there is of it."""
    return Provenance(item=f"{stated.event}:{stated.evidence.sequence}", evidence=stated.evidence)


def of_text(item: Item, text: str, spans: tuple[Span, ...], first: int, last: int) -> Provenance | None:
    """Characters `first` to `last` of a text of an item, whose stretches `spans` place."""
    if not item.evidence:
        return None
    touched = tuple(span for span in spans if span.first < last and first < span.last)
    evidence = item.evidence[0]
    if not touched:
        return Provenance(item=item.id, evidence=evidence)
    start, end = min(span.start for span in touched), max(span.end for span in touched)
    narrowed = msgspec.structs.replace(evidence, start=start, end=end)
    return Provenance(item=item.id, evidence=narrowed, quote=text[first:last], first=first, spans=touched)


def stands(body: bytes, provenance: Provenance) -> bool:
    """Whether the body has the quoted words at their place; without a quote, whether it has such a place."""
    if provenance.evidence.end > len(body) or (provenance.quote and not provenance.spans):
        return False
    return all(_spells(body[span.start : span.end], _share(provenance, span), span) for span in provenance.spans)


def _share(provenance: Provenance, span: Span) -> tuple[int, str]:
    """The part of the quote that a stretch has: where in the stretch it begins, and its words."""
    begin = max(span.first, provenance.first)
    end = min(span.last, provenance.first + len(provenance.quote))
    return begin - span.first, provenance.quote[begin - provenance.first : end - provenance.first]


def _spells(spelled: bytes, share: tuple[int, str], span: Span) -> bool:
    at, words = share
    return any(
        len(text) == span.last - span.first and text[at : at + len(words)] == words for text in _readings(spelled)
    )


def _readings(spelled: bytes) -> list[str]:
    """What bytes of a body can say: plain text, or the inside of a JSON string."""
    found = [spelled.decode("utf-8", "replace")]
    try:
        inside = json.loads(b'"' + spelled + b'"', strict=False)
    except ValueError:
        return found
    return [*found, inside] if isinstance(inside, str) else found
