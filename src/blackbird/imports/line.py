"""A line of an agent's own log: its text, where it stood in the file, and where it is kept."""

from typing import NamedTuple


class Line(NamedTuple):
    """`offset` and `length` count bytes of the file, without the line feed; `text` is redacted if it is kept.

    A line that stands in no file (what an agent keeps beside it) has the length 0. `segment` and `sequence` name the
    record in which it begins, if it is kept.
    """

    offset: int
    length: int
    text: str
    segment: int | None = None
    sequence: int | None = None
