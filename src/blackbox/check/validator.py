"""The validator: one pass over a log, in memory that grows with its call ids alone."""

from collections.abc import Callable, Iterable

import msgspec

from blackbox.check.calls import CallChecks, LookUp
from blackbox.check.findings import Finding, Findings, Severity
from blackbox.check.flight import FlightChecks
from blackbox.check.header import check_header
from blackbox.check.lines import LineChecks
from blackbox.check.rules import all_rules
from blackbox.check.statistics import Counting, Statistics
from blackbox.check.steps import DOUBTFUL_BYTES, StepChecks
from blackbox.check.text import SAMPLE_SIZE, SecretSearch, TextChecks, looks_binary
from blackbox.check.totals import TotalChecks
from blackbox.document.document import Document
from blackbox.document.files import BLOCK_SIZE
from blackbox.document.line import Line
from blackbox.document.scanner import BOM, Scanner
from blackbox.redaction.redactor import Redactor
from blackbox.session.matching import Matcher, Role
from blackbox.syntax.kinds import MESSAGES, NAMED, SILENT, Kind
from blackbox.syntax.quick import CALL_LIKE, step_and_time
from blackbox.vault.presence import LookAt

# An enum's member is looked up through its metaclass; these are compared with for every line of a long log.
_NEW, _REUSED, _ORPHAN = Role.NEW, Role.REUSED, Role.ORPHAN
_QUESTION, _SUBAGENT, _MCP = Kind.QUESTION, Kind.SUBAGENT, Kind.MCP
_TOOLS = (Kind.TOOL, Kind.TOOL_START)
#: How many findings of one rule a streamed report keeps; the others are counted.
KEPT_PER_RULE = 1000


class Report(msgspec.Struct, frozen=True):
    """What validating one log gave."""

    findings: list[Finding]
    statistics: Statistics
    header: dict[str, object]
    left_out: dict[str, int]

    def count(self, severity: Severity) -> int:
        """How many findings of one severity there are, those left out included."""
        kept = sum(finding.severity is severity for finding in self.findings)
        rules = all_rules()
        return kept + sum(count for rule, count in self.left_out.items() if rules[rule].severity is severity)

    def joined(self, more: Findings) -> "Report":
        """This report with what another pass over the same log has found."""
        together = Findings()
        together.kept = [*self.findings, *more.kept]
        return msgspec.structs.replace(self, findings=together.in_order(), left_out=self.left_out | more.left_out)


def _look_nowhere(_name: str) -> str | None:
    return None


