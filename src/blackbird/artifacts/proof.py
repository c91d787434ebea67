"""Whether the words that an artifact quotes stand where it says they do."""

import enum
import json

from blackbird.artifacts.model import Provenance
from blackbird.canon.model import Span
from blackbird.timeline import evidence
from blackbird.trace.folder import Trace


class Proof(enum.StrEnum):
    """What became of a quote when it was looked up."""

    #: Each word stands at its place.
    FOUND = "found"
    #: The bytes are there, and a secret in them was masked after they were put together.
    MASKED = "masked"
    #: The bytes are there, and say something else.
    OTHER = "other"
    #: Retention removed the bytes, or the owner of the file that they were in.
    GONE = "gone"


def prove(trace: Trace, provenance: Provenance) -> Proof:
    """Look a quote up in the trace."""
    body = evidence.body(trace, provenance.evidence)
    if body is None:
        return Proof.GONE
    if provenance.evidence.end > len(body):
        return Proof.OTHER
    quote, spans = provenance.quote, provenance.spans
    is_there = all(_stands(body, quote, span) for span in spans) if spans else _is_in(body, quote)
    if is_there:
        return Proof.FOUND
    return Proof.MASKED if "[redacted:" in quote else Proof.OTHER


def _stands(body: bytes, quote: str, span: Span) -> bool:
    spelled = body[span.start : span.end]
    words = quote[span.first : span.last]
    return words == spelled.decode(errors="replace") or words == _unescaped(spelled)


def _is_in(body: bytes, quote: str) -> bool:
    """Words without places: anywhere in the body, plain or as JSON spells them."""
    spellings = (quote, json.dumps(quote)[1:-1], json.dumps(quote, ensure_ascii=False)[1:-1])
    return any(spelling.encode(errors="replace") in body for spelling in spellings)


def _unescaped(spelled: bytes) -> str | None:
    """The inside of a JSON string."""
    try:
        return str(json.loads(b'"' + spelled + b'"', strict=False))
    except ValueError:
        return None
