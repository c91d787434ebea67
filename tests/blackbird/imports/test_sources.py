"""What a trace says of the logs that were taken in."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbird.imports import sources
from blackbird.imports.sources import Source, source_id
from blackbird.trace import ids
from blackbird.trace.folder import Trace
from blackbird.trace.records import Kind
from tests.blackbird.trace.encoder import Tracer

NOON = 1_794_830_400_000_000_000
OPENED = {"format": "codex", "client": "Codex", "path": "/x/a.jsonl", "native_session": "s", "generation": 1}


def state(tracer: Tracer, event: str, **data: Any) -> None:
    tracer.add(Kind.HARNESS_EVENT, payload={"event": event, "session": "s", "data": data})


def test_a_source_is_as_it_was_last_stated(tmp_path: Path) -> None:
    tracer, name = Tracer(), source_id("codex", "/x/a.jsonl", 1)
    state(tracer, "import.open", source=name, **OPENED)
    state(tracer, "import.end", source=name, lines=1, bytes=9, messages=1, title="mend", first_at=None)
    tracer.rotate()
    state(tracer, "import.open", source=name, **OPENED)
    state(tracer, "import.end", source=name, lines=3, bytes=90, messages=2, first_at="2026-11-16T12:00:00Z")
    state(tracer, "import.end", source="src_unknown", lines=3)
    state(tracer, "import.open")
    state(tracer, "goal", source=name, lines=99)
    tracer.add(Kind.HARNESS_EVENT, payload=b"no object")
    [found] = sources.find(Trace(tracer.save(tmp_path / "trace"))).all()
    assert found == Source(
        id=name,
        format="codex",
        client="Codex",
        path="/x/a.jsonl",
        native_session="s",
        lines=3,
        messages=2,
        reached=90,
        first_at=NOON,
    )


def test_a_log_that_names_no_session_is_one_by_itself(tmp_path: Path) -> None:
    tracer = Tracer()
    state(tracer, "import.open", source="src_x", **OPENED | {"native_session": None})
    [found] = sources.find(Trace(tracer.save(tmp_path / "trace"))).all()
    assert found.native_session == "src_x"


def test_of_a_document_only_its_last_form_counts(tmp_path: Path) -> None:
    tracer = Tracer()
    for generation, document in ((1, True), (2, True), (1, False), (2, False)):
        about = OPENED | {"generation": generation, "document": document, "path": f"/x/{document}"}
        state(tracer, "import.open", source=source_id("codex", f"/x/{document}", generation), **about)
    found = sources.find(Trace(tracer.save(tmp_path / "trace")))
    assert [(each.is_document, each.generation) for each in found.all()] == [
        (True, 1),
        (True, 2),
        (False, 1),
        (False, 2),
    ]
    assert [(each.is_document, each.generation) for each in found.current()] == [(True, 2), (False, 1), (False, 2)]


def test_the_id_of_a_source_is_that_of_the_page() -> None:
    assert source_id("codex", "/x/a.jsonl", 1) == "src_" + ids.to_text(
        bytes.fromhex("96842de41a668da7cfe7af56d89a2b07")
    )


@given(st.text(), st.text(), st.integers(1, 99))
def test_ids_can_be_read_back(format_name: str, path: str, generation: int) -> None:
    clean = path.encode("utf-8", "replace").decode()
    name = source_id(format_name.encode("utf-8", "replace").decode(), clean, generation)
    found = Source(id=name, format="x", client=None, path=clean)
    assert (len(found.key), sources.PREFIX + ids.to_text(found.key)) == (16, name)
