"""One line of a log, or a piece of one, and where it stands."""

import msgspec

from blackbird.canon.model import Evidence
from blackbird.canon.natives.jsonl import encode
from blackbird.canon.seen import Slice


def slice_of(text: str, evidence: Evidence) -> Slice:
    """A line's bytes, counted from where its evidence starts."""
    return Slice(encode(text), evidence.start)


def narrow(evidence: Evidence, piece: Slice) -> Evidence:
    """The evidence of a piece of a line."""
    return msgspec.structs.replace(evidence, start=piece.start, end=piece.end)
