"""What is answered beside cards and packs: one artifact whole, and the evidence that it comes from."""

import msgspec

from blackbird.artifacts.model import Artifact
from blackbird.artifacts.proof import Proof
from blackbird.canon.model import Evidence


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an artifact that is not told whole: how much of how much is. `unit` is `characters` or `entries`."""

    part: str
    kept: int
    of: int
    unit: str


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact with its provenance, and the proof of each pointer if that was asked for.

    Provenance that was left out is proven all the same: there may be more proofs than pointers.
    """

    artifact: Artifact
    is_expired: bool = False
    proofs: tuple[Proof, ...] = ()
    tokens: int = 0
    cut: tuple[Cut, ...] = ()


class RecordAt(msgspec.Struct, frozen=True, kw_only=True):
    """A record, and the bytes that it takes in the file of its segment; of one that was sealed, as it was before."""

    segment: int
    sequence: int
    offset: int
    end: int


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes that a part of an artifact comes from. `data` is nothing if they are gone.

    `problems` say what is not as it was written. `masked` counts secrets that the recording had let pass.
    """

    item: str
    evidence: Evidence
    quote: str = ""
    data: bytes | None = None
    records: tuple[RecordAt, ...] = ()
    proof: Proof
    problems: tuple[str, ...] = ()
    masked: int = 0

    @property
    def is_sound(self) -> bool:
        """Whether what is there is what was written."""
        return self.proof is not Proof.OTHER and not self.problems
