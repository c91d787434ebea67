"""A claim: what one place of the timeline says is decided, required or left open, before others are asked."""

import msgspec

from blackbird.artifacts.model import Provenance, Reach, Signal, Speaker, ThreadKind, ThreadState, Type


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was said or done. `normal` is its statement in the form in which the same is known again."""

    type: Type
    statement: str
    normal: str
    by: Speaker
    signal: Signal
    provenance: tuple[Provenance, ...]
    #: Where in the timeline it stands; claims are folded in this order.
    order: int
    at: int | None = None
    task: str | None = None
    run: str | None = None
    subject: str | None = None
    choice: str | None = None
    #: The choice as a key, by which the same one is known again.
    chosen: str | None = None
    rejected: tuple[str, ...] = ()
    rationale: str | None = None
    must: bool = True
    reach: Reach = Reach.SESSION
    is_revert: bool = False
    kind: ThreadKind = ThreadKind.TODO
    state: ThreadState = ThreadState.OPEN
    #: What closed a thread, in words.
    closed_by: str | None = None
