"""BlackBox: the flight log of an agent session, as a line format people read and tools take apart.

    document = blackbox.parse(Path("session.bbox").read_bytes())
    for line in document.lines:
        print(line.number, line.kind, line.event)
    assert document.emit() == Path("session.bbox").read_bytes()

syntax     the grammar: pure functions from text to its parts
events     what a line says, as typed values
document   entries, documents, streams and growing files
redaction  what a secret looks like, and the marker in its place
vault      what may reach the disk: secrets out, long results to blobs
write      a writer for harnesses
session    calls joined with their answers, time, cost, questions, files
check      the rules of `validate`
repair     edits that mend a log
formats    other forms of a session, and the way from each to any other
dual       a recorder of two files: one cut for people, one whole
report     what people ask of a session: files, hosts, decisions, cost, actions
terminal   what every command shares: arguments to logs, both output streams
reading    the commands tail, grep, audit, cost and apm
keeping    the commands redact, blobs and export
cli        the command `blackbox`, and its other commands
disk       files and folders for their owner alone
errors     the exceptions: only the environment raises
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blackbox.check.findings import Finding, Severity
    from blackbox.check.validator import Report, validate, validate_blocks
    from blackbox.document.document import Document, parse
    from blackbox.document.files import follow, read_document, scan
    from blackbox.document.line import Line, Span
    from blackbox.dual.recorder import DualRecorder
    from blackbox.errors import BlackboxError, ClosedError, IntegrityError, ReadError, UsageError, WriteError
    from blackbox.redaction.config import redact
    from blackbox.redaction.redactor import Redactor
    from blackbox.session.load import load_session
    from blackbox.session.session import Session
    from blackbox.syntax.header import Header
    from blackbox.syntax.kinds import Kind
    from blackbox.syntax.results import Result, ResultKind
    from blackbox.vault.store import BlobStore
    from blackbox.write.sink import Durability
    from blackbox.write.writer import Writer

__all__ = [
    "BlackboxError",
    "BlobStore",
    "ClosedError",
    "Document",
    "DualRecorder",
    "Durability",
    "Finding",
    "Header",
    "IntegrityError",
    "Kind",
    "Line",
    "ReadError",
    "Redactor",
    "Report",
    "Result",
    "ResultKind",
    "Session",
    "Severity",
    "Span",
    "UsageError",
    "WriteError",
    "Writer",
    "follow",
    "load_session",
    "parse",
    "read_document",
    "redact",
    "scan",
    "validate",
    "validate_blocks",
]

#: Where each name lives. Modules are loaded when a name of theirs is first asked for: a command needs few of them.
_MODULES = {
    "check.findings": ("Finding", "Severity"),
    "check.validator": ("Report", "validate", "validate_blocks"),
    "document.document": ("Document", "parse"),
    "document.files": ("follow", "read_document", "scan"),
    "document.line": ("Line", "Span"),
    "dual.recorder": ("DualRecorder",),
    "errors": ("BlackboxError", "ClosedError", "IntegrityError", "ReadError", "UsageError", "WriteError"),
    "redaction.config": ("redact",),
    "redaction.redactor": ("Redactor",),
    "session.load": ("load_session",),
    "session.session": ("Session",),
    "syntax.header": ("Header",),
    "syntax.kinds": ("Kind",),
    "syntax.results": ("Result", "ResultKind"),
    "vault.store": ("BlobStore",),
    "write.sink": ("Durability",),
    "write.writer": ("Writer",),
}
_HOMES = {name: f"blackbox.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
