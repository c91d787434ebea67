"""Calls and their answers: every line that does something."""

import pytest

from blackbox.events.calls import (
    Answer,
    Arguments,
    McpCall,
    Mode,
    Observation,
    Plan,
    Question,
    Recall,
    Skill,
    Subagent,
    ToolCall,
)
from blackbox.syntax.results import Result, ResultKind, parse_result
from tests.blackbox.events.entry import entry, event

OK = parse_result("[ok]")


@pytest.mark.requirement("PREFIX-03", "ARGS-05")
def test_tool_call_has_name_id_arguments_and_result() -> None:
    line = entry('t:grep id=c7 "seed bank" src limit=5 types=[py, "h t"] step=2 → [12 matches]')
    assert line.id == "c7"
    assert line.event == ToolCall(
        "grep",
        Arguments(("seed bank", "src"), {"limit": "5", "types": ("py", "h t")}),
        Result(ResultKind.COUNT, "[12 matches]", count=12, unit="matches"),
    )


@pytest.mark.requirement("OBS-01")
def test_call_without_id() -> None:
    assert entry("t:read src/a.py → [ok]").id is None
    assert event("t:read src/a.py → [ok]") == ToolCall("read", Arguments(("src/a.py",)), OK)


@pytest.mark.requirement("OBS-01")
@pytest.mark.parametrize(
    "source", ["t:x id=i9 a → b", "c:s.m id=i9 a → b", "x:explore id=i9 a → b", "t!:x id=i9", "t~:x id=i9"]
)
def test_calls_may_carry_an_id(source: str) -> None:
    assert entry(source).id == "i9"


@pytest.mark.requirement("PREFIX-04", "PREFIX-05")
def test_start_and_progress_of_a_tool() -> None:
    start, progress = event("t!:test span=t2 pytest -q → [running]"), event('t~:test span=t2 "[12/128 passed]"')
    assert start == ToolCall("test", Arguments(("pytest", "-q")), parse_result("[running]"), "start")
    assert progress == ToolCall("test", Arguments(("[12/128 passed]",)), None, "progress")


@pytest.mark.requirement("LAYOUT-05")
def test_result_may_stand_wholly_below() -> None:
    found = event('t:git log -2 →\n  5b0d911 "remind members"\n  e3c2f70 one loan')
    assert isinstance(found, ToolCall)
    assert found.result == Result(ResultKind.TEXT, '5b0d911 "remind members"\ne3c2f70 one loan')


def test_block_below_a_call_without_arrow_is_its_result() -> None:
    found = event("t:read a.py\n  [3 lines]\n  x = 1")
    assert isinstance(found, ToolCall)
    assert found.result is not None
    assert (found.result.kind, found.result.count) == (ResultKind.LINES, 3)


@pytest.mark.requirement("LAYOUT-04")
def test_block_below_a_result_belongs_to_it() -> None:
    found = event("t:read a.py → [94 lines] step=4\n  class Loan:\n      due = 1")
    assert isinstance(found, ToolCall)
    assert found.result is not None
    assert found.result.text == "[94 lines]\nclass Loan:\n    due = 1"


@pytest.mark.requirement("PREFIX-06")
def test_observation() -> None:
    line = entry("o: id=c1 → [ok] 128 tests passed")
    assert line.id == "c1"
    assert line.event == Observation(None, Arguments(), parse_result("[ok] 128 tests passed"))


@pytest.mark.requirement("PREFIX-06")
def test_streamed_part_of_an_observation() -> None:
    assert event('o: id=c1 partial="Compiling 1/5..."') == Observation(
        "Compiling 1/5...", Arguments((), {"partial": "Compiling 1/5..."}), None
    )


@pytest.mark.requirement("ARGS-08")
def test_observation_keeps_line_numbers_with_arrows() -> None:
    found = event("o: id=c1 → [ok] 1→import re  2→def f() -> int:")
    assert isinstance(found, Observation)
    assert found.result is not None
    assert found.result.detail == "1→import re  2→def f() -> int:"


