"""What everything passes on its way to the disk."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbox import parse
from blackbox.errors import UsageError
from blackbox.events import Event, calls, comments, messages
from blackbox.events.calls import Arguments
from blackbox.redaction.redactor import Redacted, Redactor
from blackbox.syntax.results import BLOB, Blob, Result, ResultKind
from blackbox.vault.guard import Guard, count_markers
from blackbox.vault.store import BlobStore
from blackbox.write import render_event, results
from tests.blackbox.vault.secrets import Words
from tests.blackbox.write import strategies

HEADER = "---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\nescape: 1\n---\n\n"
LONG = "x" * 1025


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore.beside(tmp_path / "session.bbox")


@pytest.fixture
def guard(store: BlobStore) -> Guard:
    return Guard(Words(), store)


def tool(result: Result, *args: str) -> calls.ToolCall:
    return calls.ToolCall("read", Arguments(args), result)


def admitted(guard: Guard, event: Event) -> Result:
    event, _ = guard.admit(event, {})
    found = parse(HEADER + render_event(event)).lines[-1].result
    assert found is not None
    return found


def pointer(content: str, mime: str = "text/plain") -> str:
    data = content.encode()
    return f"@blob sha256={hashlib.sha256(data).hexdigest()} bytes={len(data)} mime={mime}"


def test_secrets_are_hidden_in_event_and_metadata(guard: Guard) -> None:
    event, meta = guard.admit(messages.Message("user", "it is hunter2"), {"step": "1", "extra.password": "x"})
    assert event == messages.Message("user", "it is [redacted:password]")
    assert meta == {"step": "1", "extra.password": "[redacted:named]"}


def test_a_secret_in_the_argument_behind_its_flag(guard: Guard) -> None:
    event, _ = guard.admit(calls.ToolCall("shell", Arguments(("mysql", "--password", "geheim", "-h")), None), {})
    assert event == calls.ToolCall("shell", Arguments(("mysql", "--password", "[redacted:password]", "-h")), None)


def test_a_secret_beside_a_character_that_is_none(guard: Guard) -> None:
    given_words = Arguments(("\udc80", "--password", "geheim\ud800"))
    event, _ = guard.admit(calls.ToolCall("shell", given_words, None), {})
    assert event == calls.ToolCall("shell", Arguments(("\udc80", "--password", "[redacted:password]")), None)


def test_ids_and_signatures_stay_unless_they_have_the_shape_of_a_secret() -> None:
    random = "q7Zt9LmK2xVb8NpR4sWd6YhJ1cFg3TeA5uQo"
    guard = Guard(Redactor())
    kept = {"id": random, "span": random, "parent": random, "sig": random, "tid": random}
    assert guard.admit(messages.Message("user", "x"), kept)[1] == kept
    assert guard.clean_value("sandbox_id", random) == random
    assert guard.clean_value("other", random) == "[redacted:high_entropy]"
    assert guard.clean_value("id", "ghp_" + "R4nd0m" * 6) == "[redacted:github_token]"


def test_a_signature_stays(store: BlobStore) -> None:
    class Random(Words):
        def redact_value(self, key: str, value: str) -> Redacted:
            raise AssertionError(key, value)

    _, meta = Guard(Random(), store).admit(messages.Thinking("x"), {"sig": "Ep4E+ab/=="})
    assert meta == {"sig": "Ep4E+ab/=="}


@pytest.mark.requirement("BLOB-07")
@pytest.mark.parametrize(
    ("text", "is_moved"),
    [("x" * 1024, False), ("x" * 1025, True), ("é" * 512, False), ("é" * 513, True), ("x" * 1023 + "é", True)],
)
def test_a_result_of_exactly_1_kb_stays_inline(guard: Guard, text: str, is_moved: bool) -> None:
    assert admitted(guard, tool(results.text(text))).text == (pointer(text) if is_moved else text)


@pytest.mark.requirement("BLOB-07")
@pytest.mark.parametrize(("threshold", "moved"), [(0, True), (3, True), (4, False), (None, False)])
def test_the_threshold_can_be_set(store: BlobStore, threshold: int | None, moved: bool) -> None:
    guard = Guard(Words(), store, threshold)
    assert (admitted(guard, tool(results.text("four"))).kind is ResultKind.BLOB) is moved


def test_without_a_store_everything_stays_inline() -> None:
    guard = Guard(Words())
    assert admitted(guard, tool(results.text(LONG))).text == LONG
    with pytest.raises(UsageError, match="no folder for blobs"):
        guard.keep(b"x")


@pytest.mark.parametrize(
    ("result", "kind", "text", "kept"),
    [
        (results.ok(LONG), ResultKind.OK, f"[ok] {pointer(LONG)}", LONG),
        (results.done("\n" + LONG), ResultKind.OK, f"[done] {pointer(LONG)}", LONG),
        (results.lines(200, LONG), ResultKind.LINES, f"[200 lines] {pointer(LONG)}", LONG),
        (results.err("No [space] " + LONG), ResultKind.ERR, "", "No [space] " + LONG),
    ],
)
def test_a_status_stays(
    guard: Guard, store: BlobStore, result: Result, kind: ResultKind, text: str, kept: str
) -> None:
    found = admitted(guard, tool(result))
    assert found.kind is kind
    assert found.text == text or kind is ResultKind.ERR
    blob = BLOB.search(found.text)
    assert blob is not None
    assert store.read(blob[1]).decode() == kept


def test_an_error_keeps_the_beginning_of_its_message(guard: Guard, store: BlobStore) -> None:
    message = "Traceback:\n  File [a.py]\n" + "word " * 400
    found = admitted(guard, tool(results.err(message)))
    assert found.detail == "Traceback: File (a.py) " + ("word " * 28).rstrip()[:-5].rstrip() + "…"
    assert store.read(BLOB.search(found.text)[1]).decode() == message  # type: ignore[index]  # fails if there is none


def test_a_marker_is_never_cut_in_two(guard: Guard) -> None:
    for length in range(130, 170):
        found = admitted(guard, tool(results.err("y" * length + "hunter2 " + "z " * 600)))
        assert found.detail.replace("[redacted:password]", "").count("[") == 0
        assert found.detail.endswith("…")


@given(strategies.texts.map(lambda text: text * 40), st.sampled_from([results.ok, results.err, results.text]))
def test_any_long_text_keeps_its_status_and_leads_to_its_blob(
    tmp_path_factory: pytest.TempPathFactory, text: str, make: object
) -> None:
    store = BlobStore(tmp_path_factory.getbasetemp() / "shared-blobs")
    guard = Guard(Words(), store, 20)
    result: Result = make(text)  # type: ignore[operator]  # one of three constructors
    found = admitted(guard, tool(result))
    if len(result.text.encode(errors="surrogatepass")) <= 20:
        assert found.text == result.text
        return
    assert found.kind is (ResultKind.BLOB if result.kind is ResultKind.TEXT else result.kind)
    blob = BLOB.search(found.text)
    assert blob is not None
    assert len(store.read(blob[1])) == int(blob[2])


@pytest.mark.parametrize(
    "event",
    [
        calls.build_question(Arguments(), results.answer(LONG)),
        calls.build_question(Arguments(), results.selected(LONG)),
        calls.build_plan("write", Arguments(), results.text(LONG)),
        calls.build_subagent("explore", Arguments(), results.fields(session_id="s", summary=LONG)),
        tool(results.running(LONG)),
        tool(results.skip(LONG)),
        calls.ToolCall("write", Arguments((LONG,)), results.ok()),
        messages.Message("agent", LONG),
        comments.Note(LONG),
    ],
)
def test_what_people_read_in_the_log_stays_there(guard: Guard, store: BlobStore, event: Event) -> None:
    assert guard.admit(event, {}) == (event, {})
    assert store.entries() == []


@pytest.mark.parametrize(
    "event",
    [
        calls.McpCall("github", "issues", Arguments(), results.text(LONG)),
        calls.build_observation(Arguments(), results.text(LONG)),
        calls.build_skill("s", Arguments(), results.text(LONG)),
        calls.build_recall(Arguments(), results.text(LONG)),
        calls.build_subagent("explore", Arguments(), results.text(LONG)),
    ],
)
def test_results_of_every_call_are_moved(guard: Guard, store: BlobStore, event: Event) -> None:
    assert admitted(guard, event).text == pointer(LONG)


def test_a_pointer_is_left_alone(guard: Guard) -> None:
    event = tool(results.blob("ab" * 32, 5_000_000, "image/png"))
    assert guard.admit(event, {})[0] is event


def test_the_media_type_is_told(guard: Guard) -> None:
    assert admitted(guard, tool(results.text(LONG), "a.py")).text == pointer(LONG, "text/x-python")
    listed = "[" + "1," * 600 + "1]"
    assert admitted(guard, tool(results.text(listed))).text == pointer(listed, "application/json")


def test_a_blob_has_no_secret_in_it_and_its_markers_are_counted_once(guard: Guard, store: BlobStore) -> None:
    found = admitted(guard, tool(results.err("hunter2 " + LONG + " hunter2")))
    assert found.detail == "[redacted:password] " + "x" * 140 + "…"
    assert store.read(BLOB.search(found.text)[1]) == f"[redacted:password] {LONG} [redacted:password]".encode()  # type: ignore[index]
    assert guard.in_blobs + count_markers(found.text) == {"password": 2}


def test_content_of_a_harness_is_kept_without_its_secrets(guard: Guard, store: BlobStore) -> None:
    text = guard.keep("é hunter2".encode(), "text/plain")
    other = guard.keep(b"\xff\x00hunter2", "image/png")
    assert store.read(text.sha256) == "é [redacted:password]".encode()
    assert store.read(other.sha256) == b"\xff\x00[redacted:password]"
    assert other == Blob(hashlib.sha256(b"\xff\x00[redacted:password]").hexdigest(), 21, "image/png")
    assert guard.in_blobs == {"password": 2}


@pytest.mark.parametrize(
    ("entry", "seen"),
    [
        ("a: nothing here", "a: nothing here"),
        ("t:sh a --password geheim", "t:sh a --password [redacted:password]"),
        ("t:hunter2 x hunter2", "t:hunter2 x [redacted:password]"),
        ("a: one\n  hunter2\n  two", "a: one\n  [redacted:password]\n  two"),
    ],
)
def test_a_rendered_entry_is_searched_once_more(guard: Guard, entry: str, seen: str) -> None:
    assert guard.look_again(entry) == seen


def test_the_hash_of_a_blob_is_no_secret(store: BlobStore) -> None:
    class Greedy(Words):
        def redact(self, text: str) -> Redacted:
            found = super().redact(text)
            return found._replace(text=found.text.replace("ab" * 32, "[redacted:high_entropy]"))

    entry = f"t:read → @blob sha256={'ab' * 32} bytes=5 hunter2"
    assert Guard(Greedy(), store).look_again(entry) == entry.replace("hunter2", "[redacted:password]")


def test_markers_are_counted_by_kind() -> None:
    text = "[redacted:a] [redacted:a] [redacted:b_c] [redacted] [redacted:"
    assert count_markers(text) == {"a": 2, "b_c": 1, "unspecified": 1}
