"""The lines of a flight log, kind by kind."""

from decimal import Decimal

import msgspec
import pytest

from blackbird.canon.model import (
    Amend,
    Cost,
    Failure,
    Item,
    Media,
    Origin,
    Outcome,
    Purpose,
    Refusal,
    Role,
    Text,
    Thinking,
    Thread,
    ToolCall,
    Unknown,
    Usage,
)
from blackbird.flightlog import files
from blackbird.flightlog.events import Composer, entries_of
from blackbox.check.findings import Severity
from blackbox.check.validator import validate_bytes
from blackbox.write import render_event, scalars
from tests.blackbird.flightlog.sessions import (
    MAIN,
    agent,
    call,
    generation,
    mark,
    result,
    timeline,
    user,
)

EXPLORER = Thread(id="sub", parent="main", call_id="c1", kind="Explore")
METRICS = "# metrics step=2 prompt_tokens=520 completion_tokens=30 cached_tokens=400 cost_usd=0.00125"
TOKENS = "tokens_in=100 tokens_out=30 tokens_cached=400 tokens_cache_create=20"
TODOS = [{"content": "Fix [x]", "status": "in_progress"}, {"content": "Test", "status": "odd"}]
QUESTION = {"question": "Which one?", "options": [{"label": "Postgres"}, {"label": "SQLite"}]}


def lines(*items: Item, threads: tuple[Thread, ...] = (MAIN,), apart: bool = False) -> list[str]:
    """The lines without their times; the log they make has no findings that matter."""
    made = timeline(*items, threads=threads)
    report = validate_bytes(files.bbox_bytes(made))
    assert [one for one in report.findings if one.severity is not Severity.INFO] == []
    found = []
    for _, event, meta in entries_of(made, apart=apart):
        words = {key: value for key, value in scalars.meta_of(meta).items() if key != "ts"} if meta else {}
        found.append(render_event(event, words))
    return found


@pytest.mark.requirement("CONV-07")
def test_words_and_thoughts() -> None:
    said = agent("m2", Thinking("Let me see", "c2ln"), Text("Looking."), Refusal("I will not."), second=2)
    assert lines(user("m1", "Fix it → now"), said) == [
        "u: Fix it → now id=m1 step=2",
        "th: Let me see id=m2 sig=c2ln step=3",
        "a: Looking. step=3",
        "a: I will not. extra.refusal=true step=3",
    ]


def test_what_is_no_text_is_named() -> None:
    parts = (Text("See"), Media("image", "image/png", 12, name="a.png"), Unknown("odd", 7))
    assert lines(user("m1", "", parts=parts)) == [
        "u: See id=m1 step=2\n  [image: image/png, a.png, 12 bytes]\n  [a part of the kind odd, 7 bytes]"
    ]
    assert lines(agent("m2", Thinking("", "c2ln", is_encrypted=True))) == [
        "th: [encrypted] id=m2 sig=c2ln extra.encrypted=true step=2"
    ]


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (Origin.SYSTEM, "# notes: system prompt: Be brief."),
        (Origin.CLIENT, "# notes: from the client: Be brief."),
        (Origin.PACK, "# notes: context pack: Be brief."),
        (Origin.SUMMARY, "a: [COMPACT SUMMARY] id=m1 step=2\n  Be brief.\n  [/COMPACT SUMMARY]"),
        (Origin.USER, "u: Be brief. id=m1 step=2"),
    ],
)
def test_whose_words_they_are(origin: Origin, line: str) -> None:
    assert lines(user("m1", "Be brief.", origin=origin)) == [line]


def test_a_call_whose_result_follows_is_one_line() -> None:
    made = call("c1", "Read", 1, given={"file_path": "calc.py", "id": "x", "lines": [1, 2]}, generation="g1")
    assert lines(generation("g1"), made, result("c1", "one\ntwo", 1.5), user("m2", "Go on")) == [
        't:Read id=c1 file_path=calc.py "id"=x lines=[1, 2] latency_ms=500 step=2 →\n  one\n  two',
        f"{METRICS} extra.cache_creation_input_tokens=20 extra.reasoning_tokens=5 extra.request=req_g1",
        "u: Go on id=m2 step=3",
    ]