@pytest.mark.requirement("PREFIX-07", "SKILL-01")
@pytest.mark.parametrize(
    ("source", "name", "action", "keyword"),
    [
        ("s:form-copy check page.html → [ok]", "form-copy", "check", {}),
        ("s:list → [a, b]", "list", None, {}),
        ('s:marketplace search="mail merge" → [3 skills]', "marketplace", None, {"search": "mail merge"}),
        ("s:pricing install → [ok]", "pricing", "install", {}),
        ("s:pricing activate→[ok]", "pricing", "activate", {}),
    ],
)
def test_skill(source: str, name: str, action: str | None, keyword: dict[str, str]) -> None:
    found = event(source)
    assert isinstance(found, Skill)
    assert (found.name, found.action, found.arguments.keyword) == (name, action, keyword)
    assert found.result is not None


@pytest.mark.requirement("SKILL-02")
def test_skill_made_by_the_agent() -> None:
    found = event('s:create name="release-notes" →\n  Writing SKILL.md\n  [ok] saved')
    assert isinstance(found, Skill)
    assert found.arguments.keyword == {"name": "release-notes"}
    assert found.result == Result(ResultKind.TEXT, "Writing SKILL.md\n[ok] saved")


@pytest.mark.requirement("PREFIX-08", "PLANMODE-07")
@pytest.mark.parametrize(
    ("source", "action", "title"),
    [
        ('p:create id=p1 "Waiting list" → [ok]', "create", "Waiting list"),
        ("p:update id=p1 →\n  + 6. a banner", "update", None),
        ('p:write id=p1 "# Plan\\n1. look" → [ok]', "write", "# Plan\\n1. look"),
        ("p:complete id=p1 → [ok]", "complete", None),
    ],
)
def test_plan(source: str, action: str, title: str | None) -> None:
    line = entry(source)
    found = line.event
    assert isinstance(found, Plan)
    assert (found.action, found.title, line.id) == (action, title, "p1")
    assert found.result is not None


@pytest.mark.requirement("PLANMODE-06")
def test_plan_file() -> None:
    found = event("p:file path=~/plans/waiting-list.md")
    assert isinstance(found, Plan)
    assert (found.action, found.path) == ("file", "~/plans/waiting-list.md")


@pytest.mark.requirement("PREFIX-09", "PLANMODE-01")
@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("m:auto", "auto"),
        ("m: auto", "auto"),
        ("m:chat", "chat"),
        ("m:plan", "plan"),
        ("m:siesta", "siesta"),
        ("m:auto\r", "auto"),
    ],
)
def test_mode(source: str, name: str) -> None:
    assert event(source) == Mode(name, False, Arguments())


@pytest.mark.requirement("PLANMODE-02")
def test_mode_with_a_flag_and_a_comment() -> None:
    assert event("m:auto afk=true # gone to lunch") == Mode(
        "auto", True, Arguments((), {"afk": "true"}), "gone to lunch"
    )


@pytest.mark.requirement("PREFIX-10", "CTX-04")
@pytest.mark.parametrize(
    ("source", "queries"),
    [
        ('r: "waiting list" "reservation" → [1 match]', ("waiting list", "reservation")),
        ('r: "auth" → [no matches]', ("auth",)),
        ("r:loans queue→[0]", ("loans", "queue")),
        ('r:"auth choice" → [2 matches]', ("auth choice",)),
    ],
)
def test_recall(source: str, queries: tuple[str, ...]) -> None:
    found = event(source)
    assert isinstance(found, Recall)
    assert found.queries == queries
    assert found.result is not None
    assert found.result.kind is ResultKind.COUNT


@pytest.mark.requirement("PREFIX-11", "SUBREF-01")
def test_subagent_with_a_reference_to_its_own_log() -> None:
    found = event('x:explore id=sub_7 "find the flaky tests" → session_id=s7 path=t/s7.bbox summary="3 of them"')
    assert isinstance(found, Subagent)
    assert (found.agent_type, found.task) == ("explore", "find the flaky tests")
    assert (found.session_id, found.path, found.summary) == ("s7", "t/s7.bbox", "3 of them")


@pytest.mark.requirement("SUBREF-02")
@pytest.mark.parametrize("path", ["logs/s7.bbox", "s3://bucket/key.bbox", "postgres://db/sessions/7", "../x.rlog"])
def test_path_of_a_subagent_is_kept_as_written(path: str) -> None:
    found = event(f"x:explore a → path={path}")
    assert isinstance(found, Subagent)
    assert (found.path, found.summary) == (path, None)


