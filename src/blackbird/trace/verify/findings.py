"""What `verify` can find, how bad it is, and what to do about it."""

import enum

import msgspec


class Severity(enum.StrEnum):
    """An error: the trace is not what was recorded. A warning: something was lost, and that is accounted for."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(enum.StrEnum):
    """Every kind of finding."""

    HEADER_UNREADABLE = "header-unreadable"
    HEADER_TORN = "header-torn"
    SEAL_UNREADABLE = "seal-unreadable"
    TOMBSTONE_UNREADABLE = "tombstone-unreadable"
    CORRUPTION = "corruption"
    TORN_TAIL = "torn-tail"
    MISSING_SEQUENCES = "missing-sequences"
    MISSING_SEGMENT = "missing-segment"
    MISSING_TAIL = "missing-tail"
    CHAIN_BROKEN = "chain-broken"
    CHECKPOINT_ROOT = "checkpoint-root"
    SEAL_ROOT = "seal-root"
    FOREIGN_TRACE = "foreign-trace"
    DUPLICATE_SEGMENT = "duplicate-segment"
    NUMBER_CONTRADICTED = "number-contradicted"
    SEQUENCE_REORDERED = "sequence-reordered"
    TOMBSTONE_NOT_CHAINED = "tombstone-not-chained"
    TOMBSTONE_UNRECORDED = "tombstone-unrecorded"
    REMOVAL_UNFINISHED = "removal-unfinished"
    PAYLOAD_UNREADABLE = "payload-unreadable"
    GAP = "gap"
    UNKNOWN_RECORDS = "unknown-records"
    POLICIES = "policies"


_RESTORE = "restore the file from a backup; all other segments are readable without it"
_TAMPERED = "somebody or something changed the trace after it was recorded: compare it with a backup"
_NOTHING = "nothing to do"

REMEDIES = {
    Code.HEADER_UNREADABLE: _RESTORE,
    Code.HEADER_TORN: "nothing to do: the machine stopped before the segment had a record",
    Code.SEAL_UNREADABLE: _RESTORE,
    Code.TOMBSTONE_UNREADABLE: _RESTORE,
    Code.CORRUPTION: _RESTORE,
    Code.TORN_TAIL: "nothing to do: the recorder or the machine stopped in the middle of a write",
    Code.MISSING_SEQUENCES: _TAMPERED,
    Code.MISSING_SEGMENT: "restore the file from a backup; `blackbird trace clean` leaves a tombstone, this has none",
    Code.MISSING_TAIL: _TAMPERED,
    Code.CHAIN_BROKEN: _TAMPERED,
    Code.CHECKPOINT_ROOT: _TAMPERED,
    Code.SEAL_ROOT: _RESTORE,
    Code.FOREIGN_TRACE: "move the file back to the trace it belongs to",
    Code.DUPLICATE_SEGMENT: "remove the copy",
    Code.NUMBER_CONTRADICTED: "give the file the name that its header says",
    Code.SEQUENCE_REORDERED: "give the files the names that their headers say",
    Code.TOMBSTONE_NOT_CHAINED: _TAMPERED,
    Code.TOMBSTONE_UNRECORDED: _TAMPERED,
    Code.REMOVAL_UNFINISHED: "`blackbird trace clean` finishes it",
    Code.PAYLOAD_UNREADABLE: "nothing is lost: the bytes are handed on as they are",
    Code.GAP: "`blackbird show ID` tells what is missing of a request",
    Code.UNKNOWN_RECORDS: "a newer version of blackbird knows them",
    Code.POLICIES: _NOTHING,
}


class Finding(msgspec.Struct, frozen=True):
    """One thing that is so: where, and what to do. Offsets are those of the segment before it was sealed."""

    code: Code
    severity: Severity
    message: str
    segment: int | None = None
    offset: int | None = None
    end: int | None = None

    @property
    def remedy(self) -> str:
        """What to do about it."""
        return REMEDIES[self.code]


class Statistics(msgspec.Struct):
    """How much there is."""

    segments: int = 0
    sealed: int = 0
    gone: int = 0
    records: int = 0
    requests: int = 0
    bytes: int = 0
    raw_bytes: int = 0
    last_sequence: int = 0
    synced_sequence: int | None = None
    policies: list[str] = []


class Report(msgspec.Struct, frozen=True):
    """All findings in order of their segments, and the statistics."""

    findings: list[Finding]
    statistics: Statistics

    @property
    def is_intact(self) -> bool:
        """Whether the trace is what was recorded."""
        return not any(finding.severity is Severity.ERROR for finding in self.findings)