@pytest.mark.requirement("CONV-06")
def test_calls_beside_each_other_begin_and_end_apart() -> None:
    details = {"exit_code": 2, "stderr": "no rule", "is_interrupted": True}
    assert lines(
        call("c1", "Bash", 1, given={"command": "make"}),
        call("c2", "mcp__forge__list_issues", 1, given={"state": "open"}),
        result("c2", "8 issues", 2),
        result("c1", "boom", 3, error=True, details=details),
    ) == [
        "t!:Bash id=c1 command=make step=2 → [running]",
        "c:forge.list_issues id=c2 state=open latency_ms=1000 step=3 → 8 issues",
        "o: id=c1 extra.exit_code=2 latency_ms=2000 step=3 interrupted → [error] boom\n  no rule",
    ]


@pytest.mark.parametrize(
    ("text", "error", "details", "shown"),
    [
        ("", None, {}, "[ok]"),
        ("fine", False, {}, "fine"),
        ("[ok] it says", None, {}, "\\[ok] it says"),
        ("no such file", True, {}, "[err: no such file]"),
        ("", None, {"exit_code": 1}, "[err]"),
        ("kept", None, {"stderr": "kept"}, "kept"),
    ],
)
def test_results(text: str, error: bool | None, details: dict[str, object], shown: str) -> None:
    (line,) = lines(call("c1", "Bash"), result("c1", text, error=error, details=details))
    assert line.partition(" → ")[2] == shown


def test_what_nothing_came_back_from_and_what_nobody_called() -> None:
    assert lines(call("c1", "Bash"), result("c9", "late", tool="Fetch")) == [
        "t!:Bash id=c1 step=2 → [running]",
        "t:Fetch id=c9 extra.call=unrecorded step=3 → late",
        "o: id=c1 step=3 interrupted → [skip] no result was recorded",
    ]


def test_arguments_that_are_no_object_stand_as_they_were_written() -> None:
    made = call("c1", "Bash")
    odd = type(made)(id="it", thread="main", call_id="c1", call=ToolCall("Bash", "c1", None, '{"comm'))
    assert lines(odd, result("c1", "x")) == ['t:Bash id=c1 "{\\"comm" step=2 → x']


def test_todos() -> None:
    made = call("c1", "TodoWrite", given={"todos": TODOS})
    assert lines(made, result("c1", "ok")) == ["td: [in_progress] Fix [x] [pending] Test id=c1 step=2"]
    assert lines(call("c1", "update_plan", given={"plan": [{"step": "Read", "status": "completed"}]})) == [
        "td: [completed] Read id=c1 step=2"
    ]
    assert lines(call("c1", "TodoWrite", given={"todos": "none"}), result("c1", "ok")) == [
        "t:TodoWrite id=c1 todos=none latency_ms=0 step=2 → ok"
    ]


@pytest.mark.parametrize(
    ("text", "details", "answer"),
    [
        ('User has answered: "Which one?"="SQLite".', {}, "[selected: SQLite]"),
        ('{"answers": {"Which one?": {"answers": ["Postgres"]}}}', {}, "[selected: Postgres]"),
        ("whatever", {"answers": {"Which one?": "None of them"}}, '"None of them"'),
        ("I do not know", {}, '"I do not know"'),
    ],
)
def test_questions(text: str, details: dict[str, object], answer: str) -> None:
    asked = call("c1", "AskUserQuestion", 1, given={"questions": [QUESTION]})
    assert lines(asked, result("c1", text, 3, details=details)) == [
        'q: id=c1 "Which one?" options=["Postgres", "SQLite"] step=2 → [pending]',
        f"q: id=c1 latency_ms=2000 step=2 → {answer}",
    ]


