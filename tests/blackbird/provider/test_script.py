"""The scripted job: each set of tool results leads to the next step."""

import json

import pytest

from blackbird.provider.jobs import BLOCKED, COVER, DONE, EXTEND, REPAIR, REVIEW, TEST_COMMAND, job
from blackbird.provider.script import (
    SUBMIT,
    TITLE,
    Ids,
    Prompt,
    count_tokens,
    next_turn,
    pieces,
    step,
)
from blackbird.provider.tools import SCRIPT, Action, Tool, use

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
TOOLS = (
    Tool("read_file", PATH),
    Tool("run_command", {"properties": {"command": {"type": "string"}}, "required": ["command"]}),
    Tool("edit_file", {"properties": {"path": {}, "old": {}, "new": {}}, "required": ["path", "old", "new"]}),
)


@pytest.mark.parametrize(
    ("results", "calls"),
    [
        ((), [("read_file", {"path": "calc.py"}), ("read_file", {"path": "test_calc.py"})]),
        (("a", "b"), [("run_command", {"command": TEST_COMMAND})]),
        (("a", "b", "FAILED"), [("edit_file", {"path": "calc.py", "old": "return a - b", "new": "return a + b"})]),
        (("a", "b", "FAILED", "ok"), [("run_command", {"command": TEST_COMMAND})]),
        (("a", "b", "FAILED", "ok", "OK"), []),
    ],
)
def test_the_step_follows_from_the_results(results: tuple[str, ...], calls: list[tuple[str, object]]) -> None:
    turn = next_turn(Prompt(TOOLS, results), Ids(b"x"))
    assert [(call.name, call.arguments) for call in turn.calls] == calls


@pytest.mark.parametrize(("last", "text"), [("OK", DONE), ("FAILED (failures=1)", BLOCKED), ("Traceback", BLOCKED)])
def test_the_last_word_follows_from_the_last_test(last: str, text: str) -> None:
    assert next_turn(Prompt(TOOLS, ("a", "b", "FAILED", "ok", last)), Ids(b"x")).text == text


def test_without_tools_there_is_a_title() -> None:
    assert next_turn(Prompt(), Ids(b"x")).text == TITLE


def test_without_tools_json_follows_its_schema() -> None:
    schema = {
        "type": "OBJECT",
        "properties": {
            "why": {"type": "STRING"},
            "score": {"type": "INTEGER"},
            "kind": {"enum": ["a", "b"]},
            "more": {},
        },
        "required": ["why", "score", "kind"],
    }
    said = next_turn(Prompt(schema=schema), Ids(b"x")).text
    assert json.loads(said) == {"why": TITLE, "score": 1, "kind": "a"}


def test_without_tools_an_edit_is_a_block_if_blocks_are_asked_for() -> None:
    said = next_turn(Prompt(text="Answer with *SEARCH/REPLACE* blocks."), Ids(b"x")).text
    assert said.startswith(DONE)
    assert "<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n" in said


def test_the_last_turn_submits_where_that_is_asked_for() -> None:
    turn = next_turn(Prompt(TOOLS, ("a", "b", "FAILED", "ok", "OK"), f"run `{SUBMIT}`"), Ids(b"x"))
    assert [(call.name, call.arguments) for call in turn.calls] == [("run_command", {"command": SUBMIT})]


