"""Whether the words that an artifact quotes stand where it says they do."""

import enum

from blackbird.artifacts import quotes
from blackbird.artifacts.model import Provenance


class Proof(enum.StrEnum):
    """What became of a quote when it was looked up."""

    #: Each word stands at its place; without a quote, the place is there.
    FOUND = "found"
    #: The bytes are there, and a secret in them was masked after they were put together.
    MASKED = "masked"
    #: The bytes are there, and say something else.
    OTHER = "other"
    #: Retention removed the bytes, or the owner of the file that they were in.
    GONE = "gone"


def judge(body: bytes | None, provenance: Provenance) -> Proof:
    """Look a quote up in the body that it is said to stand in."""
    if body is None:
        return Proof.GONE
    if quotes.stands(body, provenance):
        return Proof.FOUND
    return Proof.MASKED if "[redacted:" in provenance.quote else Proof.OTHER
