"""Rows of opencode's database become a conversation, whatever order and version they come in."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.canon.model import Failure, Media, Origin, Outcome, Reply, ToolCall, ToolResult, Usage
from blackbird.canon.natives.opencode import Reader
from blackbird.canon.seen import Entry
from tests.blackbird.canon.natives.fed import ODD, feed, line, texts

FILE = "/home/dev/.local/share/opencode/opencode.db"
BEGIN = 1767323045000
SESSION = {
    "table": "session",
    "id": "ses_1",
    "slug": "quick-sailor",
    "directory": "/home/dev/job",
    "title": "Fix the add function",
    "version": "1.2.3",
    "time_created": BEGIN,
    "time_updated": BEGIN + 9000,
}
TOKENS = {"total": 172, "input": 14, "output": 46, "reasoning": 12, "cache": {"write": 0, "read": 100}}


def message(key: str, session: str = "ses_1", /, **data: Any) -> dict[str, Any]:
    return row("message", key, session, data)


def part(key: str, message: str, session: str = "ses_1", /, **data: Any) -> dict[str, Any]:
    return row("part", key, session, data) | {"message_id": message}


def row(table: str, key: str, session: str, data: dict[str, Any]) -> dict[str, Any]:
    times = {"time_created": BEGIN, "time_updated": BEGIN + 1}
    return {"table": table, "id": key, "session_id": session, **times, "data": data}


def tool(status: str, **state: Any) -> dict[str, Any]:
    return part("prt_4", "msg_2", type="tool", tool="bash", callID="toolu_1", state={"status": status, **state})


def read(*rows: object) -> list[Entry]:
    return feed(Reader("src_1", FILE), [line(each) for each in rows])


ASKED = message("msg_1", role="user", time={"created": BEGIN + 10}, model={"modelID": "m"})
WORDS = part("prt_1", "msg_1", type="text", text='Fix "ä".')
ANSWERING = message("msg_2", role="assistant", time={"created": BEGIN + 20}, modelID="claude-x", providerID="p")
START = part("prt_2", "msg_2", type="step-start", snapshot="aaa")
THOUGHT = part("prt_2b", "msg_2", type="reasoning", text="Hm.", time={"start": BEGIN + 25})
SAYING = part("prt_3", "msg_2", type="text", text="Running.", time={"start": BEGIN + 30, "end": BEGIN + 31})
RUN = tool(
    "completed",
    input={"command": "ls"},
    output="calc.py\n",
    metadata={"exit": 0},
    time={"start": BEGIN + 40, "end": BEGIN + 55},
)
FINISH = part("prt_5", "msg_2", type="step-finish", reason="tool-calls", tokens=TOKENS, cost=0.0014295)
CHAT = [SESSION, ASKED, WORDS, ANSWERING, START, THOUGHT, SAYING, RUN, FINISH]
SAID = [
    ("user", 'Fix "ä".'),
    ("assistant", "(Hm.)"),
    ("assistant", "Running."),
    ("assistant", 'bash({"command":"ls"}) toolu_1'),
    ("user", "= calc.py\n toolu_1"),
]


def only_result(entries: list[Entry]) -> ToolResult:
    (found,) = [part for entry in entries if entry.turn for part in entry.turn.parts if isinstance(part, ToolResult)]
    return found


def test_a_session_is_told_in_order() -> None:
    entries = read(*CHAT)
    assert texts(entries) == SAID
    assert {entry.session for entry in entries} == {"ses_1"}
    keys = [None, "prt_1", "prt_2", "prt_2b", "prt_3", "prt_4", "prt_4/result"]
    assert [entry.key for entry in entries] == keys
    assert [entry.at and entry.at // 1_000_000 - BEGIN for entry in entries] == [0, 10, 20, 25, 30, 40, 55]
    assert entries[0].about == {
        "client": "opencode",
        "version": "1.2.3",
        "cwd": "/home/dev/job",
        "title": "Fix the add function",
        "slug": "quick-sailor",
    }
    assert (entries[2].mark, entries[2].data) == ("snapshot", {"type": "step-start", "snapshot": "aaa"})


def test_the_first_words_of_a_step_carry_what_it_cost() -> None:
    replies = [entry.reply for entry in read(*CHAT) if entry.reply]
    usage = Usage(input=14, cache_read=100, output=58, reasoning=12)
    cost = Decimal("0.0014295")
    rest = Reply(response_id="prt_2b", model="claude-x")
    assert replies == [
        Reply(response_id="prt_2b", model="claude-x", stop_reason="tool-calls", usage=usage, reported_cost=cost),
        rest,
        rest,
    ]


@pytest.mark.parametrize(
    ("tokens", "usage"),
    [
        ({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}, (1, 4, 5, 5, 3)),
        ({"input": 1, "output": 9, "reasoning": 3, "cache": {"read": 4, "write": 5}, "total": 19}, (1, 4, 5, 9, 3)),
        ({"input": 7}, (7, 0, 0, 0, 0)),
    ],
)
def test_thoughts_are_counted_once(tokens: dict[str, Any], usage: tuple[int, ...]) -> None:
    entries = read(SESSION, ANSWERING, SAYING, part("prt_5", "msg_2", type="step-finish", tokens=tokens))
    (found,) = [entry.reply.usage for entry in entries if entry.reply and entry.reply.usage]
    assert (found.input, found.cache_read, found.cache_write, found.output, found.reasoning) == usage


def test_results_come_behind_all_calls_of_a_step() -> None:
    second = part("prt_4b", "msg_2", type="tool", tool="read", callID="toolu_2", state=RUN["data"]["state"])
    said = [words for _, words in texts(read(SESSION, ANSWERING, RUN, second, FINISH))]
    assert said == [
        'bash({"command":"ls"}) toolu_1',
        'read({"command":"ls"}) toolu_2',
        "= calc.py\n toolu_1",
        "= calc.py\n toolu_2",
    ]


@pytest.mark.parametrize(
    ("state", "error", "details"),
    [
        (RUN["data"]["state"], False, {"exit_code": 0, "duration_ms": 15}),
        ({"status": "completed", "output": "no", "metadata": {"exit": 3}}, True, {"exit_code": 3}),
        ({"status": "completed", "output": "x"}, False, {}),
        ({"status": "error", "error": "File not found"}, True, {}),
        ({"status": "error", "error": "The user rejected permission to use it"}, True, {"is_rejected": True}),
        ({"status": "error", "error": "Tool execution aborted"}, True, {"is_interrupted": True}),
        (
            {"status": "completed", "output": "", "metadata": {"diff": "@@", "filediff": {"file": "/job/a"}}},
            False,
            {"path": "/job/a", "patch": "@@"},
        ),
    ],
)
def test_a_result_says_how_it_ended(state: dict[str, Any], error: bool, details: dict[str, Any]) -> None:
    used = part("prt_4", "msg_2", type="tool", tool="t", callID="c", state=state)
    result = only_result(read(SESSION, ANSWERING, used))
    assert (result.error, result.details) == (error, details)


def test_a_tool_that_runs_has_no_result_yet_and_gets_it_once() -> None:
    pending = tool("pending", input={}, raw='{"comm')
    running = tool("running", input={"command": "ls"}, time={"start": BEGIN + 40})
    assert texts(read(SESSION, ANSWERING, pending)) == [("assistant", 'bash({"comm) toolu_1')]
    entries = read(SESSION, ANSWERING, pending, running, RUN, RUN, FINISH, RUN)
    assert texts(entries) == SAID[3:]
    (call,) = [part for entry in entries if entry.turn for part in entry.turn.parts if isinstance(part, ToolCall)]
    assert call.arguments == {"command": "ls"}


def test_words_that_are_still_written_are_told_when_they_are_whole() -> None:
    begun = part("prt_3", "msg_2", type="text", text="Runn", time={"start": BEGIN + 30})
    assert texts(read(SESSION, ASKED, WORDS, ANSWERING, begun)) == [SAID[0], ("assistant", "Runn")]
    assert texts(read(SESSION, ASKED, WORDS, ANSWERING, begun, ASKED, ANSWERING, SAYING)) == [SAID[0], SAID[2]]


def test_a_result_that_comes_after_its_step_is_told_by_itself() -> None:
    running = tool("running", input={"command": "ls"}, time={"start": BEGIN + 40})
    entries = read(SESSION, ANSWERING, SAYING, running, FINISH, RUN)
    assert texts(entries) == SAID[2:]


def test_a_call_and_its_result_stand_at_places_of_their_own() -> None:
    call, result = read(SESSION, ANSWERING, RUN)[1:]
    row = line(RUN).encode()
    assert row[call.evidence.start : call.evidence.end] == row
    assert row[result.evidence.start : result.evidence.end] == b'"calc.py\\n"'


def test_a_task_names_the_session_of_its_sub_agent() -> None:
    state = {
        "status": "completed",
        "input": {"subagent_type": "explore"},
        "output": "ok",
        "metadata": {"sessionId": "ses_2"},
    }
    task = part("prt_4", "msg_2", type="tool", tool="task", callID="toolu_1", state=state)
    entries = read(SESSION, ANSWERING, task, FINISH)
    link = next(entry for entry in entries if entry.thread is not None)
    assert (link.session, link.thread, link.parent_thread) == ("ses_1", "ses_2", "ses_1")
    assert (link.call_id, link.kind, link.turn) == ("toolu_1", "explore", None)
    assert only_result(entries).details == {"thread": "ses_2"}


def test_a_session_with_a_parent_is_a_thread_of_it() -> None:
    child = SESSION | {"id": "ses_2", "parent_id": "ses_1", "title": "Child session - now"}
    grandchild = SESSION | {"id": "ses_3", "parent_id": "ses_2"}
    said = message("msg_9", "ses_3", role="user"), part("prt_9", "msg_9", "ses_3", type="text", text="Look.")
    entries = read(SESSION, child, grandchild, *said)
    assert [(entry.session, entry.thread, entry.parent_thread, entry.about) for entry in entries[1:]] == [
        ("ses_1", "ses_2", "ses_1", {}),
        ("ses_1", "ses_3", "ses_2", {}),
        ("ses_1", "ses_3", "ses_2", {}),
    ]


def test_a_message_that_failed_says_so() -> None:
    error = {"name": "APIError", "data": {"message": "overloaded"}}
    failed = message("msg_2", role="assistant", modelID="claude-x", error=error)
    (entry,) = [entry for entry in read(SESSION, failed, failed) if entry.reply]
    assert entry.reply == Reply(outcome=Outcome.ERROR, model="claude-x", failure=Failure("APIError", "overloaded"))
    assert (entry.mark, entry.text) == ("error", "overloaded")
    stopped = message("msg_2", role="assistant", error={"name": "MessageAbortedError", "data": {}})
    (entry,) = [entry for entry in read(SESSION, stopped, SAYING) if entry.reply]
    assert entry.reply is not None
    assert (entry.reply.outcome, texts([entry])) == (Outcome.CUT, [("assistant", "Running.")])


def test_whose_words_they_are_is_told() -> None:
    made_up = part("prt_1b", "msg_1", type="text", text="Called the tool.", synthetic=True)
    summary = message("msg_2", role="assistant", summary=True)
    compaction = part("prt_1c", "msg_1", type="compaction", auto=True)
    entries = read(SESSION, ASKED, WORDS, made_up, compaction, summary, SAYING)
    assert [(entry.origin, entry.mark) for entry in entries[1:]] == [
        (None, None),
        (Origin.CLIENT, None),
        (None, "compact"),
        (Origin.SUMMARY, None),
    ]


def test_parts_beside_the_words_become_marks() -> None:
    patch = part("prt_7", "msg_2", type="patch", hash="h", files=["a"])
    retry = part("prt_8", "msg_2", type="retry", attempt=1, error={"data": {"message": "503"}})
    same = part("prt_6", "msg_2", type="step-start", snapshot="aaa")
    odd = part("prt_9", "msg_2", type="new-kind", x=1)
    entries = read(SESSION, ANSWERING, START, same, patch, retry, odd)
    assert [(entry.mark, entry.text) for entry in entries[1:]] == [
        ("snapshot", ""),
        ("snapshot", ""),
        ("error", "503"),
        ("note", ""),
    ]
    assert entries[-1].data == {"type": "new-kind", "x": 1}


def test_files_are_referred_to() -> None:
    given_file = part(
        "prt_1b", "msg_1", type="file", mime="image/png", filename="a.png", url="data:image/png;base64,aGk="
    )
    (media,) = [part for entry in read(SESSION, ASKED, given_file) if entry.turn for part in entry.turn.parts]
    sha256 = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
    assert media == Media("image", "image/png", 2, sha256, name="a.png")


def test_a_title_that_changes_is_told_again() -> None:
    untitled = SESSION | {"title": "New session - 2026-01-02"}
    entries = read(untitled, SESSION, SESSION)
    assert [entry.about.get("title") for entry in entries] == [None, "Fix the add function"]
    assert entries[1].about == {"title": "Fix the add function"}


def test_the_older_store_of_files_is_read_alike() -> None:
    session = {"id": "ses_1", "directory": "/job", "title": "T", "version": "0.9", "time": {"created": BEGIN}}
    asked = {"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": BEGIN + 10}}
    words = {"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text", "text": "Fix it."}
    entries = read(session, asked, words)
    assert texts(entries) == [("user", "Fix it.")]
    assert entries[0].about == {"client": "opencode", "version": "0.9", "cwd": "/job", "title": "T"}
    assert entries[1].at == (BEGIN + 10) * 1_000_000


def test_rows_of_other_tables_and_no_rows_are_notes() -> None:
    entries = feed(Reader("src_1", FILE), [line(row("todo", "t", "ses_1", {"a": 1})), "nothing", ""])
    assert [(entry.mark, entry.text, entry.data) for entry in entries] == [
        ("note", "", {"a": 1}),
        ("note", "nothing", {}),
    ]


@given(st.lists(st.integers(0, len(CHAT) - 1), max_size=20))
def test_rows_that_come_again_say_nothing_new(again: list[int]) -> None:
    assert texts(read(*CHAT, *(CHAT[index] for index in again))) == SAID


@given(st.lists(ODD, max_size=5))
def test_no_json_breaks_it(values: list[object]) -> None:
    read(*values)


@given(st.lists(st.sampled_from(["session", "message", "part"]), max_size=4), ODD)
def test_no_data_breaks_it(tables: list[str], data: object) -> None:
    read(
        *({"table": table, "id": table, "session_id": "s", "message_id": "message", "data": data} for table in tables)
    )
