"""`blackbox tour`: a guided look at a recorded twelve-hour session."""

import importlib.metadata
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from blackbox.check.findings import Severity
from blackbox.check.validator import validate_bytes
from blackbox.cli import validate
from blackbox.document.document import parse
from blackbox.errors import ReadError
from blackbox.reading.audit import show_audit
from blackbox.reading.cost import By, show_spending
from blackbox.redaction.config import load_redactor
from blackbox.report.audit import audit
from blackbox.report.spending import spending
from blackbox.session.session import Session
from blackbox.terminal import output
from blackbox.vault.presence import look_beside

_EXAMPLE = "12h-autopilot-session.bbox"
_SCREEN = 25


def command(
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many lines a screen shows.")] = _SCREEN,
) -> None:
    """Take a guided tour of a recorded twelve-hour session: check it, audit it, read its ends.

    Examples:

      blackbox tour

      blackbox tour --lines 40
    """
    path = _example_path()
    data = path.read_bytes()
    console = output.stdout()
    shown = f"examples/{_EXAMPLE}"
    _headline(console, "1. Is it valid?", f"blackbox validate {shown}")
    redactor = load_redactor()
    report = validate_bytes(data, look_at=look_beside(path), redactor=redactor)
    validate.show_report(console, shown, report)
    document = parse(data)
    session = Session(document)
    _headline(console, "2. What did the agent do?", f"blackbox audit {shown}")
    show_audit(console, shown, audit(session, redactor))
    _headline(console, "3. What did it cost?", f"blackbox cost {shown} --by model")
    show_spending(console, shown, spending(session), By.MODEL, top=5)
    text = [output.printable(source) for source in document.physical_lines]
    _headline(console, "4. How does it begin?", f"head -n {lines} {shown}")
    console.print("\n".join(text[:lines]))
    _headline(console, "5. How does it end?", f"tail -n {lines} {shown}")
    console.print("\n".join(text[-lines:]))
    _headline(console, "6. Your turn", "")
    infos = report.count(Severity.INFO)
    if shutil.which("blackbox") is None:
        console.print(f"  . {_environment()}/bin/activate   # puts blackbox on your PATH\n")
    for line, what in (
        (f"blackbox validate --verbose {shown}", f"the {infos} findings that are only advice"),
        (f"blackbox stats {shown}", "everything counted, by type and by tool"),
        (f"blackbox grep --errors {shown}", "what failed, with its output"),
        (f"blackbox export {shown} --format jsonl", "the same session as JSON lines"),
        (f"blackbox redact {shown}", "what looks like a secret (changes nothing)"),
        (f"blackbox fix {shown}", "what could be mended (changes nothing)"),
        ("blackbox explain", "every rule; with one named, its reason and remedy"),
    ):
        console.print(f"  {line:69} {what}")


def _environment() -> str:
    """The virtual environment as one would type it from here."""
    here, prefix = Path.cwd(), Path(sys.prefix)
    return str(prefix.relative_to(here) if prefix.is_relative_to(here) else prefix)


def _headline(console: Console, title: str, line: str) -> None:
    console.print()
    console.rule(title, align="left") if console.is_terminal else console.print(f"== {title}")
    if line:
        console.print(f"$ {line}\n")


def _example_path() -> Path:
    """The example beside the sources, or the copy that was installed with the distribution."""
    beside = Path(__file__).resolve().parents[3] / "examples" / _EXAMPLE
    installed = importlib.metadata.files("blackbird") or []
    copies = [Path(str(file.locate())) for file in installed if file.name == _EXAMPLE]
    for path in (beside, *copies):
        if path.is_file():
            return path
    raise ReadError(f"the example {_EXAMPLE} is not installed", "get it from the project's examples folder")