def test_plan_mode() -> None:
    made: list[Item] = [
        call("c1", "EnterPlanMode"),
        result("c1", "ok"),
        call("c2", "exit_plan_mode", given={"plan": "1. do"}),
    ]
    assert lines(*made, result("c2", "approved")) == [
        "m:plan step=2",
        "@phase explore step=2",
        "@phase final step=3",
        'p:create id=c2 "1. do" step=3 → [pending]',
        "p:create id=c2 latency_ms=0 step=3 → [ok]",
        "@phase exit approved=true step=3",
        "m:auto step=3",
    ]
    assert lines(*made, result("c2", "no", error=True))[-1] == "p:create id=c2 latency_ms=0 step=3 → [err: no]"


def test_skills_and_memory() -> None:
    assert lines(call("c1", "Skill", given={"skill": "pdf", "args": "x"}), result("c1", "loaded")) == [
        "s:pdf id=c1 activate args=x latency_ms=0 step=2 → loaded"
    ]
    asked = call("c1", "mcp__blackbird__memory_search", given={"query": "auth", "limit": 3})
    assert lines(asked, result("c1", "2 matches")) == [
        'r: id=c1 "auth" limit=3 extra.mcp=blackbird.memory_search latency_ms=0 step=2 → 2 matches'
    ]
    assert lines(call("c1", "memory_search", given={"query": "auth"}), result("c1", "2 matches")) == [
        'r: id=c1 "auth" latency_ms=0 step=2 → 2 matches'
    ]
    assert b" mcp=1 " in files.bbox_bytes(timeline(asked, result("c1", "2 matches")))


def test_what_a_line_has_beside_its_metadata_is_kept_together() -> None:
    turn = generation("g1", provider_request="req_p", usage=None, cost=None)
    made = call("c1", "Bash", generation="g1", given={"command": "x"})
    (told,) = lines(turn, made, result("c1", "no", details={"exit_code": 2}), apart=True)
    named = "extra.response=resp_g1 extra.request=req_p extra.exit_code=2"
    assert told == f"t:Bash id=c1 command=x {named} latency_ms=0 step=2 → [err: no]"
    assert lines(result("c1", "no", details={"exit_code": 2})) == [
        "t:unknown id=c1 extra.exit_code=2 extra.call=unrecorded step=2 → [err: no]"
    ]
    refused = agent("m1", Refusal("No."), is_inherited=True)
    assert lines(refused) == ["a: No. id=m1 extra.refusal=true extra.inherited=true step=2"]


def test_a_sub_agent_stands_between_its_start_and_its_report() -> None:
    made: list[Item] = [
        call("c1", "Task", 1, given={"subagent_type": "general", "prompt": "find tests"}),
        user("m1", "find tests", 2, thread="sub"),
        call("c2", "Grep", 3, thread="sub"),
        result("c2", "3 files", 4, thread="sub"),
        result("c1", "Found 3", 5),
    ]
    assert lines(*made, threads=(MAIN, EXPLORER)) == [
        'x:explore id=c1 tid=2 span=x1 "find tests" step=2 → [started]',
        "u: find tests id=m1 tid=2 step=3",
        "t:Grep id=c2 tid=2 latency_ms=1000 step=4 → 3 files",
        'x:explore id=c1 tid=2 span=x1 step=4 → summary="Found 3"',
    ]
    assert lines(*made[:-1], threads=(MAIN, EXPLORER))[-1] == "x:explore id=c1 tid=2 span=x1 step=4 → [done]"


def test_a_result_belongs_to_the_last_call_of_its_id() -> None:
    made: list[Item] = [
        call("c1", "Task", 1, given={"prompt": "find tests"}),
        user("m1", "find tests", 2, thread="sub"),
        msgspec.structs.replace(call("c1", "Read", 3, given={"path": "a"}), id="other"),
        user("m2", "Go on.", 4),
        result("c1", "def a", 5),
    ]
    told = lines(*made, threads=(MAIN, EXPLORER))
    assert "t!:Read id=c1~2 path=a step=4 → [running]" in told
    assert "o: id=c1~2 latency_ms=2000 step=5 → def a" in told
    assert told[-1] == "x:explore id=c1 tid=2 span=x1 step=5 → [done]"


