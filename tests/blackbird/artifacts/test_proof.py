"""Whether the words that an artifact quotes stand where it says."""

from pathlib import Path

import msgspec
import pytest

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Provenance
from blackbird.artifacts.proof import Proof, judge
from blackbird.timeline import evidence, gather
from blackbird.trace.folder import Trace
from tests.blackbird.flights import Flight, repair
from tests.blackbird.logbook import Logbook


def prove(trace: Trace, provenance: Provenance) -> Proof:
    return judge(evidence.body(trace, provenance.evidence), provenance)


@pytest.mark.requirement("ART-03")
@pytest.mark.parametrize("dialect", ["messages", "chat", "responses", "gemini", "ollama"])
def test_each_quote_is_found_and_no_other(dialect: str, tmp_path: Path) -> None:
    book = Logbook()
    for exchange in repair(Flight(dialect, chunks=(37, 300))):
        book.exchange(exchange)
    trace = Trace(book.save(tmp_path / "trace"))
    artifacts = Builder().artifacts(gather.load(trace, "s1"))
    quotes = [each for artifact in artifacts for each in artifact.provenance]
    assert {prove(trace, each) for each in quotes} == {Proof.FOUND}
    for each in quotes:
        bare = msgspec.structs.replace(each, spans=(), quote="")
        assert prove(trace, bare) is Proof.FOUND
        assert prove(trace, msgspec.structs.replace(bare, quote="Words without a place.")) is Proof.OTHER
        if each.quote:
            other = msgspec.structs.replace(each, quote=each.quote[::-1])
            assert prove(trace, other) is Proof.OTHER
    assert sum(bool(each.quote) for each in quotes) >= 4
    book.tracer.save(trace.folder, gone=(1,))
    (trace.folder / "00000001.wal").unlink()
    assert {prove(trace, each) for each in quotes} == {Proof.GONE}
