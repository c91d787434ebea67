"""An open session: its steps, its threads, and the files it goes on in."""

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from blackbox import ClosedError, Kind, UsageError, parse, read_document
from blackbox.check.validator import validate_bytes
from blackbox.events import Event
from blackbox.events.lifecycle import Lifecycle, Rotate
from blackbox.events.messages import Message
from blackbox.session.load import load_session
from blackbox.vault.guard import Guard
from blackbox.vault.store import BlobStore
from blackbox.write import Durability, Writer, metrics_of
from blackbox.write.recording import Recording, Witnessed
from blackbox.write.render import render_event
from blackbox.write.results import blob, err, lines, ok, text
from blackbox.write.sink import StreamSink
from tests.blackbox.vault.secrets import Words
from tests.blackbox.write.clocks import Memory, bare_log, ticking


def test_steps_never_decrease_and_are_not_shared_between_agents() -> None:
    stream = Memory()
    log = Writer(stream, timestamps=False, start=False, id="s", repo_sha="abc1234")
    log.user("one")
    log.agent("two")
    sub = log.subagent("explore")
    sub.agent("three")
    log.tool("read")
    log.tool("read")
    sub.tool("read")
    log.user("seven", step=9)
    log.agent("ten")
    steps = [(line.meta.step, line.meta.tid) for line in parse(stream.getvalue()).lines[1:]]
    assert steps == [
        *((1, "1"), (2, "1"), (2, "2"), (3, "2")),
        *((4, "1"), (4, "1"), (5, "2"), (9, "1"), (10, "1")),
    ]
    log.close()


def test_a_refused_event_leaves_no_trace() -> None:
    stream = Memory()
    log = Writer(stream, timestamps=False, start=False, id="s", repo_sha="abc1234")
    log.agent("one")
    with pytest.raises(UsageError):
        log.tool("two words")
    log.agent("two")
    assert stream.body == "a: one step=1\na: two step=2\n"
    log.close()


