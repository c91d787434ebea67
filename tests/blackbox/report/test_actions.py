"""Actions: what counts, that it counts once, and for which session."""

from typing import Any

import pytest

from blackbox.report.actions import FileActions, Form, SessionActions, count_actions, read_entry, total_of


def at(second: int) -> str:
    return f"2025-12-22T10:{second // 60:02}:{second % 60:02}Z"


def precisely(line: dict[str, Any]) -> dict[str, Any]:
    """A line as agents' own logs have it: with a fraction of a second."""
    return line | {"timestamp": line["timestamp"].replace("Z", ".125Z")}


def turn(second: int, *blocks: dict[str, Any], message: str = "m1", **more: Any) -> dict[str, Any]:
    body = {"id": message, "role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "message": body, "timestamp": at(second), **more}


def text(words: str = "Done.") -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": name, "name": "Read", "input": {}}


def user(second: int, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"content": "Go."}, "timestamp": at(second), **more}


def file(name: str, *values: object, folder: str = "logs") -> FileActions:
    found = FileActions(name, folder, f"{folder}/{name}.jsonl")
    for value in values:
        found.add(value)
    return found


def only(*files: FileActions) -> SessionActions:
    (session,) = count_actions(files)
    return session


@pytest.mark.requirement("APM-01")
def test_tool_calls_and_messages_with_text_are_actions_over_the_sessions_minutes() -> None:
    found = only(
        file("a", user(0), turn(30, text(), call("t1"), call("t2")), user(60), turn(120, text(), message="m2"))
    )
    assert (found.messages, found.tool_calls, found.actions) == (2, 2, 4)
    assert (found.minutes, found.apm) == (2.0, 2.0)


@pytest.mark.requirement("APM-01")
def test_streamed_message_counts_once_though_every_block_has_a_line() -> None:
    lines = (turn(0, text("One")), turn(1, call("t1")), turn(2, text("Two")), turn(60, call("t1")))
    assert (only(file("a", *lines)).messages, only(file("a", *lines)).tool_calls) == (1, 1)


@pytest.mark.requirement("APM-01")
def test_thinking_empty_text_results_and_api_errors_are_no_actions() -> None:
    thinking = {"type": "thinking", "thinking": "Hm."}
    lines = (user(0), turn(1, thinking), turn(2, text("  ")), turn(60, text(), isApiErrorMessage=True))
    assert only(file("a", *lines)).actions == 0


@pytest.mark.requirement("APM-01")
def test_resumed_session_counts_only_what_it_adds_and_begins_behind_its_copy() -> None:
    history = (user(0), turn(30, text(), call("t1")), turn(60, text()))
    added = (user(180), turn(240, text(), message="m2"))
    first = file("a", *(precisely(line) | {"sessionId": "a"} for line in history))
    second = file("b", *(precisely(line) | {"sessionId": "b"} for line in (*history, *added)))
    old, new = count_actions([second, first])
    assert (old.session, old.actions, old.minutes) == ("a", 2, 1.0)
    assert (new.session, new.actions, new.copied, new.minutes) == ("b", 1, 2, 1.0)


@pytest.mark.parametrize("lines", [(turn(5, text()),), (turn(5, text()) | {"timestamp": None},), (turn(5), turn(5))])
@pytest.mark.requirement("APM-01")
def test_length_of_nothing_is_unknown(lines: tuple[dict[str, Any], ...]) -> None:
    found = only(file("a", *lines))
    assert (found.minutes, found.apm) == (None, None)


def test_flat_form_has_a_line_a_call() -> None:
    lines = (
        {"type": "user", "message": {"content": "Fix"}, "timestamp": at(0)},
        {"type": "assistant", "message": {"content": "I look."}, "timestamp": at(5)},
        {"type": "tool_use", "tool": "Read", "input": {}, "timestamp": at(6)},
        {"type": "tool_use", "tool": "Read", "input": {}, "timestamp": at(7)},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "x", "timestamp": at(60)},
    )
    found = only(file("a", *lines))
    assert (found.messages, found.tool_calls, found.minutes, found.source) == (1, 2, 1.0, Form.COMPANION)


