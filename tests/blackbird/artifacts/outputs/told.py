"""Outputs that tools really printed, and what was read in them, in a form that is easy to compare."""

from pathlib import Path
from typing import NamedTuple

from blackbird.artifacts.outputs import read

SAMPLES = Path(__file__).parent / "samples"


class Told(NamedTuple):
    """What a test expects of a report; what it does not name is None or empty."""

    tool: str
    kind: str
    ok: bool | None
    summary: str
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    errors: int | None = None
    names: tuple[str, ...] = ()
    first_error: str | None = None


def sample(name: str) -> str:
    """The text of `samples/NAME.txt`, whatever ends its lines."""
    with (SAMPLES / f"{name}.txt").open(encoding="utf-8", newline="") as file:
        return file.read()


def told(text: str, command: str | None = None) -> list[Told]:
    """The reports of a text. Each place is checked against the text on the way."""
    found = []
    for report in read(text, command):
        first, last = report.span
        assert 0 <= first <= last <= len(text)
        for stretch in (*(named.at for named in report.failures), *filter(None, [report.first_error])):
            assert text[stretch.first : stretch.last] == stretch.text
        found.append(
            Told(
                report.tool,
                report.kind,
                report.ok,
                report.summary,
                report.passed,
                report.failed,
                report.skipped,
                report.errors,
                tuple(named.name for named in report.failures),
                report.first_error and report.first_error.text,
            )
        )
    return found