class Validator:
    """Feed it the blocks of a log in order, then ask for the report.

    Most lines are plain, so the work is arranged around them: what a block does not contain is not looked for in its
    lines, and a line is parsed only as far as one of the checks needs.
    """

    def __init__(
        self,
        *,
        kept_per_rule: int | None = None,
        look_up: LookUp = _look_nowhere,
        look_at: LookAt | None = None,
    ) -> None:
        self._scanner = Scanner()
        self._findings = Findings(kept_per_rule)
        self._counting = Counting()
        add = self._findings.add
        self._matcher = Matcher()
        self._text = TextChecks(add)
        self._lines = LineChecks(add, look_at)
        self._calls = CallChecks(add, self._matcher, look_up)
        self._steps = StepChecks(add, self._counting)
        self._totals = TotalChecks(add)
        self._flight = FlightChecks(add)
        self._steps.on_time = self._flight.wall_clock
        self._totals.on_metrics = self._steps.metrics_step
        self._size = 0
        #: What waits for its line feed; at the start, for enough to tell text from binary.
        self._pieces: list[bytes] = []
        self._binary: bool | None = None
        self._header_seen = False
        #: Of the blocks that the entry still open stands in.
        self._open_traits = Traits(b"")
        self._handlers = self._dispatch()

    def _dispatch(self) -> dict[Kind, list[Callable[[Line], None]]]:
        handlers: dict[Kind, list[Callable[[Line], None]]] = {kind: [] for kind in Kind}
        for kind in Kind:
            if kind in CALL_LIKE:
                handlers[kind].append(self._check_call)
            elif kind in MESSAGES or kind in (Kind.MODE, Kind.LIFECYCLE, Kind.PHASE):
                handlers[kind].append(self._check_metadata)
        for checks in (self._lines, self._calls, self._flight, self._totals):
            for kind, handle in checks.handlers().items():
                handlers[kind].append(handle)
        return handlers

    def feed(self, block: bytes) -> None:
        """Check the next block. Where the blocks are cut makes no difference to the report."""
        self._size += len(block)
        if self._binary:
            return
        self._pieces.append(block)
        if self._binary is None:
            if self._size < SAMPLE_SIZE:
                return
            self._tell_binary()
        elif b"\n" not in block:
            return
        self._check_whole_lines()

    def _tell_binary(self) -> None:
        self._pieces = [b"".join(self._pieces)]
        self._binary = looks_binary(self._pieces[0])

    def _check_whole_lines(self) -> None:
        data = b"".join(self._pieces)
        cut = data.rfind(b"\n") + 1
        self._pieces = [data[cut:]]
        if cut and not self._binary:
            block = data[:cut]
            self._check(block, self._scanner.feed(block))

    def finish(self) -> Report:
        """The log has ended: draw the conclusions."""
        if self._binary is None:
            self._tell_binary()
        if not self._binary:
            self._check_whole_lines()
            rest = b"".join(self._pieces)
            self._check(rest, self._scanner.feed(rest) + self._scanner.close())
            self._take_header()
        self._text.finish(self._scanner, is_binary=bool(self._binary), is_empty=not self._size)
        if not self._binary and self._size:
            self._lines.finish()
            self._calls.finish()
            self._steps.finish()
            self._flight.finish(self._scanner.line_count)
            self._totals.finish()
        header = self._scanner.header
        return Report(
            self._findings.in_order(),
            self._counting.finish(self._scanner.line_count),
            dict(header.fields) if header else {},
            self._findings.left_out,
        )

    def _take_header(self) -> None:
        if self._header_seen:
            return
        self._header_seen = True
        header = self._scanner.header
        if self._size:
            check_header(header, self._findings.add)
        if header is not None:
            self._text.header(header)
        self._lines.begin(header)
        self._flight.begin(header)
        self._totals.begin(header)

    def _check(self, block: bytes, batch: list[Line]) -> None:
        """Check the entries that a block completed; the first of them may have begun many blocks before."""
        here, traits = Traits(block), self._open_traits
        traits.add(here)
        if not batch:
            self._text.no_batch(len(block))
            return
        self._open_traits = here
        self._take_header()
        self._counting.lines(batch)
        self._text.batch(self._scanner, batch)
        handlers, flight = self._handlers, self._flight
        for line in batch:
            kind = line.kind
            if flight.ended_at and kind not in SILENT:
                flight.after_end(line)
            for handle in handlers[kind]:
                handle(line)
        self._check_rarities(batch, traits)

    def _check_call(self, line: Line) -> None:
        kind, head, flight = line.kind, line.brief_head, self._flight
        match = self._matcher.feed(line, head)
        if match is not None:
            role = match.role
            if role is _NEW or role is _REUSED:
                self._counting.call(kind, head, match)
            if role is _ORPHAN or role is _REUSED or kind is _QUESTION:
                self._calls.line(line, match)
            if kind is _SUBAGENT or flight.explorers:
                flight.matched(line, match)
        metadata = head.metadata
        if metadata:
            self._steps.line(line, metadata)
        if line.source.count('"') % 2:
            self._lines.quotes(line)
        if kind in NAMED and (kind is _MCP or not head.name):
            self._lines.name(line)
        if flight.mode == "plan" and kind in _TOOLS:
            flight.tool(line)

    def _check_metadata(self, line: Line) -> None:
        source = line.source
        if "step=" not in source and "ts=" not in source:
            return
        place = step_and_time(source) if line.kind in MESSAGES else None
        if place is not None:
            self._steps.place(line, *place, "1")
            return
        metadata = line.head.metadata
        if metadata:
            self._steps.line(line, metadata)

    def _check_rarities(self, batch: list[Line], traits: "Traits") -> None:
        """The checks that only some blocks need, each over the whole batch."""
        lines, counting = self._lines, self._counting
        header = self._scanner.header
        rare = [
            (traits.continuations, counting.continuations),
            (traits.marks, counting.marks),
            (traits.marks, lines.blobs),
            (traits.ascii_arrows, lines.ascii_arrow),
            (traits.one_space, lines.indented),
            (traits.backslashes and header is not None and header.escaped, lines.escapes),
            (traits.doubtful_values, self._steps.values),
        ]
        for is_needed, check in rare:
            if is_needed:
                for line in batch:
                    check(line)


class Traits:
    """What a block of whole lines contains that some check would have to look at."""

    def __init__(self, block: bytes) -> None:
        self.continuations = b"\n " in block or b"\n\t" in block or block[:1] in (b" ", b"\t")
        self.marks = b"@blob" in block or b"[redacted" in block
        self.ascii_arrows = b"->" in block
        self.one_space = block.count(b"\n ") != block.count(b"\n  ") or block.removeprefix(BOM)[:1] == b" "
        self.backslashes = b"\\" in block
        self.doubtful_values = any(pattern.search(block) for pattern in DOUBTFUL_BYTES)

    def add(self, other: "Traits") -> None:
        """Take over the traits of another block."""
        for name, value in vars(other).items():
            if value:
                setattr(self, name, True)


def validate(document: Document, *, redactor: Redactor | None = None) -> list[Finding]:
    """Every finding of a document, in order of place; with a redactor also the secrets it finds."""
    return validate_bytes(document.emit(), redactor=redactor).findings


def validate_bytes(
    data: bytes, *, look_up: LookUp = _look_nowhere, look_at: LookAt | None = None, redactor: Redactor | None = None
) -> Report:
    """The full report of a log in memory."""
    blocks = (data[start : start + BLOCK_SIZE] for start in range(0, len(data), BLOCK_SIZE))
    return validate_blocks(blocks, kept_per_rule=None, look_up=look_up, look_at=look_at, redactor=redactor)


def validate_blocks(
    blocks: Iterable[bytes],
    *,
    kept_per_rule: int | None = KEPT_PER_RULE,
    look_up: LookUp = _look_nowhere,
    look_at: LookAt | None = None,
    redactor: Redactor | None = None,
) -> Report:
    """The report of a log that comes in blocks, in bounded memory.

    `look_up` tells why a log named in this one cannot be read; `session.load.look_beside` makes one for a file.
    `look_at` tells how a blob stands; `vault.presence.look_beside` makes one. A `redactor` finds secrets.
    """
    validator = Validator(kept_per_rule=kept_per_rule, look_up=look_up, look_at=look_at)
    search = SecretSearch(redactor, kept_per_rule) if redactor is not None else None
    for block in blocks:
        validator.feed(block)
        if search is not None:
            search.feed(block)
    report = validator.finish()
    return report if search is None else report.joined(search.finish())
