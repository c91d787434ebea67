"""Flight logs, `.bbox` and `.rlog`, in canonical words."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Media, Reply, Role, Settings, Text, Thinking, ToolCall, ToolResult, Usage
from tests.blackbird.canon.natives.reading import SOURCE, marks, parts, read

FILE = "/logs/20251223-session.bbox"
HEADER = """---
format: bbox/1
id: sess_1
repo_sha: 55d2215
repo: example/code
branch: main
model: opus
agent: pilot
client_version: 2.0.1
cwd: /code
sandbox_id: unknown
---
"""


def bbox(body: str, header: str = HEADER, *, is_checked: bool = True) -> list[Any]:
    """The entries behind the one of the header."""
    entries = read("bbox", FILE, (header + body).splitlines(), is_checked=is_checked)
    return entries[1:] if header else entries


def test_the_header_tells_of_the_session() -> None:
    (entry,) = read("bbox", FILE, HEADER.splitlines())

    assert (entry.session, entry.thread, entry.turn, entry.mark) == ("sess_1", None, None, None)
    assert entry.about == {
        "client": "pilot",
        "version": "2.0.1",
        "cwd": "/code",
        "branch": "main",
        "sha": "55d2215",
        "repository": "example/code",
        "model": "opus",
    }
    assert entry.evidence.offset == 0


def test_a_sub_agents_log_names_its_session() -> None:
    extra = "extra.parent_session: sess_1\nextra.agent_type: explore\n"
    header = f"---\nformat: bbox/1\nid: sub_1\nrepo_sha: 55d2215\n{extra}---\n"
    (words,) = bbox("a: found it\n", header)

    assert (words.session, words.thread, words.kind) == ("sess_1", "sub_1", "explore")


def test_words_and_thoughts() -> None:
    user, thought, agent, other = bbox(
        "u: Fix it. id=u1 ts=2025-12-23T10:00:00Z\n"
        "th: Hm. sig=c2ln\n"
        "a: Doné. id=a1 parent=u1 model=haiku\n"
        "a: from another tid=2\n"
    )

    assert (user.turn.role, parts(user), user.key, user.at) == (
        Role.USER,
        [Text("Fix it.")],
        "u1",
        1766484000000000000,
    )
    assert (thought.turn.role, parts(thought)) == (Role.ASSISTANT, [Thinking("Hm.", "c2ln")])
    assert (agent.key, agent.follows, parts(agent)) == ("a1", "u1", [Text("Doné.")])
    assert [user.settings, thought.settings, agent.settings] == [
        Settings(),
        Settings(model="opus"),
        Settings(model="haiku"),
    ]
    assert (agent.thread, other.thread) == (None, "2")


def test_a_text_of_several_lines_is_told_whole() -> None:
    first, second = bbox("a: one\n  two\n  three\nu: next\n", is_checked=False)

    assert parts(first) == [Text("one\ntwo\nthree")]
    assert first.turn.parts[0].spans == ()
    assert parts(second) == [Text("next")]


def test_a_call_and_its_result_are_told_apart() -> None:
    call, result, failed, answer = bbox(
        "t:read src/a.py limit=5 id=c1 → [ok] 12 lines latency_ms=40\nt:test id=c2 → [err: no such file]\n"
    )

    assert parts(call) == [ToolCall("read", "c1", {"_": ["src/a.py"], "limit": "5"})]
    assert result.turn.role is Role.USER
    assert result.turn.parts[0] == ToolResult(
        "c1", "12 lines", False, details={"duration_ms": 40}, spans=result.turn.parts[0].spans
    )
    assert (call.evidence.start, result.evidence.start) == (0, len("t:read src/a.py limit=5 id=c1 → ".encode()))
    assert parts(failed) == [ToolCall("test", "c2", {})]
    assert parts(answer) == [ToolResult("c2", "no such file", True)]


def test_a_running_call_is_answered_later() -> None:
    start, note, result = bbox(
        't!:Bash id=c1 cmd="cargo test" → [running]\nt~:Bash id=c1 [64/128]\no: id=c1 → [error] Exit code 2\n'
    )

    assert parts(start) == [ToolCall("Bash", "c1", {"cmd": "cargo test"})]
    assert (note.mark, note.data) == ("note", {"call": "c1"})
    assert (result.turn.parts[0].call_id, result.turn.parts[0].error) == ("c1", True)
    assert result.turn.parts[0].details == {"exit_code": 2}


def test_the_end_of_a_running_call_is_no_second_call() -> None:
    start, result = bbox("x:explore id=c1 → [started]\nx:explore id=c1 → [done] found 3\n")

    assert parts(start) == [ToolCall("Task", "c1", {"subagent_type": "explore"})]
    assert parts(result) == [ToolResult("c1", "found 3", False)]


def test_a_call_without_an_id_is_named_by_its_line() -> None:
    call, result = bbox("t:read a → [186 lines]\n")

    assert parts(call) == [ToolCall("read", f"{SOURCE}:13", {"_": ["a"]})]
    assert parts(result) == [ToolResult(f"{SOURCE}:13", "[186 lines]", False)]


def test_a_large_result_is_a_reference() -> None:
    _, result = bbox("t:read a id=c1 → @blob sha256=ab12 bytes=90000 mime=text/plain\n")

    assert parts(result) == [ToolResult("c1", "", False, media=(Media("blob", "text/plain", 90000, "ab12"),))]


def test_lines_of_their_own_kind_are_tools() -> None:
    entries = bbox(
        "c:github.issues state=open id=c1 → [8 issues]\n"
        "s:deploy activate id=c2 → [ok]\n"
        'r: "auth bug" id=c3 → [2 matches]\n'
        'r: "auth bug" id=c9 extra.mcp=blackbird.memory_get → [2 matches]\n'
        'x:explore "find it" id=c4 → session_id=sub_1 path=sub.bbox summary="done"\n'
        'q: "Which?" options=[A,B] id=c5 → [selected: A]\n'
        "td: [completed] one [pending] two\n"
    )
    called = [
        (part.name, part.arguments)
        for entry in entries
        if entry.turn is not None
        for part in entry.turn.parts
        if isinstance(part, ToolCall)
    ]

    assert called == [
        ("mcp__github__issues", {"state": "open"}),
        ("Skill", {"skill": "deploy", "_": ["activate"]}),
        ("memory_search", {"query": "auth bug"}),
        ("mcp__blackbird__memory_get", {"query": "auth bug"}),
        ("Task", {"subagent_type": "explore", "prompt": "find it"}),
        (
            "AskUserQuestion",
            {
                "questions": [
                    {"question": "Which?", "options": [{"label": "A"}, {"label": "B"}], "multiSelect": False}
                ]
            },
        ),
        (
            "TodoWrite",
            {"todos": [{"content": "one", "status": "completed"}, {"content": "two", "status": "pending"}]},
        ),
    ]
    (link,) = [entry for entry in entries if entry.turn is None]
    assert (link.thread, link.call_id, link.kind) == ("sub_1", "c4", "explore")


def test_all_else_is_marks() -> None:
    entries = bbox(
        "@start id=sess_1 ts=2025-12-23T10:00:00Z\n"
        "# t=00:15:30\n"
        "m: auto afk=true\n"
        '@compact reason="full" tokens_before=180000 tokens_after=8000\n'
        '# model: haiku reason="cheap"\n'
        '# queue: enqueue "later"\n'
        "# file-snapshot: u1 files=2\n"
        '# codex: {"type":"x"}\n'
        "@phase explore\n"
        'p:create "Auth plan" → [ok]\n'
        "what is this\n"
        "\n"
        "a: still here\n"
    )

    assert marks(entries) == [
        ("note", "start"),
        ("mode", "auto"),
        ("compact", "full"),
        ("model", "haiku"),
        ("queue", "later"),
        ("snapshot", ""),
        ("note", "codex"),
        ("mode", "explore"),
        ("note", "plan"),
        ("note", "what is this"),
    ]
    assert entries[3].data == {"reason": "full", "tokens_before": 180000, "tokens_after": 8000}
    assert entries[7].data == {"type": "x"}
    assert entries[-1].at == 1766484000000000000 + 930 * 10**9
    assert entries[-1].settings == Settings(model="haiku")


def test_metrics_may_name_a_model_of_their_own() -> None:
    entries = bbox(
        "# model: tern\na: Hi step=1\n# metrics step=1 prompt=5 completion=1\n"
        "# metrics prompt=5 extra.model=tern-mini\n"
    )
    assert [entry.reply.model for entry in entries if entry.reply is not None] == ["tern", "tern-mini"]
    assert entries[-1].settings == Settings(model="tern-mini")


def test_usage_that_a_message_repeats_counts_once() -> None:
    entries = bbox(
        "a: one tokens_in=2 tokens_out=2 tokens_cached=15479\n"
        "t!:Bash id=c1 → [running] tokens_in=2 tokens_out=9 tokens_cached=15479\n"
        "o: id=c1 → [ok] fine\n"
        "t!:Bash id=c2 → [running] tokens_in=2 tokens_out=12 tokens_cached=15479\n"
        "a: two tokens_in=6 tokens_out=1 tokens_cached=26862 tokens_cache_create=5\n"
    )

    assert [entry.turn is None for entry in entries] == [False, False, True, False, False, True, False, True]
    assert [entry.reply for entry in entries if entry.reply is not None] == [
        Reply(model="opus", usage=Usage(input=2, cache_read=15479, output=9)),
        Reply(model="opus", usage=Usage(output=3)),
        Reply(model="opus", usage=Usage(input=6, cache_read=26862, cache_write=5, output=1)),
    ]


def test_metrics_of_a_step_are_a_response() -> None:
    line = "# metrics step=1 prompt_tokens=520 completion_tokens=80 cached_tokens=200 cost_usd=0.0023\n"
    _, metrics, again = bbox(f"a: one step=1\n{line}{line}")

    used = Reply(model="opus", usage=Usage(input=320, cache_read=200, output=80), reported_cost=Decimal("0.0023"))
    assert (metrics.reply, again.reply) == (used, None)


def test_metrics_that_nobody_spoke_for_are_a_response_of_their_own() -> None:
    _, _, _, metrics = bbox(
        "a: one step=1\nt!:Bash id=c1 step=1 → [running]\no: id=c1 step=1 → fine\n# metrics step=1 prompt_tokens=5\n"
    )

    assert metrics.reply == Reply(response_id=f"{SOURCE}:16", model="opus", usage=Usage(input=5))


def test_what_a_step_used_is_told_before_its_results() -> None:
    entries = bbox(
        "a: one step=1\nt:Read id=c1 step=1 ts=2025-12-23T10:00:00Z latency_ms=40 → x\nt:Read id=c2 step=1 → y\n"
        "# metrics step=1 prompt_tokens=5\na: two step=2\n"
    )

    assert [_kind(entry) for entry in entries] == [
        "Text",
        "ToolCall",
        "ToolCall",
        5,
        "ToolResult",
        "ToolResult",
        "Text",
    ]
    assert (entries[1].at, entries[4].at) == (1766484000000000000, 1766484000040000000)


def test_results_of_a_step_without_metrics_come_before_the_next() -> None:
    entries = bbox("t:Read id=c1 step=1 → x\na: two step=2\nt:Read id=c2 step=2 → y\n")

    assert [_kind(entry) for entry in entries] == ["ToolCall", "ToolResult", "Text", "ToolCall", "ToolResult"]


def _kind(entry: Any) -> object:
    return type(entry.turn.parts[0]).__name__ if entry.turn is not None else entry.reply.usage.prompt


def test_a_cost_alone_does_not_take_the_tokens_of_its_lines_away() -> None:
    entries = bbox("th: hm tokens_in=7 tokens_out=3 step=1\n# metrics step=1 cost_usd=0.5\na: next step=2\n")
    replies = [entry.reply for entry in entries if entry.reply is not None]

    assert replies == [Reply(model="opus", usage=Usage(input=7, output=3), reported_cost=Decimal("0.5"))]


def test_a_cost_that_was_calculated_was_reported_by_nobody() -> None:
    header = HEADER.replace("cwd: /code\n", "cwd: /code\nextra.prices: prices 1\n")
    extra = "extra.cache_creation_input_tokens=3 extra.cache_creation_1h_input_tokens=2 extra.reasoning_tokens=4"
    _, metrics = bbox(f"a: one step=1\n# metrics step=1 prompt_tokens=9 cost_usd=0.5 {extra}\n", header)

    assert metrics.reply == Reply(model="opus", usage=Usage(input=6, cache_write=3, cache_write_1h=2, reasoning=4))


def test_the_line_of_a_sub_agent_is_its_callers_and_its_metrics_are_its_own() -> None:
    call, words, metrics, nested, inner, answer = bbox(
        'x:explore id=c1 tid=2 span=x1 "look" → [started]\n'
        "a: I look. tid=2 step=5\n"
        "# metrics step=5 prompt_tokens=5\n"
        'x:plan id=c2 tid=3 span=x2 parent=x1 "think" → [started]\n'
        "a: I think. tid=3\n"
        "x:explore id=c1 tid=2 span=x1 → found it\n"
    )

    assert [entry.thread for entry in (call, words, metrics, nested, inner, answer)] == [
        None,
        "2",
        "2",
        "2",
        "3",
        None,
    ]
    assert (words.call_id, words.kind, words.parent_thread) == ("c1", "explore", None)
    assert (inner.call_id, inner.kind, inner.parent_thread) == ("c2", "plan", "2")


def test_a_result_that_was_not_recorded_is_none() -> None:
    (call,) = bbox("t!:Edit id=c1 file_path=a → [running]\no: id=c1 → [skip] no result was recorded\n")

    assert parts(call) == [ToolCall("Edit", "c1", {"file_path": "a"})]


def test_a_commit_of_zeros_is_a_placeholder() -> None:
    (entry,) = read("bbox", FILE, HEADER.replace("55d2215", "0000000").splitlines())

    assert "sha" not in entry.about


def test_every_line_of_the_examples_is_told() -> None:
    for path in sorted(Path("examples").glob("*.*")):
        if path.suffix not in (".bbox", ".rlog"):
            continue
        entries = read("bbox", str(path), path.read_text().splitlines(), is_checked=False)

        assert len(entries) > 20
        assert all(entry.session for entry in entries)


@given(st.lists(st.text(alphabet=st.characters(exclude_characters="\n")) | st.sampled_from(HEADER.splitlines())))
def test_any_lines_never_fail_and_none_is_lost(lines: list[str]) -> None:
    read("bbox", FILE, lines, is_checked=False)


@given(
    st.sampled_from(["u", "a", "th", "t", "t!", "t~", "o", "c", "x", "q", "td", "p", "m", "s", "r"]),
    st.text(alphabet="ab =→[]\"'{}:.@#\\1\t"),
)
def test_any_words_behind_a_prefix_are_told(prefix: str, words: str) -> None:
    assert bbox(f"{prefix}: {words}\n", is_checked=False)
