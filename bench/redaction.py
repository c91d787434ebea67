"""What redaction misses and what it eats, beside detect-secrets on the same corpus; and how fast both are.

Both run on the same text in the same round, one after the other, so that a slow moment of the machine hits both.
`detect-secrets` is no dependency of the product: `pip install -e '.[bench]'`.
"""

import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from detect_secrets.core.secrets_collection import SecretsCollection
from detect_secrets.settings import default_settings

from bench.corpus import synthetic_blocks
from blackbox.redaction.redactor import Redactor
from tests.blackbox.redaction.corpus import Case, read_corpus

SAMPLE = 8_000_000
#: detect-secrets is slow; it gets the first part of the same text.
PEER_SAMPLE = 400_000
OURS, PEER = "blackbox", "detect-secrets"
_TEXT = (".bbox", ".jsonl", ".md", ".rlog")


class Quality(msgspec.Struct):
    """How one tool did on the corpus: cases with a secret, cases without."""

    name: str
    secrets: int
    missed: int
    look_alikes: int
    false_alarms: int


class Speed(msgspec.Struct):
    """Megabytes of text a second, over the rounds."""

    name: str
    text: str
    median: float
    slowest: float
    fastest: float
    #: How many times the peer's speed ours was, the median of the rounds.
    ratio: float


class RedactionReport(msgspec.Struct):
    """Everything measured in one run."""

    quality: list[Quality]
    speed: list[Speed]
    rounds: int
    interpreter: str


def measure(rounds: int, folders: list[Path]) -> RedactionReport:
    """Run both tools on the corpus, and in interleaved rounds on a made-up log and on real ones, if there are any."""
    cases = read_corpus()
    redactor = Redactor()
    quality = [
        _quality(OURS, cases, lambda text: bool(redactor.redact(text).counts)),
        _quality(PEER, cases, _peer_finds),
    ]
    texts = {"a made-up log without secrets": b"".join(synthetic_blocks(SAMPLE))}
    texts["the corpus, over and over"] = "\n".join(case.text for case in cases).encode() * 10
    real = _real(folders)
    if real:
        texts[f"real logs and transcripts ({len(real) / 1e6:.1f} MB)"] = real
    speed = [row for name, data in texts.items() for row in _race(name, data, redactor, rounds)]
    return RedactionReport(quality, speed, rounds, f"{platform.python_implementation()} {platform.python_version()}")


def _real(folders: list[Path]) -> bytes:
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in _TEXT]
    return b"".join(path.read_bytes() for path in files)


def _race(text: str, data: bytes, redactor: Redactor, rounds: int) -> list[Speed]:
    """Both tools on one text. The peer gets its first part."""
    part = data[:PEER_SAMPLE]
    contenders: list[tuple[str, int, Callable[[], object]]] = [
        (PEER, len(part), lambda: _peer_scan(part)),
        (OURS, len(data), lambda: redactor.redact_bytes(data)),
    ]
    speeds: dict[str, list[float]] = {PEER: [], OURS: []}
    for _ in range(rounds):
        for name, size, run in contenders:
            start = time.process_time()
            run()
            speeds[name].append(size / 1e6 / (time.process_time() - start))
    ratios = [ours / peer for ours, peer in zip(speeds[OURS], speeds[PEER], strict=True)]
    return [
        Speed(name, text, statistics.median(found), min(found), max(found), statistics.median(ratios))
        for name, found in speeds.items()
    ]


def _quality(name: str, cases: list[Case], finds: Callable[[str], bool]) -> Quality:
    secrets = [case for case in cases if case.kinds]
    others = [case for case in cases if not case.kinds]
    missed = sum(not finds(case.text) for case in secrets)
    return Quality(name, len(secrets), missed, len(others), sum(finds(case.text) for case in others))


def _peer_finds(text: str) -> bool:
    return bool(_peer_scan(text.encode()))


def _peer_scan(data: bytes) -> int:
    """Scan with all plugins and filters that are on by default. It reads files, so it gets one."""
    with tempfile.TemporaryDirectory() as folder, default_settings():
        path = Path(folder) / "text.txt"
        path.write_bytes(data)
        found = SecretsCollection()
        found.scan_file(str(path))
        return len(list(found))


def as_markdown(report: RedactionReport) -> str:
    """The tables of the README."""
    lines = [
        f"Measured with {report.interpreter}.",
        "",
        "On the labelled corpus (`fixtures/redaction/`):",
        "",
        "| tool | secrets missed | look-alikes eaten |",
        "|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.missed} of {row.secrets} | {row.false_alarms} of {row.look_alikes} |"
        for row in report.quality
    ]
    lines += [
        "",
        f"Speed in MB of text per second of CPU time, {report.rounds} interleaved rounds:",
        "",
        "| text | tool | median MB/s | range | × the peer |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.text} | {row.name} | {row.median:.2f} | {row.slowest:.2f}–{row.fastest:.2f} | "
        f"{row.ratio if row.name == OURS else 1:.0f} |"
        for row in report.speed
    ]
    lines += ["", _LIMITS]
    return "\n".join(lines)


_LIMITS = """\
The corpus was written for these rules, so the first table shows what they were made for and not how they would do on
text of others. A case counts as found if anything in it was found; detect-secrets names lines, not stretches of text,
and was made to guard repositories."""