@pytest.mark.requirement("APM-02")
def test_sub_agent_files_count_for_the_parent_beside_them() -> None:
    header = {"type": "header", "session_id": "sub-abc", "parent_session": "123-task", "started_at": at(10)}
    parent = file("123-task", user(0), turn(60, text()))
    child = file("123-task.sub-abc", header, turn(90, call("t9"), message="m9"))
    elsewhere = file("123-task", turn(0, text(), message="x"), folder="other")
    first, second = count_actions([child, elsewhere, parent])
    assert (first.session, first.actions, first.files) == (
        "123-task",
        2,
        ("logs/123-task.jsonl", "logs/123-task.sub-abc.jsonl"),
    )
    assert first.minutes == 1.5
    assert second.files == ("other/123-task.jsonl",)


@pytest.mark.requirement("APM-02")
def test_sidechains_of_an_agents_own_log_count_for_their_session() -> None:
    parent = file("s1", *(line | {"sessionId": "s1", "version": "2.1.0"} for line in (user(0), turn(60, text()))))
    side = turn(30, text(), message="m2", sessionId="s1", isSidechain=True, agentId="a7")
    found = only(parent, file("agent-a7", side, folder="logs/s1/subagents"))
    assert (found.session, found.actions, found.source) == ("s1", 2, Form.CLAUDE)


@pytest.mark.requirement("APM-02")
def test_session_in_both_places_counts_by_its_companion() -> None:
    init = {"type": "system", "message": {"subtype": "init", "session_id": "s1"}, "timestamp": at(0)}
    companion = file("0900-task", init, turn(60, text()))
    native = file(
        "s1",
        *(
            line | {"sessionId": "s1", "version": "2.1.0"}
            for line in (turn(60, text()), turn(70, text(), message="m2"))
        ),
    )
    found = only(native, companion)
    assert (found.session, found.source, found.actions) == ("0900-task", Form.COMPANION, 1)


