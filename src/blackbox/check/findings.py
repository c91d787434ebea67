"""A finding: what is wrong, where, and by which rule. Findings are values; nothing is raised for content."""

import enum

import msgspec


class Severity(enum.StrEnum):
    """How bad it is. Errors make a log invalid; warnings count only under `--strict`; info is advice."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Finding(msgspec.Struct, frozen=True):
    """One problem. Lines and columns count from 1; `end_column` is exclusive; no column means the whole line."""

    rule: str
    severity: Severity
    line: int
    message: str
    column: int | None = None
    end_column: int | None = None


class Findings:
    """A collector. Of each rule it keeps the first `limit` findings and only counts the others."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit
        self.kept: list[Finding] = []
        self.counts: dict[str, int] = {}

    def add(self, finding: Finding) -> None:
        """Take one finding."""
        count = self.counts.get(finding.rule, 0) + 1
        self.counts[finding.rule] = count
        if self.limit is None or count <= self.limit:
            self.kept.append(finding)

    @property
    def left_out(self) -> dict[str, int]:
        """How many findings of each rule were counted but not kept."""
        if self.limit is None:
            return {}
        return {rule: count - self.limit for rule, count in self.counts.items() if count > self.limit}

    def in_order(self) -> list[Finding]:
        """The kept findings by place."""
        return sorted(
            self.kept, key=lambda finding: (finding.line, finding.rule, finding.column or 0, finding.message)
        )