def test_threads_write_whole_entries(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    with Writer.create(path, id="s", repo_sha="abc1234", rotate_bytes=None) as log:

        def work(number: int) -> None:
            with log.subagent("explore", f"task {number}") as sub:
                for _ in range(50):
                    sub.tool("read", "a\nb", result="one\ntwo")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    document = read_document(path)
    tools = [line for line in document.lines if line.kind is Kind.TOOL]
    assert len({line.id for line in tools}) == len(tools) == 200
    assert {line.result.text for line in tools if line.result} == {"one\ntwo"}
    steps = [line.step for line in document.events if line.step]
    assert steps == sorted(steps)


@pytest.mark.requirement("WRITE-05", "LIFE-14", "WRITE-07")
def test_parts_follow_each_other(tmp_path: Path) -> None:
    path = tmp_path / "night.run.bbox"
    texts = [f"message {number} " + "x" * 40 for number in range(20)]
    with Writer.create(path, rotate_bytes=600, id="s", repo_sha="abc1234", notes="a: b") as log:
        for text in texts:
            log.user(text)
    names, said = [path.name], []
    while True:
        document = read_document(tmp_path / names[-1])
        assert document.header is not None
        assert (document.header.id, document.header.text("notes")) == ("s", "a: b")
        said += [line.event.text for line in document.lines if line.kind is Kind.USER]  # type: ignore[union-attr]
        last = document.lines[-1].event
        if not (isinstance(last, Lifecycle) and isinstance(last.primitive, Rotate)):
            break
        assert (tmp_path / names[-1]).stat().st_size <= 600 + len(document.lines[-1].source) + 1
        names.append(str(last.primitive.file))
    assert said == texts
    assert names[:3] == ["night.run.bbox", "night.run.part2.bbox", "night.run.part3.bbox"]
    assert sorted(names) == sorted(file.name for file in tmp_path.iterdir())
    assert [line.source[:7] for line in document.lines[-2:]] == ["@end st", "# tools"]


def test_the_rotate_line_and_the_next_part(tmp_path: Path) -> None:
    with Writer.create(
        tmp_path / "s.bbox", rotate_bytes=80, clock=ticking(), start=False, id="s", repo_sha="abc1234"
    ) as log:
        log.user("one")
        log.user("two" * 20)
    header, body = (tmp_path / "s.bbox").read_text().split("---\n\n")
    assert body == (
        "u: one step=1 ts=2025-12-18T03:21:09Z\n@rotate file=s.part2.bbox step=1 ts=2025-12-18T03:21:10Z\n"
    )
    again, rest = (tmp_path / "s.part2.bbox").read_text().split("---\n\n")
    assert again == header == "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nescape: 1\n"
    assert rest.startswith(f"u: {'two' * 20} step=2 ts=2025-12-18T03:21:10Z\n@end step=2 ts=")
    assert len(list(tmp_path.iterdir())) == 2


def test_every_entry_passes_the_guard() -> None:
    stream = Memory()
    log = Writer(stream, redactor=Words(), timestamps=False, start=False, id="s", repo_sha="abc1234", notes="hunter2")
    log.user("it is hunter2", extra={"password": "x"})
    log.tool("mysql", "--password", "geheim", result=ok("hunter2"))
    log.comment("[redacted:token] was here")
    assert stream.body == (
        "u: it is [redacted:password] extra.password=\\[redacted:named] step=1\n"
        "t:mysql id=call_1 --password [redacted:password] step=1 → [ok] [redacted:password]\n"
        "# [redacted:token] was here\n"
    )
    assert log.redactions == {"password": 4, "named": 1, "token": 1}
    log.close()
    assert stream.body.endswith(" redactions=6\n")
    assert b'notes: "[redacted:password]"\n' in stream.getvalue()


def test_a_secret_that_shows_only_in_the_rendered_line() -> None:
    stream = Memory()
    log = Writer(stream, redactor=Words(), timestamps=False, start=False, id="s", repo_sha="abc1234")
    log.tool("sh", arguments={"key hunter2": "value"})
    assert stream.body == 't:sh id=call_1 "key [redacted:password]"=value step=1\n'


def test_secrets_in_blobs_count_as_well(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "s.bbox", redactor=Words(), id="s", repo_sha="abc1234") as log:
        log.tool("read", result="hunter2 " * 200)
        log.agent("hunter2", metrics=metrics_of(logprobs=log.blob(b"hunter2 \xff", "image/png").blob))
        assert log.redactions == {"password": 202}
    assert (tmp_path / "s.bbox").read_text().endswith(" redactions=202\n")


def test_a_witness_sees_all_and_decides_what_the_log_shows() -> None:
    stream = Memory()
    seen: list[tuple[Event, dict[str, str]]] = []

    def witness(event: Event, meta: Mapping[str, str]) -> Witnessed:
        seen.append((event, dict(meta)))
        shown = Message("user", "short") if isinstance(event, Message) else event
        return Witnessed(shown, render_event(event, meta))

    guard = Guard(Words())
    recording = Recording(
        StreamSink(stream, Durability.FLUSH),
        clock=ticking(),
        steps=True,
        timestamps=False,
        guard=guard,
        witness=witness,
    )
    log = Writer(recording, start=False, id="s", repo_sha="abc1234")
    log.user("a long text with hunter2")
    assert stream.body == "u: short step=1\n"
    assert seen == [(Message("user", "a long text with [redacted:password]"), {"step": "1"})]
    assert log.redactions == {"password": 1}
    log.close()
    assert [type(event).__name__ for event, _ in seen] == ["Message", "Lifecycle", "Totals"]


def test_another_form_of_line_can_be_rendered() -> None:
    stream = Memory()
    sink = StreamSink(stream, Durability.FLUSH)
    recording = Recording(
        sink,
        clock=ticking(),
        steps=True,
        timestamps=False,
        guard=Guard(Words()),
        render=lambda event, meta: f"{type(event).__name__} {meta.get('step')} hunter2",
    )
    log = Writer(recording, start=False, id="s", repo_sha="abc1234")
    log.user("hi")
    assert stream.body == "Message 1 [redacted:password]\n"


@pytest.mark.requirement("BLOB-06", "BLOB-07")
def test_long_results_go_beside_the_log(tmp_path: Path) -> None:
    long = "x" * 1025
    name = hashlib.sha256(long.encode()).hexdigest()
    pointer = f"@blob sha256={name} bytes=1025 mime=text/plain"
    with Writer.create(
        tmp_path / "s.bbox", rotate_bytes=600, steps=False, timestamps=False, start=False, id="s", repo_sha="abc1234"
    ) as log:
        log.tool("read", result=long)
        log.tool("read", result=long)
        with log.subagent("explore") as sub:
            sub.tool("read", result=ok(long))
        log.tool("read", result="y" * 1024)
    assert sorted(path.name for path in tmp_path.iterdir())[:3] == [".bbox-blobs", "s.bbox", "s.part2.bbox"]
    assert sorted(path.name for path in (tmp_path / ".bbox-blobs").iterdir()) == [".gitignore", name]
    text = "".join(path.read_text() for path in sorted(tmp_path.glob("*.bbox")))
    assert text.count(pointer) == 3
    assert f"→ [ok] {pointer}\n" in text
    assert f"→ {'y' * 1024}\n" in text


def test_blobs_are_seen_in_the_session_and_in_the_statistics(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    with Writer.create(path, id="s", repo_sha="abc1234") as log:
        for make in (text, ok, err):
            log.tool("read", result=make("z" * 2000))
        log.tool("read", result=lines(200, "z" * 2000))
        log.agent("x", metrics=metrics_of(logprobs=log.blob(b"[1]", "application/json").blob))
    found = [use.blob for use in load_session(path).blobs]
    assert [(blob.bytes, blob.mime) for blob in found] == [(2000, "text/plain")] * 4 + [(3, "application/json")]
    assert validate_bytes(path.read_bytes()).statistics.blobs == 5
    statuses = [call.status.value for call in load_session(path).calls]
    assert statuses == ["ok", "ok", "err", "ok"]


def test_blobs_can_be_switched_off(tmp_path: Path) -> None:
    with Writer.create(tmp_path / "s.bbox", blob_bytes=None, id="s", repo_sha="abc1234") as log:
        log.tool("read", result="x" * 5000)
    assert [path.name for path in tmp_path.iterdir()] == ["s.bbox"]
    with pytest.raises(UsageError, match="blob_bytes -1 is no size"):
        Writer.create(tmp_path / "t.bbox", blob_bytes=-1, id="s", repo_sha="abc1234")


def test_a_reopened_log_keeps_its_blobs_in_the_same_place(tmp_path: Path) -> None:
    path = tmp_path / "s.bbox"
    first = Writer.create(path, redactor=Words(), id="s", repo_sha="abc1234", notes="hunter2")
    first.user("hunter2")
    first._recording.close()  # as the end of the process would
    log = Writer.reopen(path, redactor=Words(), blob_bytes=10)
    log.tool("read", result="hunter2 and more")
    assert log.redactions == {"password": 3}
    log.close()
    assert len(BlobStore.beside(path).entries()) == 1


def test_a_blob_of_the_callers_own(tmp_path: Path) -> None:
    _, bare = bare_log()
    with pytest.raises(UsageError, match="no folder for blobs"):
        bare.blob(b"x", "text/plain")
    log = Writer.create(tmp_path / "s.bbox", id="s", repo_sha="abc1234")
    result = log.blob(b"\x89PNG", "image/png")
    assert result == blob(hashlib.sha256(b"\x89PNG").hexdigest(), 4, "image/png")
    with pytest.raises(UsageError, match="no media type"):
        log.blob(b"other", "text/plain; charset=utf-8")
    assert len(BlobStore.beside(tmp_path / "s.bbox").entries()) == 1
    log.close()
    with pytest.raises(ClosedError):
        log.blob(b"x")
