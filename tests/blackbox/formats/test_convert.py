"""From any form to any other: what comes out, what is lost, and no secrets."""

import pytest

from blackbox.errors import ReadError
from blackbox.events.calls import Arguments, ToolCall
from blackbox.events.messages import Message
from blackbox.formats import convert
from blackbox.formats.flight import Entry, Flight, Loss
from blackbox.formats.recognise import Form
from blackbox.redaction.redactor import Redacted, Redactor
from blackbox.vault.guard import Guard

LOG = b"---\nformat: bbox/1\nid: s\nrepo_sha: abc1234\n---\n\nu: hi\nt:read a \xe2\x86\x92 [3 lines]\n"


class _Hider(Redactor):
    """Hides one word, wherever it stands."""

    def redact(self, text: str) -> Redacted:
        count = text.count("hunter2")
        return Redacted(text.replace("hunter2", "[redacted:word]"), {"word": count} if count else {})

    def redact_value(self, key: str, value: str) -> Redacted:
        return Redacted("[redacted:password]", {"password": 1}) if key == "password" else self.redact(value)


@pytest.mark.requirement("JSONL-05")
@pytest.mark.parametrize("form", list(convert.WRITTEN))
def test_every_form_is_read_and_written(form: Form) -> None:
    _, reading = convert.read(LOG, "x")
    texts = convert.write(reading.flight, form).texts
    for suffix, text in texts.items():
        found, again = convert.read(text.encode(), "x")
        assert found is (Form.COMPANION if form is Form.RLOG and suffix == ".jsonl" else form)
        assert len(again.flight.entries) == 2
        assert again.flight.header["id"] == "s"


def test_a_pair_has_one_header() -> None:
    texts = convert.write(Flight({}, [Entry(Message("user", "x" * 300), {})]), Form.RLOG)
    assert list(texts.texts) == [".jsonl", ".rlog"]
    assert [loss.what for loss in texts.losses] == ["cut-texts", "made-up-fields"]
    headers = [convert.read(text.encode(), "x")[1].flight.header for text in texts.texts.values()]
    assert headers[0] == headers[1] == {"format": "rlog/1", "id": "unknown", "repo_sha": "unknown"}
    assert "x" * 300 in texts.texts[".jsonl"]
    assert "u: " + "x" * 200 + "...\n" in texts.texts[".rlog"]


@pytest.mark.parametrize(
    ("data", "what"), [(b"", "it is empty"), (b"\x00\xff\n\x01", "neither a log nor JSON lines")]
)
def test_what_is_no_session_is_refused(data: bytes, what: str) -> None:
    with pytest.raises(ReadError, match=what) as refused:
        convert.read(data, "odd.bin")
    assert refused.value.message.startswith("odd.bin: ")
    assert refused.value.remedy == "give a .bbox, .blackbox, .rlog or .jsonl file of a session"


def test_secrets_are_hidden_everywhere_and_counted() -> None:
    call = ToolCall("curl", Arguments(("hunter2",), {"password": "x"}), None)
    flight = Flight(
        {"id": "s", "notes": "hunter2", "mcp": ["hunter2"], "toolset": {"password": "x"}},
        [Entry(call, {"extra.k": "hunter2"}), Entry(Message("user", "[redacted:old]"), {})],
    )
    cleaned = convert.clean(flight, Guard(_Hider()))
    assert "hunter2" not in str(cleaned.flight)
    assert cleaned.counts == {"word": 4, "password": 2}
    assert cleaned.flight.header["toolset"] == {"password": "[redacted:password]"}
    assert cleaned.flight.entries[1] == flight.entries[1]


def test_a_call_that_no_line_can_hold_is_cleaned_too() -> None:
    flight = Flight({}, [Entry(ToolCall("two words", Arguments(("hunter2",)), None), {})])
    assert "hunter2" not in str(convert.clean(flight, Guard(_Hider())))


def test_losses_of_reading_and_writing_are_apart() -> None:
    _, reading = convert.read(LOG, "x")
    assert reading.losses == [Loss("blank-lines", 1)]
    assert convert.write(reading.flight, Form.COMPACT).losses == [Loss("units", 1)]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b'{"type":"session_meta","payload":{}}\n{"type":"response_item","payload":{}}\n', "a Codex rollout"),
        (b'{"sessionId":"s","projectHash":"9d"}\n{"type":"user","content":[]}\n{"type":"gemini"}\n', "a Gemini log"),
        (b'{"type":"event","id":1}\nno json\n', "some other program's JSON lines"),
    ],
)
def test_logs_of_other_agents_are_refused_by_name(data: bytes, what: str) -> None:
    with pytest.raises(ReadError) as refused:
        convert.read(data, "r.jsonl")
    assert refused.value.message == f"r.jsonl: it looks like {what}, which cannot be read yet"
    assert refused.value.remedy == "give a log, or a companion; Claude Code's own logs are read as companions"


def test_a_companion_with_some_unknown_lines_is_read() -> None:
    data = b'{"type":"session_meta","payload":{}}\n{"type":"user","message":{"content":"hi"}}\n'
    form, reading = convert.read(data, "r.jsonl")
    assert (form, len(reading.flight.entries)) == (Form.COMPANION, 2)
    assert reading.losses == [Loss("unknown-lines", 1, (1,))]
