"""Small logs for the tests of the session view, and the examples that ship with the project."""

from pathlib import Path

from blackbox.document.document import parse
from blackbox.session.calls import Call
from blackbox.session.session import Session

EXAMPLES = Path(__file__).parents[3] / "examples"
NIGHT_SHIFT = EXAMPLES / "12h-autopilot-session.bbox"
FEATURE = EXAMPLES / "feature-session.bbox"
IMPORT = EXAMPLES / "import-session.rlog"
ROTATED = EXAMPLES / "rotated" / "licence-audit.part1.bbox"


def session_of(body: str, **fields: str) -> Session:
    """The session of a body, with the given header fields; lines count from 1 if there are none."""
    header = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return Session(parse(f"---\n{header}---\n{body}" if fields else body))


def read_session(path: Path) -> Session:
    return Session(parse(path.read_bytes()))


def numbers(call: Call) -> list[int]:
    """The line numbers of a call."""
    return [line.number for line in call.lines]
