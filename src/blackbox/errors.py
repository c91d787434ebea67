"""The exceptions of the package: only the environment raises, content problems are findings.

BlackboxError
├── ReadError        a file could not be opened or read
├── WriteError       a file could not be created, written or renamed
├── IntegrityError   what was kept is not what its hash says
├── UsageError       the caller asked for something that cannot be done
└── ClosedError      an event was logged to a writer that is already closed
"""


class BlackboxError(Exception):
    """Base of everything this package raises on purpose: what happened, and what to do about it."""

    code = "error"

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


class ReadError(BlackboxError):
    """A file could not be opened or read."""

    code = "read_failed"


class WriteError(BlackboxError):
    """A file could not be created, written or renamed; nothing was half-written."""

    code = "write_failed"


class IntegrityError(BlackboxError):
    """What was kept is not what its hash says."""

    code = "integrity"


class UsageError(BlackboxError):
    """The request itself cannot be carried out (bad argument, contradicting options)."""

    code = "usage"


class ClosedError(BlackboxError):
    """An event was logged to a writer that is already closed."""

    code = "writer_closed"
