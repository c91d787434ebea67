"""BlackBox: the flight log of an agent session, as a line format people read and tools take apart.

    document = blackbox.parse(Path("session.bbox").read_bytes())
    for line in document.lines:
        print(line.number, line.kind, line.event)
    assert document.emit() == Path("session.bbox").read_bytes()

syntax     the grammar: pure functions from text to its parts
events     what a line says, as typed values
document   entries, documents, streams and growing files
write      a writer for harnesses
session    calls joined with their answers, time, cost, questions, files
check      the rules of `validate`
repair     edits that mend a log
cli        the command `blackbox`
errors     the exceptions: only the environment raises
"""

from blackbox.check.findings import Finding, Severity
from blackbox.check.validator import Report, validate, validate_blocks
from blackbox.document.document import Document, parse
from blackbox.document.files import follow, read_document, scan
from blackbox.document.line import Line, Span
from blackbox.errors import BlackboxError, ClosedError, ReadError, UsageError, WriteError
from blackbox.session.load import load_session
from blackbox.session.session import Session
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import Result, ResultKind
from blackbox.write.sink import Durability
from blackbox.write.writer import Writer

__all__ = [
    "BlackboxError",
    "ClosedError",
    "Document",
    "Durability",
    "Finding",
    "Header",
    "Kind",
    "Line",
    "ReadError",
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
    "scan",
    "validate",
    "validate_blocks",
]
