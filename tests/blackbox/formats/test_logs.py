"""Any session as a log: its header is whole, and every event has its line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from blackbox import parse, validate
from blackbox.check.findings import Severity
from blackbox.events.calls import Arguments, ToolCall
from blackbox.events.messages import Message
from blackbox.formats.flight import Entry, Flight, Loss, ordered
from blackbox.formats.logs import to_log
from blackbox.syntax.header import HeaderValue
from tests.blackbox.write import strategies

FULL = {"format": "bbox/1", "id": "s", "repo_sha": "abc1234"}


def test_header_fields_keep_their_values() -> None:
    header: dict[str, HeaderValue] = {
        **FULL,
        "mcp": ["a", "b c"],
        "toolset": {"git": "2.50"},
        "notes": "two\nlines: {",
        "odd key": "x",
    }
    text, losses = to_log(Flight(dict(header), []), "bbox")
    found = parse(text).header
    assert found is not None
    assert found.problems == []
    assert found.fields == {**header, "escape": "1"}
    assert losses == []


def test_the_format_follows_the_form() -> None:
    assert to_log(Flight({**FULL, "format": "rlog/1.0"}, []), "rlog")[0].startswith("---\nformat: rlog/1.0\n")
    assert to_log(Flight({**FULL, "format": "rlog/1.0"}, []), "bbox")[0].startswith("---\nformat: bbox/1\n")


def test_fields_that_a_log_needs_are_made_up_and_named() -> None:
    text, losses = to_log(Flight({"id": ""}, [Entry(Message("user", "hi"), {})]), "bbox")
    assert text == "---\nformat: bbox/1\nid: unknown\nrepo_sha: unknown\nescape: 1\n---\n\nu: hi\n"
    assert losses == [Loss("made-up-fields", 2)]
    assert [finding for finding in validate(parse(text)) if finding.severity is Severity.ERROR] == []


def test_an_event_that_no_line_can_hold_is_kept_as_a_remark() -> None:
    entry = Entry(ToolCall("two words", Arguments(), None), {"id": "c1"})
    text, losses = to_log(Flight(dict(FULL), [entry]), "bbox")
    assert text.endswith('\n# {"t":"t","n":"two words","id":"c1"}\n')
    assert losses == [Loss("no-line", 1)]


def test_metadata_has_one_order() -> None:
    meta = {"ts": "x", "tokens_out": "2", "extra.b": "1", "tokens_in": "1", "extra.a": "1", "id": "c", "step": "1"}
    assert list(ordered(meta)) == ["id", "tokens_in", "tokens_out", "extra.a", "extra.b", "step", "ts"]


_TEXTS = strategies.texts.filter(lambda text: not set(text) & set("\ue00d\ue085\ue028\ue029"))
_VALUES = _TEXTS | st.lists(_TEXTS, max_size=2) | st.dictionaries(_TEXTS, _TEXTS, max_size=2)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(_TEXTS.filter(lambda key: key not in (*FULL, "escape")), _VALUES, max_size=4))
def test_any_header_reads_back(fields: dict[str, HeaderValue]) -> None:
    text, _ = to_log(Flight({**FULL, **fields}, []), "bbox")
    found = parse(text).header
    assert found is not None
    assert found.fields == {**FULL, **fields, "escape": "1"}
