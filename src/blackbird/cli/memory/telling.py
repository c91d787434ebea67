"""What is told while the memory is brought up to the trace: how far it is, and what was not understood."""

import sys
from typing import TYPE_CHECKING

from blackbird.config import modes
from blackbird.config.units import counted
from blackbox.terminal import output

if TYPE_CHECKING:
    from blackbird.derive import Report, Tell


def progress() -> "Tell | None":
    """Says how many sessions are done, on a terminal."""
    if not sys.stderr.isatty():
        return None

    def tell(done: int, total: int) -> None:
        end = "\n" if done == total else ""
        sys.stderr.write(f"\rderiving: {done} of {counted(total, 'session')}{end}")
        sys.stderr.flush()

    return tell


def show_mode(mode: str) -> None:
    """That rules alone make memory where more was asked for, on standard error."""
    said = modes.unmet(mode)
    if said is not None:
        output.stderr().print(output.marked("!", said))


def show_findings(report: "Report") -> None:
    """What could not be understood, on standard error."""
    for finding in report.findings:
        where = f"{finding.session}, {finding.source}" if finding.session else finding.source
        place = f" (segment {finding.segment}, record {finding.sequence})" if finding.segment is not None else ""
        output.stderr().print(output.marked("!", output.printable(f"{where}: {finding.message}{place}")))