def rollout(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": at(second), "payload": payload}


def test_rollouts_count_response_items_and_not_their_echo() -> None:
    content = [{"type": "output_text", "text": "Step 1"}]
    found = only(
        file(
            "rollout-x",
            rollout("session_meta", 0, id="c1", session_id="c1"),
            rollout("response_item", 1, type="message", role="user", content=content),
            rollout("response_item", 2, type="message", role="assistant", id="m1", content=content),
            rollout("response_item", 3, type="function_call", call_id="f1", name="exec"),
            rollout("response_item", 4, type="custom_tool_call", call_id="f2", name="apply_patch"),
            rollout("response_item", 5, type="local_shell_call", call_id="f3"),
            rollout("event_msg", 60, type="agent_message", message="Step 1"),
        )
    )
    assert (found.session, found.messages, found.tool_calls, found.minutes) == ("c1", 1, 3, 1.0)


def test_rollout_of_a_sub_agent_counts_for_its_parent() -> None:
    call_item = {"type": "function_call", "call_id": "f1"}
    parent = file("rollout-1", rollout("session_meta", 0, id="c1"), rollout("response_item", 60, **call_item))
    child = file(
        "rollout-2",
        rollout("session_meta", 10, id="c2", session_id="c1", parent_thread_id="c1"),
        rollout("response_item", 20, **(call_item | {"call_id": "f2"})),
    )
    found = only(child, parent)
    assert (found.session, found.tool_calls, len(found.files)) == ("c1", 2, 2)


@pytest.mark.parametrize("value", [None, 5, "x", [], True])
def test_line_that_is_no_object_is_counted_as_bad(value: object) -> None:
    assert file("a", value).bad_lines == 1


@pytest.mark.parametrize(
    "value",
    [{}, {"type": 3}, {"type": "assistant", "message": "no"}, {"type": "user", "content": "gemini"}, {"type": "x"}],
)
def test_other_objects_have_no_form(value: dict[str, Any]) -> None:
    assert read_entry(value).form is None


def test_odd_blocks_are_passed_over() -> None:
    assert read_entry(turn(0, text())).actions != ()
    odd = {"type": "assistant", "message": {"content": ["x", 5, None, {"type": "text", "text": 7}]}}
    assert read_entry(odd).actions == ()


def test_total_divides_only_what_was_timed() -> None:
    timed = SessionActions("a", Form.COMPANION, ("a",), 2, 2, 0, 2.0)
    untimed = SessionActions("b", Form.CLAUDE, ("b",), 5, 0, 0, None)
    total = total_of([timed, untimed])
    assert (total.sessions, total.actions, total.minutes, total.apm, total.untimed) == (2, 9, 2.0, 2.0, 1)
    assert total_of([]).apm is None


@pytest.mark.requirement("APM-01")
@pytest.mark.parametrize("at_once", [True, False])
def test_sessions_that_number_their_calls_anew_do_not_share_them(at_once: bool) -> None:
    later = 0 if at_once else 600
    first = file("a", user(0), *(turn(second, call(f"call_{second}"), message="") for second in (1, 2, 60)))
    second = file("b", user(later), *(turn(later + at, call(f"call_{at}"), message="") for at in (1, 2, 60)))
    assert [(found.tool_calls, found.copied) for found in count_actions([first, second])] == [(3, 0), (3, 0)]


@pytest.mark.requirement("APM-02")
def test_sub_agent_that_numbers_its_calls_anew_has_calls_of_its_own() -> None:
    header = {"type": "header", "session_id": "sub-abc", "parent_session": "a", "started_at": at(1)}
    child = file("a.sub-abc", header, turn(2, call("call_1"), message=""), turn(2, call("call_1"), message=""))
    assert only(file("a", user(0), turn(2, call("call_1"), message="")), child).tool_calls == 2


@pytest.mark.requirement("APM-01")
@pytest.mark.parametrize(
    ("name", "is_copy"),
    [
        ("toolu_01A09q90qw90lq917835lq9", True),
        ("call_AbCdEfGhIjKlMnOpQrStUvWx", True),
        ("0b0e5a52-6f0b-4f57-8f0c-6a6f2b3f0a11", True),
        ("chatcmpl-tool-0123456789abcdef0123456789abcdef", True),
        ("call_1", False),
        ("call_0000000000000001", False),
        ("call_readtheconfiguration", False),
        ("read:0", False),
    ],
)
def test_id_that_is_random_by_nature_is_a_copy_whenever_it_comes(name: str, is_copy: bool) -> None:
    first = file("a", user(0), turn(1, call(name), message=""))
    second = file("b", user(100), turn(101, call(name), message=""))
    assert [found.copied for found in count_actions([first, second])] == [0, int(is_copy)]


@pytest.mark.requirement("APM-02")
def test_same_name_in_folders_of_two_days_is_two_sessions() -> None:
    init = {"type": "system", "message": {"session_id": "090005-cron"}, "timestamp": at(0)}
    child = file("090005-cron.sub-x", {"type": "header", "parent_session": "090005-cron"}, folder="20260302")
    days = [file("090005-cron", init, turn(60, call("call_1")), folder=day) for day in ("20260301", "20260302")]
    first, second = count_actions([child, *days])
    assert (first.session, first.tool_calls, len(first.files)) == ("090005-cron", 1, 1)
    assert second.files == ("20260302/090005-cron.jsonl", "20260302/090005-cron.sub-x.jsonl")


def test_sub_agent_finds_its_parent_by_session_id_in_its_folder_only() -> None:
    init = {"type": "system", "message": {"session_id": "s1"}, "timestamp": at(0)}
    header = {"type": "header", "session_id": "s2", "parent_session": "s1"}
    parent, near = file("task", init), file("helper", header, turn(9, call("t1")))
    far = file("helper", header, turn(9, call("t1")), folder="other")
    assert [len(found.files) for found in count_actions([parent, near, far])] == [1, 2]
