"""The one exception for bytes that are not what docs/formats/wal-1.md says they are."""

from typing import Self

from blackbox.errors import ReadError

_REMEDY = "the file is damaged or of another version; `blackbird trace verify` tells what can still be read"


class TraceError(ReadError):
    """A file of the trace cannot be read: what is wrong, in which file, and where in it."""

    code = "trace_unreadable"

    def __init__(self, reason: str, offset: int = 0, file: str = "") -> None:
        place = f"{file}: " if file else ""
        super().__init__(f"{place}{reason} (byte {offset})", _REMEDY)
        self.reason = reason
        self.offset = offset
        self.file = file

    def in_file(self, file: str) -> Self:
        """The same, with the file named: whoever decodes bytes does not know where they came from."""
        return type(self)(self.reason, self.offset, file)