def test_a_sub_agent_whose_call_is_not_known_and_one_within_it() -> None:
    inner = Thread(id="inner", parent="sub", kind="review")
    outer = Thread(id="sub", parent="main", kind="Explore")
    assert lines(user("m1", "deep", thread="inner"), threads=(MAIN, outer, inner)) == [
        "x:explore id=sub_1 tid=2 span=x1 step=1 → [started]",
        "x:review id=sub_2 tid=3 span=x2 parent=x1 step=1 → [started]",
        "u: deep id=m1 tid=3 step=2",
        "x:review id=sub_2 tid=3 span=x2 parent=x1 step=2 → [done]",
        "x:explore id=sub_1 tid=2 span=x1 step=2 → [done]",
    ]


def test_attempts_and_failures_are_told() -> None:
    failed = generation(
        "g1",
        outcome=Outcome.ERROR,
        status=529,
        usage=None,
        cost=None,
        is_superseded=True,
        failure=Failure("overloaded", "Try later"),
    )
    again = generation("g2", attempt=2, usage=Usage(input=1, output=2), cost=Cost(None, "p"), request_id=None)
    assert lines(failed, again, agent("m1", "Here.", generation="g2")) == [
        "# purpose=turn outcome=error status=529 model_name=gannet-3 request=req_g1",
        "# notes: attempt 1 failed with status 529, and a later one took its place: overloaded: Try later",
        "a: Here. id=m1 attempt=2 step=2",
        "# metrics step=2 prompt_tokens=1 completion_tokens=2 cached_tokens=0 extra.attempt=2",
    ]


@pytest.mark.parametrize(
    ("status", "failure", "told"),
    [
        (200, Failure("overloaded_error", "Try later"), "failed within its answer: overloaded_error: Try later"),
        (200, None, "failed within its answer"),
        (101, Failure("server_error", ""), "failed within its answer: server_error"),
        (529, Failure("529", "Try later"), "failed with status 529: Try later"),
        (None, Failure("server_error", "Sorry"), "failed: server_error: Sorry"),
    ],
)
def test_a_failure_says_what_the_provider_said(status: int | None, failure: Failure | None, told: str) -> None:
    failed = generation("g1", outcome=Outcome.ERROR, status=status, usage=None, cost=None, failure=failure)
    assert lines(failed)[-1] == f"# notes: attempt 1 {told}"


def test_what_an_attempt_that_was_given_up_had_said() -> None:
    cut = generation("g1", outcome=Outcome.CUT, usage=None, cost=None, is_superseded=True)
    made = agent("m1", "Half a", generation="g1", is_superseded=True)
    used = call("c1", "Bash", generation="g1", is_superseded=True)
    assert lines(cut, made, used) == [
        "a: Half a id=m1 attempt=1 step=2 interrupted",
        "t:Bash id=c1 attempt=1 step=2 interrupted → [skip] a later attempt took its place",
        "# notes: attempt 1 was cut off before its end, and a later one took its place",
    ]


