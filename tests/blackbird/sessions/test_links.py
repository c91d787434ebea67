"""What the ids of each client mean: session, thread, parent and kind; what is missing or hidden links nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.sessions.links import SCHEMES, Agent, Links, sender_of

METADATA = json.dumps({"turn_id": "turn-2", "parent_thread_id": "th-1", "subagent_kind": "thread_spawn"})
_NAMES = st.text(st.characters(codec="ascii", exclude_characters="[]", exclude_categories=["Cc"]), min_size=1)


def start(headers: dict[str, str], client: dict[str, str] | None = None) -> dict[str, Any]:
    return {"headers": [list(pair) for pair in headers.items()], "client": client or {}}


@pytest.mark.requirement("PROXY-22")
@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {"X-Claude-Code-Session-Id": "s1"},
            Links(client="Claude Code", session="s1", thread="s1"),
        ),
        (
            {"x-claude-code-session-id": "s1", "x-claude-code-agent-id": "a7"},
            Links(client="Claude Code", session="s1", thread="a7", parent="s1", kind="sub-agent"),
        ),
        (
            {"session-id": "s2", "thread-id": "th-1", "x-codex-turn-metadata": '{"turn_id":"turn-1"}'},
            Links(client="Codex", session="s2", thread="th-1", turn="turn-1"),
        ),
        (
            {
                "session-id": "s2",
                "thread-id": "th-2",
                "x-codex-parent-thread-id": "th-1",
                "x-openai-subagent": "collab_spawn",
            },
            Links(client="Codex", session="s2", thread="th-2", parent="th-1", kind="collab_spawn"),
        ),
        (
            {"session-id": "s2", "thread-id": "th-2", "x-codex-turn-metadata": METADATA},
            Links(client="Codex", session="s2", thread="th-2", parent="th-1", kind="thread_spawn", turn="turn-2"),
        ),
        (
            {"x-session-id": "ses_1", "session-id": "other"},
            Links(client="opencode", session="ses_1", thread="ses_1"),
        ),
        (
            {"x-session-id": "ses_2", "x-parent-session-id": "ses_1"},
            Links(
                client="opencode",
                session="ses_2",
                parent_session="ses_1",
                thread="ses_2",
                parent="ses_1",
                kind="sub-agent",
            ),
        ),
        ({"x-initiator": "agent", "user-agent": "copilot/1.0.102"}, Links(initiator="agent")),
        ({"x-gemini-api-privileged-user-id": "install", "user-agent": "GeminiCLI/0.61.0"}, Links()),
        ({}, Links()),
    ],
    ids=[
        "claude",
        "claude sub-agent",
        "codex",
        "codex sub-agent by fields",
        "codex sub-agent by metadata",
        "opencode goes before codex",
        "opencode sub-agent",
        "copilot",
        "gemini",
        "nothing",
    ],
)
def test_the_ids_of_each_client(headers: dict[str, str], expected: Links) -> None:
    assert sender_of(start(headers)).links == expected


def test_what_the_recorder_noted_is_taken_where_the_field_is_not_there() -> None:
    noted = {"claude_code_session": "s1", "claude_code_agent": "a7"}
    links = sender_of(start({}, noted)).links
    assert (links.client, links.session, links.thread, links.parent) == ("Claude Code", "s1", "a7", "s1")


@pytest.mark.parametrize("hidden", ["[redacted:header]", "x[redacted:account_id]", ""])
def test_a_value_that_was_hidden_links_nothing(hidden: str) -> None:
    assert sender_of(start({"x-claude-code-session-id": hidden})).links == Links()
    assert sender_of(start({"session-id": "s2", "thread-id": hidden})).links.thread == "s2"
    metadata = json.dumps({"parent_thread_id": hidden, "turn_id": hidden})
    links = sender_of(start({"session-id": "s2", "thread-id": "t", "x-codex-turn-metadata": metadata})).links
    assert (links.parent, links.turn, links.kind) == (None, None, None)


@pytest.mark.parametrize("metadata", ["no json", "[]", "3", '{"turn_id": 3}', "[" * 5000, '{"turn_id"'])
def test_metadata_of_another_shape_links_nothing(metadata: str) -> None:
    links = sender_of(start({"session-id": "s2", "x-codex-turn-metadata": metadata})).links
    assert (links.session, links.turn, links.parent) == ("s2", None, None)


@pytest.mark.parametrize(
    ("user_agent", "expected"),
    [
        ("claude-cli/2.1.197 (external, cli)", Agent("Claude Code", "2.1.197")),
        ("codex_exec/0.166.0 (Debian 12; x86_64) unknown", Agent("Codex", "0.166.0")),
        ("GeminiCLI/0.61.0/gemini-pro (linux; x64)", Agent("Gemini CLI", "0.61.0")),
        ("GeminiCLI-tui/0.61.0/gemini-pro (linux; x64; terminal)", Agent("Gemini CLI", "0.61.0")),
        ("QwenCode/0.15.10 (linux; x64)", Agent("Qwen Code", "0.15.10")),
        ("OpenAI/Python 3.49.0", Agent("OpenAI/Python", "3.49.0")),
        ("curl/7.88.1", Agent("curl", "7.88.1")),
        ("something", Agent("something")),
        ("[redacted:header]", None),
        ("(odd)", None),
        ("", None),
    ],
)
def test_who_sent_it(user_agent: str, expected: Agent | None) -> None:
    assert sender_of(start({"User-Agent": user_agent})).agent == expected


def test_who_sent_it_by_its_ids_alone() -> None:
    assert sender_of(start({"x-session-id": "ses_1"})).agent == Agent("opencode")


@given(st.dictionaries(st.sampled_from(sorted({s.session for s in SCHEMES} | {"thread-id", "x-initiator"})), _NAMES))
def test_a_thread_always_has_a_session_and_is_never_its_own_parent(headers: dict[str, str]) -> None:
    links = sender_of(start(headers)).links
    assert (links.session is None) == (links.thread is None) == (links.client is None)
    assert links.parent is None or links.parent != links.thread
    sessions = [headers[scheme.session] for scheme in SCHEMES if scheme.session in headers]
    assert links.session == next(iter(sessions), None)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_shape_of_a_start_is_taken(value: Any) -> None:
    assert sender_of({"headers": value, "client": value}).links.turn is None
