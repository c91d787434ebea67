"""The corpus of `fixtures/wal`: this reader finds in each file what the one in Rust found."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from blackbird.trace import ids, synced
from blackbird.trace.chain import Chain
from blackbird.trace.errors import TraceError
from blackbird.trace.folder import Trace
from blackbird.trace.records import NAMES, Kind, Record, spell
from blackbird.trace.scan import Corruption, Intact, Torn
from blackbird.trace.segment import Segment
from blackbird.trace.tombstones import Tombstone
from blackbird.trace.verify.verifier import Verifier

CORPUS = Path(__file__).resolve().parents[3] / "fixtures" / "wal"
SEGMENTS = sorted([*CORPUS.glob("*.wal"), *CORPUS.glob("*.seal")])
CHAIN = ("00000002.seal", "00000003.wal")


def described(record: Record) -> dict[str, Any]:
    payload = record.payload
    assert payload is not None
    assert len(payload) == record.length
    return {
        "sequence": record.sequence,
        "version": record.version,
        "type": NAMES[Kind(record.kind)] if record.kind in NAMES else record.kind,
        "flags": record.flags,
        "monotonic": record.monotonic,
        "request": ids.to_text(record.request) if record.request != ids.ZERO else None,
        "payload_length": record.length,
        "payload_sha256": hashlib.sha256(payload).hexdigest(),
    }


def read(path: Path) -> str:
    """A file of the corpus, in the words of `expected/`."""
    try:
        segment = Segment(path.read_bytes(), is_sealed=path.suffix == ".seal", file=path.name)
    except TraceError:
        return '{"unreadable":true}\n'
    lines: list[dict[str, Any]] = []
    chain = Chain(segment.header.raw)
    for step in segment.steps():
        match step:
            case Intact(record=record):
                lines.append(described(record))
                chain.add(spell(record))
            case Corruption(start=start, end=end):
                lines.append({"damage": "corruption", "start": start, "end": end})
            case Torn(start=start, end=end):
                lines.append({"damage": "torn", "start": start, "end": end})
    lines.append({"root": chain.root().hex()})
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


@pytest.mark.requirement("TRACE-06", "TRACE-07")
@pytest.mark.parametrize("path", SEGMENTS, ids=lambda path: path.name)
def test_both_readers_find_the_same(path: Path) -> None:
    assert read(path) == (CORPUS / "expected" / f"{path.stem}.jsonl").read_text()


@pytest.mark.requirement("TRACE-07")
@pytest.mark.parametrize("name", CHAIN)
def test_both_readers_find_the_same_in_a_whole_trace(name: str) -> None:
    path = CORPUS / "chain" / name
    assert read(path) == (CORPUS / "expected" / f"chain-{path.stem}.jsonl").read_text()


@pytest.mark.requirement("TRACE-07")
def test_nothing_of_the_corpus_is_left_out() -> None:
    names = {path.stem for path in SEGMENTS} | {f"chain-{Path(name).stem}" for name in CHAIN} | {"synced"}
    assert {path.stem for path in (CORPUS / "expected").iterdir()} == names


@pytest.mark.parametrize("path", [path for path in SEGMENTS if path.suffix == ".seal"], ids=lambda path: path.name)
def test_the_root_in_a_seal_is_that_of_its_records(path: Path) -> None:
    segment = Segment(path.read_bytes(), is_sealed=True)
    assert segment.sealed_root is not None
    expected = json.loads((CORPUS / "expected" / f"{path.stem}.jsonl").read_text().splitlines()[-1])
    assert segment.sealed_root.hex() == expected["root"]
    assert segment.raw_size == path.with_suffix(".wal").stat().st_size


def test_synced() -> None:
    found = synced.parse((CORPUS / "synced").read_bytes())
    expected = json.loads((CORPUS / "expected" / "synced.jsonl").read_text())
    assert {"segment": found.segment, "sequence": found.sequence, "offset": found.offset} == expected


@pytest.mark.requirement("TRACE-12")
def test_a_trace_with_a_removed_segment_is_whole() -> None:
    trace = Trace(CORPUS / "chain")
    verifier = Verifier(trace.synced())
    contents = [(place, trace.open(place)) for place in trace.places()]
    for place, content in contents:
        verifier.add(place, content)
    report = verifier.finish()
    assert isinstance(contents[0][1], Tombstone)
    assert report.findings == []
    assert report.is_intact
    assert (report.statistics.segments, report.statistics.sealed, report.statistics.gone) == (2, 1, 1)
    assert report.statistics.last_sequence == report.statistics.synced_sequence