def test_side_calls_and_changes_of_model() -> None:
    title = generation(
        "g1",
        purpose=Purpose.TITLE,
        model="tern",
        request_id=None,
        usage=Usage(input=9, output=1),
        cost=Cost(Decimal("0.5"), "p"),
    )
    turn = generation("g0", request_id=None, usage=Usage(input=9, output=1), cost=Cost(Decimal("0.5"), "p"))
    used = "prompt_tokens=9 completion_tokens=1 cached_tokens=0 cost_usd=0.50"
    assert lines(
        turn, agent("m1", "Hi", generation="g0"), title, generation("g2", purpose=Purpose.COUNT, usage=None)
    ) == [
        "a: Hi id=m1 step=2",
        f"# metrics step=2 {used}",
        f"# metrics {used} extra.model=tern extra.purpose=title",
        "# purpose=count outcome=complete model_name=gannet-3 request=req_g2",
    ]
    larger = generation("g3", model="gannet-9", request_id=None, usage=Usage(input=9, output=1), cost=None)
    assert lines(turn, title, larger, agent("m1", "Hi", generation="g3"))[-3:] == [
        "# model: gannet-9",
        "a: Hi id=m1 step=2",
        "# metrics step=2 prompt_tokens=9 completion_tokens=1 cached_tokens=0",
    ]


def test_the_model_of_a_sub_agent_is_not_that_of_the_session() -> None:
    used = Usage(input=9, output=1)
    made: list[Item] = [
        generation("g1", request_id=None, usage=used, cost=None),
        call("c1", "Task", 1, given={"prompt": "find tests"}, generation="g1"),
        generation("g2", 2, model="gannet-small", thread="sub", request_id=None, usage=used, cost=None),
        agent("m1", "Found", second=2, thread="sub", generation="g2"),
        call("c2", "Grep", 3, thread="sub", generation="g2"),
        msgspec.structs.replace(mark("k1", "model", "gannet-tiny", 3), thread="sub"),
        generation("g3", 4, request_id=None, usage=used, cost=None),
        agent("m2", "Done", second=4, generation="g3"),
    ]
    told = lines(*made, threads=(MAIN, EXPLORER))
    assert [line for line in told if "model" in line] == [
        "a: Found id=m1 tid=2 model=gannet-small step=3",
        "t!:Grep id=c2 tid=2 model=gannet-small step=3 → [running]",
        "# metrics step=3 prompt_tokens=9 completion_tokens=1 cached_tokens=0 extra.model=gannet-small",
    ]


@pytest.mark.requirement("CONV-05")
def test_what_happens_beside_the_conversation() -> None:
    assert lines(
        mark("k1", "compact", reason="context limit", tokens_before=180000, tokens_after=8000),
        mark("k2", "model", "gannet-9"),
        mark("k3", "snapshot", message_id="b2d8", files=[1, 2]),
        mark("k4", "queue", "and this", operation="enqueue"),
        mark("k5", "queue", operation="remove"),
        mark("k6", "title", "Fix the login"),
        mark("k7", "mode", "plan"),
        mark("k8", "mode", "acceptEdits"),
        mark("k9", "interrupt"),
        mark("k10", "error", "it broke"),
        mark("k11", "note", "x", type="last-prompt", n=1),
        mark("k12", "other", "POST /x", status=404),
        mark("k13", "never seen", "a → b"),
    ) == [
        '@compact reason="context limit" tokens_before=180000 tokens_after=8000 step=1',
        "# model: gannet-9",
        "# file-snapshot: b2d8 files=2",
        '# queue: enqueue "and this"',
        "# queue: remove",
        '# title="Fix the login"',
        "m:plan step=1",
        "@phase explore step=1",
        "@phase exit step=1",
        "m:acceptEdits step=1",
        "# notes: interrupted by the user",
        "# notes: error: it broke",
        '# codex: {"type":"last-prompt","n":1}',
        '# codex: {"type":"other","text":"POST /x","status":404}',
        '# codex: {"type":"never seen","text":"a → b"}',
    ]


def test_a_branch_names_what_it_follows() -> None:
    said: list[Item] = [user("m1", "One"), agent("m2", "Two", parent="m1"), user("m3", "Other", parent="m1")]
    assert lines(*said) == [
        "u: One id=m1 step=2",
        "a: Two id=m2 step=3",
        "u: Other id=m3 parent=m1 step=4",
    ]