@pytest.mark.parametrize(("results", "number"), [(0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (9, 5)])
def test_results_tell_the_step(results: int, number: int) -> None:
    assert step(Prompt(TOOLS, ("x",) * results)) == number
    assert step(Prompt((), ("x",) * results)) == 0


def test_an_edit_can_be_a_list_of_replacements() -> None:
    part = {"type": "object", "properties": {"oldText": {}, "newText": {}}, "required": ["oldText", "newText"]}
    schema = {"properties": {"path": {}, "edits": {"type": "array", "items": part}}, "required": ["path", "edits"]}
    tool = Tool("edit", schema)
    assert use((tool,), Action("edit", "calc.py", "old", "new"), "") == (
        tool,
        {"path": "calc.py", "edits": [{"oldText": "old", "newText": "new"}]},
    )


def test_a_script_runs_commands_where_nothing_else_is_offered() -> None:
    tool, arguments = use((Tool("sleep"), Tool("exec", takes_script=True)), Action("read", "calc.py"), "")
    assert tool.name == "exec"
    assert arguments == {SCRIPT: 'const done = await tools.exec_command({cmd: "cat calc.py"});\ntext(done.output);\n'}


def test_the_same_request_gets_the_same_ids_and_no_id_twice() -> None:
    first, second = Ids(b"request"), Ids(b"request")
    made = [first.new("call"), first.new("call"), first.new("msg")]
    assert made == [second.new("call"), second.new("call"), second.new("msg")]
    assert len(set(made)) == 3
    assert Ids(b"another").new("call") not in made


def test_the_folder_makes_paths_absolute() -> None:
    assert use(TOOLS, Action("read", "calc.py"), "/job/")[1] == {"path": "/job/calc.py"}


def test_a_shell_stands_in_for_tools_that_are_not_offered() -> None:
    shell = (
        Tool("Bash", {"properties": {"command": {}, "description": {}}, "required": ["command", "description"]}),
    )
    assert use(shell, Action("read", "calc.py"), "/job") == (
        shell[0],
        {"command": "cat calc.py", "description": "run step"},
    )
    assert use(shell, Action("edit", "f", "a", "b\nc"), "")[1]["command"] == r"sed -i 's/a/b\nc/' f"
    assert use(shell, Action("search", "lamp"), "")[1]["command"] == 'blackbird mem search "lamp"'


def test_what_a_schema_requires_is_filled() -> None:
    schema = {
        "properties": {"mode": {"enum": ["safe", "fast"]}, "count": {"type": "INTEGER"}, "spare": {}, "command": {}},
        "required": ["mode", "count"],
    }
    assert use((Tool("shell", schema),), Action("run", "ls"), "")[1] == {"mode": "safe", "count": 1, "command": "ls"}


def test_pieces_join_to_the_text() -> None:
    assert "".join(pieces(DONE)) == DONE
    assert pieces("") == [""]


def test_tokens_are_counted_in_text_alone() -> None:
    assert count_tokens(json.loads('{"a": "12345678", "b": [1, "1234"]}')) == 3
    assert count_tokens(None) == 1


def test_the_job_is_what_the_user_asked_for_last() -> None:
    assert job("mend the test") is REPAIR
    assert job("cover negative numbers, then add a function sub()") is EXTEND
    assert job("add a function sub(), then cover negative numbers") is COVER


def test_what_was_found_first_is_what_is_got() -> None:
    tools: tuple[Tool, ...] = (
        Tool("mcp__blackbird__memory_search", {"properties": {"query": {}}, "required": ["query"]}),
    )
    tools += (Tool("memory_get", {"properties": {"id": {}}, "required": ["id"]}, namespace="mcp__blackbird"),)
    search = next_turn(Prompt(tools, asked=COVER.cue), Ids(b"x")).calls[0]
    assert (search.name, search.arguments) == ("mcp__blackbird__memory_search", {"query": "amounts"})
    got = next_turn(
        Prompt(tools, ("art_4ucdv2hlmbo2tyhx and art_5ucdv2hlmbo2tyhx",), asked=COVER.cue), Ids(b"x")
    ).calls
    assert [(call.name, call.namespace, call.arguments) for call in got] == [
        ("memory_get", "mcp__blackbird", {"id": "art_4ucdv2hlmbo2tyhx"})
    ]


def reviewed(pack: str, results: int) -> tuple[str, list[str]]:
    text = f"<blackbird-context>{pack}</blackbird-context>\n{REVIEW.cue}? It is in calc.py."
    turn = next_turn(Prompt(TOOLS, ("x",) * results, text, asked=text), Ids(b"x"))
    return turn.text, [str(next(iter(call.arguments.values()))) for call in turn.calls]


def test_what_the_pack_names_is_not_looked_at_again() -> None:
    assert [reviewed("", number)[1] for number in range(4)] == [["calc.py"], ["test_calc.py"], [TEST_COMMAND], []]
    assert [reviewed("test_calc.py", number)[1] for number in range(3)] == [["calc.py"], [TEST_COMMAND], []]
    assert reviewed(f"calc.py, test_calc.py, {TEST_COMMAND}", 0) == (REVIEW.done, [])
