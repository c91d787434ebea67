"""What the memory holds besides artifacts: findings, how far it is, and what each session came to."""

from typing import NamedTuple

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that could not be understood. The rest was.

    `source` is the request (`req_…`), the imported file (`src_…`), or the segment that it is about; `rule` says what
    kind of thing failed: `segment`, `exchange`, `line`, `log`, `session`.
    """

    rule: str
    source: str
    message: str
    session: str | None = None
    segment: int | None = None
    sequence: int | None = None


class Mark(msgspec.Struct, frozen=True):
    """How far the memory is: everything up to this record is in it. The offset is that of the record behind it."""

    segment: int
    sequence: int
    offset: int = 0


class Kept(NamedTuple):
    """What is known of a session that was written: a digest of its artifacts, and one of what belonged to it."""

    digest: bytes
    scope: bytes


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one artifact: `added`, `changed`, `removed`, or `expired` if its evidence is gone."""

    id: str
    what: str
    type: str
    session: str
    title: str