def test_each_line_of_an_earlier_session_says_so() -> None:
    made: list[Item] = [
        user("m1", "Old"),
        agent("m2", Thinking("Hm"), "I look."),
        call("c1", "Read"),
        result("c1", "text", details={"exit_code": 0}),
        call("c2", "Bash"),
        call("c3", "mcp__forge__list"),
        result("c2", "done"),
        call("c4", "TodoWrite", given={"todos": TODOS}),
        call("c5", "AskUserQuestion", given={"questions": [QUESTION]}),
        result("c5", "SQLite"),
        call("c6", "ExitPlanMode", given={"plan": "Mend it"}),
        result("lost", "text"),
        mark("k1", "mode", "auto"),
    ]
    old: list[Item] = [msgspec.structs.replace(item, is_inherited=True) for item in made]
    found = lines(*old, user("m9", "New"), call("c9", "Read"), result("c9", "text"))
    told = [line for line in found if not line.startswith("#")]
    assert [line for line in told if "extra.inherited=true" not in line] == [
        "u: New id=m9 step=11",
        "t:Read id=c9 latency_ms=0 step=12 → text",
    ]
    assert told[3] == "t:Read id=c1 extra.exit_code=0 extra.inherited=true latency_ms=0 step=4 → text"


def test_a_sub_agent_of_an_earlier_session_says_so() -> None:
    old = {"is_inherited": True}
    made: list[Item] = [
        call("c1", "Task", given={"prompt": "Look"}, **old),
        agent("m1", "I look.", thread="sub", **old),
        agent("m2", "I look, too.", thread="other", **old),
        user("m9", "New"),
    ]
    found = lines(*made, threads=(MAIN, EXPLORER, Thread(id="other", parent="main", kind="Plan")))
    assert [line.split(" ")[0] for line in found if "extra.inherited=true" in line] == [
        "x:explore",
        "a:",
        "x:plan",
        "a:",
        "x:plan",
        "x:explore",
    ]


@pytest.mark.requirement("CONV-04")
def test_a_log_with_companions_says_what_each_message_used() -> None:
    turn = generation("g1", provider_request="req_p")
    made: list[Item] = [user("m1", "Hi"), turn, agent("m2", Thinking("Hm"), "Ho", parent="m1", generation="g1")]
    assert lines(*made, apart=True) == [
        "u: Hi id=m1 step=2",
        f"th: Hm id=m2 parent=m1 extra.response=resp_g1 extra.request=req_p extra.reasoning_tokens=5 {TOKENS} step=3",
        "a: Ho extra.response=resp_g1 extra.request=req_p step=3",
        "# metrics step=3 cost_usd=0.00125 extra.request=req_g1",
    ]


def test_what_turns_out_later_is_told_where_it_did() -> None:
    composer = Composer((MAIN,))
    composer.feed([call("c1", "Bash"), generation("g1", usage=None, cost=None)])
    found = composer.feed([Amend(id="it_c1", is_superseded=True), Amend(id="g1", usage=Usage(input=1, output=2))])
    assert [render_event(event, {}) for _, event, _ in [*found, *composer.close()]] == [
        "o: → [skip] a later attempt took its place",
        "# metrics prompt_tokens=1 completion_tokens=2 cached_tokens=0 extra.request=req_g1",
    ]


def test_roles_do_not_matter_for_what_the_client_says() -> None:
    assert lines(user("m1", "Hello", role=Role.SYSTEM)) == ["u: Hello id=m1 step=2"]


def test_a_parent_is_named_as_the_log_names_it() -> None:
    made: list[Item] = [
        user("m1", "One"),
        call("c1", "Read"),
        result("c1", "text"),
        user("m2", "Two", parent="it_c1"),
        user("m3", "Three", parent="it_c1_result"),
        user("m4", "Four", parent="nobody knows"),
    ]
    assert lines(*made)[2:] == [
        "u: Two id=m2 parent=c1 step=4",
        "u: Three id=m3 parent=c1 step=5",
        "u: Four id=m4 step=6",
    ]