@pytest.mark.requirement("SUBREF-03")
def test_summary_may_be_missing() -> None:
    found = event("x:explore a → session_id=s1 path=p.bbox")
    assert isinstance(found, Subagent)
    assert (found.session_id, found.path, found.summary) == ("s1", "p.bbox", None)


def test_summary_behind_a_shorthand() -> None:
    found = event('x:explore id=b8 → [done] summary="sitemap skips drafts"')
    assert isinstance(found, Subagent)
    assert found.summary == "sitemap skips drafts"
    assert found.result is not None
    assert found.result.kind is ResultKind.OK


@pytest.mark.requirement("SUBREF-07")
def test_other_keywords_of_a_subagent_are_arguments() -> None:
    line = entry('x:plan id=s2 tid=2 "draw it" context="two tables" perspective=speed → [launched]')
    found = line.event
    assert isinstance(found, Subagent)
    assert found.arguments == Arguments(("draw it",), {"context": "two tables", "perspective": "speed"})
    assert line.meta.tid == "2"


@pytest.mark.requirement("PREFIX-12")
@pytest.mark.parametrize(
    ("source", "server", "method"),
    [
        ("c:forge.issues state=open → [2 issues]", "forge", "issues"),
        ("c:my-server.do_it x → y", "my-server", "do_it"),
        ("c:forge.pr.create x→#74", "forge", "pr.create"),
        ("c:forge x → y", "forge", ""),
    ],
)
def test_mcp_call(source: str, server: str, method: str) -> None:
    found = event(source)
    assert isinstance(found, McpCall)
    assert (found.server, found.method) == (server, method)
    assert found.result is not None


@pytest.mark.requirement("PREFIX-13", "QUEST-01")
def test_question() -> None:
    line = entry('q: id=q_3 "Which parts?" options=["Mail", "Web page", "API"] multi=true → [pending]')
    found = line.event
    assert isinstance(found, Question)
    assert (line.id, found.text, found.options, found.multi) == (
        "q_3",
        "Which parts?",
        ("Mail", "Web page", "API"),
        True,
    )
    assert found.answer == Answer("pending")


@pytest.mark.requirement("PREFIX-13", "QUEST-02", "QUEST-03", "QUEST-05", "QUEST-06")
@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("q: id=q_1 → [selected: Web page]", Answer("selected", ("Web page",))),
        ("q: id=q_3 → [selected: Mail, API]", Answer("selected", ("Mail", "API"))),
        ('q: id=q_2 → "About 1000 a second"', Answer("text", text="About 1000 a second")),
        ("q: id=q_2 → as you like", Answer("text", text="as you like")),
        ('q: id=q_4 "Which?" → [auto]', Answer("auto")),
        ('q: id=q_4 → [auto: Mail, reason="in use already"]', Answer("auto", ("Mail",), "in use already")),
        ('q: id=q_5 "Which?"', None),
    ],
)
def test_answers(source: str, answer: Answer | None) -> None:
    found = event(source)
    assert isinstance(found, Question)
    assert found.answer == answer


def test_question_without_options() -> None:
    found = event('q: "What load?" → [pending]')
    assert isinstance(found, Question)
    assert (found.options, found.multi) == ((), False)


@pytest.mark.requirement("ARGS-13")
@pytest.mark.parametrize(
    ("source", "text"), [(r'q: → "a \"b\" c"', 'a "b" c'), (r"q: → \"a\"", '"a"'), (r"q: → \[pending]", "[pending]")]
)
def test_escaped_answer(source: str, text: str) -> None:
    found = event(source, escaped=True)
    assert isinstance(found, Question)
    assert found.answer == Answer("text", text=text)


def test_last_of_equal_keywords_wins() -> None:
    found = event("t:x a=1 a=2")
    assert isinstance(found, ToolCall)
    assert found.arguments.keyword == {"a": "2"}


def test_arguments_as_text() -> None:
    arguments = Arguments(("a", ("b", "c")), {"k": ("d", "e")})
    assert (arguments.words, arguments.text("k"), arguments.text("none")) == ("a b, c", "d, e", None)
