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

from blackbox.document.document import Document, parse
from blackbox.document.files import follow, read_document, scan
from blackbox.document.line import Line, Span
from blackbox.errors import BlackboxError, ClosedError, ReadError, UsageError, WriteError
from blackbox.syntax.header import Header
from blackbox.syntax.kinds import Kind
from blackbox.syntax.results import Result, ResultKind

__all__ = [
    "BlackboxError",
    "ClosedError",
    "Document",
    "Header",
    "Kind",
    "Line",
    "ReadError",
    "Result",
    "ResultKind",
    "Span",
    "UsageError",
    "WriteError",
    "follow",
    "parse",
    "read_document",
    "scan",
]
