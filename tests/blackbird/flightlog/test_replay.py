"""A session as rows for people."""

from decimal import Decimal

import msgspec
import pytest

from blackbird.canon.model import Failure, Item, Origin, Outcome, Purpose, Thinking, Thread, Usage
from blackbird.flightlog import replay
from blackbird.flightlog.replay import Wish
from blackbird.timeline.timeline import Spent
from tests.blackbird.flightlog.sessions import MAIN, agent, at, call, generation, mark, result, timeline, user

EDIT = {"file_path": "calc.py", "old_string": "a - b", "new_string": "a + b"}
SUB = Thread(id="sub", parent="main", call_id="c1", kind="Explore")


def shown(*items: Item, threads: tuple[Thread, ...] = (MAIN,), **wish: object) -> list[tuple[object, ...]]:
    rows = replay.rows(timeline(*items, threads=threads), msgspec.convert(wish, Wish))
    return [(row.kind, row.since, row.depth, row.text, row.body, row.left_out) for row in rows]


def test_calls_and_what_came_back() -> None:
    assert shown(
        user("m1", "Fix it", 0.5),
        call("c1", "Read", 1, given={"limit": 3, "file_path": "calc.py"}),
        result("c1", "one\ntwo", 1.84),
        call("c2", "Bash", 2, given={"command": "make   all"}),
        result("c2", "boom", 2.5, error=True, details={"exit_code": 2, "stderr": "no rule", "is_interrupted": True}),
    ) == [
        ("user", 0.5, 0, "user", ("Fix it",), 0),
        ("call", 1.0, 0, "→ Read calc.py", (), 0),
        ("result", 1.84, 0, "← after 0.84s", ("one", "two"), 0),
        ("call", 2.0, 0, "→ Bash make all", (), 0),
        ("error", 2.5, 0, "← exit 2 failed interrupted after 0.50s", ("boom", "no rule"), 0),
    ]


def test_long_results_are_cut_and_the_last_answer_is_not() -> None:
    long = "\n".join(f"line {number}" for number in range(40))
    rows = shown(call("c1", "Read"), result("c1", long), agent("m1", long), agent("m2", long))
    assert [(row[0], len(row[4]), row[5]) for row in rows if row[4]] == [  # type: ignore[arg-type]
        ("result", 6, 34),
        ("agent", 12, 28),
        ("agent", 40, 0),
    ]
    assert all(row[5] == 0 for row in shown(call("c1", "Read"), result("c1", long), agent("m1", long), full=True))


def test_edits_show_what_changed() -> None:
    rows = shown(call("c1", "Edit", given=EDIT), result("c1", "done"))
    assert [row[3:5] for row in rows] == [
        ("→ Edit calc.py", ()),
        ("+1 -1 calc.py", ("- a - b", "+ a + b")),
        ("← after 0.00s", ("done",)),
    ]
    patch = [{"lines": [" def add(a, b):", "-    return a - b", "+    return a + b"]}]
    rows = shown(call("c1", "Edit", given=EDIT), result("c1", "done", details={"structuredPatch": patch}))
    assert [row[3] for row in rows] == ["→ Edit calc.py", "← after 0.00s", "+1 -1 calc.py"]
    assert rows[2][4] == (" def add(a, b):", "-    return a - b", "+    return a + b")
    applied = "*** Begin Patch\n*** Update File: b.py\n@@\n-x\n+y\n+z\n*** End Patch"
    assert shown(call("c1", "apply_patch", given={"input": applied}))[1][3] == "+2 -1 b.py"
    raw = call("c1", "apply_patch")
    raw = msgspec.structs.replace(raw, call=msgspec.structs.replace(raw.call, arguments=None, raw=applied))
    assert shown(raw)[1][3] == "+2 -1 b.py"
    given = {"filePath": "calc.py", "oldString": "a - b", "newString": "a + b"}
    assert [row[3] for row in shown(call("c1", "edit", given=given))] == ["→ edit calc.py", "+1 -1 calc.py"]


def test_an_edit_that_never_happened_shows_no_change() -> None:
    made = call("c1", "Edit", given=EDIT)
    failed = result("c1", "not found", error=True)
    assert [row[3] for row in shown(made, failed)] == ["→ Edit calc.py", "← failed after 0.00s"]
    patched = result("c1", "no", error=True, details={"patch": "@@\n-x\n+y\n"})
    assert [row[3] for row in shown(made, patched)] == ["→ Edit calc.py", "← failed after 0.00s"]
    given_up = msgspec.structs.replace(made, is_superseded=True)
    assert [row[3] for row in shown(given_up)] == ["→ Edit calc.py (superseded)"]


def test_what_clients_add_is_folded() -> None:
    system = user("s1", "x" * 12_200, origin=Origin.SYSTEM)
    turns = [
        generation(name, tools=("a", "b"), system_digest="d", tools_digest="e", second=1) for name in ("g1", "g2")
    ]
    wrapper = user("w1", "y" * 20, origin=Origin.CLIENT)
    assert [row[3] for row in shown(system, *turns, wrapper)] == [
        "system prompt, 12.2k characters, 2 tools, unchanged",
        "the client's own words, 20 characters",
    ]
    other = generation("g3", tools=("a",), system_digest="D")
    assert shown(system, *turns, other)[0][3] == "system prompt, 12.2k characters, 2 tools, 2 versions"


@pytest.mark.parametrize(
    ("kind", "text", "row"),
    [
        ("interrupt", "interrupted", "interrupted"),
        ("interrupt", "by the user", "interrupted by the user"),
        ("note", "skill_listing", "entry of the client's own log: skill_listing"),
        ("compact", "", "conversation compacted by the client"),
        ("queue", "", "queue of messages"),
        ("mode", "plan", "mode plan"),
    ],
)
def test_marks_are_plain_words(kind: str, text: str, row: str) -> None:
    assert [found[3] for found in shown(mark("k", kind, text), full=True)] == [row]


def test_the_line_of_a_call_is_cut_unless_all_is_wanted() -> None:
    command = "make " + "x" * 300
    assert shown(call("c1", "Bash", given={"command": command}))[0][3] == f"→ Bash make {'x' * 154}…"
    assert shown(call("c1", "Bash", given={"command": command}), full=True)[0][3:5] == (f"→ Bash {command}", ())
    several = call("c1", "Bash", given={"command": "cd a\nmake   b"}, is_superseded=True)
    assert shown(several)[0][3:5] == ("→ Bash cd a make b (superseded)", ())
    assert shown(several, full=True)[0][3:5] == ("→ Bash (superseded)", ("cd a", "make   b"))


def test_what_was_there_before_is_marked_and_told_once() -> None:
    made = timeline(
        user("m1", "Old", -600, is_inherited=True),
        agent("m2", "Yes", second=-590, is_inherited=True),
        user("m3", "New", 1, parent="m2"),
        agent("m4", "Done", second=3),
    )
    rows = list(replay.rows(made, Wish()))
    assert [(row.since, row.is_inherited) for row in rows] == [(None, True), (None, True), (1.0, False), (3.0, False)]
    head = dict(replay.head(made))
    assert head["before"] == "2 messages from an earlier session or before recording began, not counted here"
    assert head["when"] == "2026-03-01 09:00:00 UTC  took 3.00s"
    assert "before" not in dict(replay.head(timeline(user("m3", "New", 1))))


def test_thoughts_are_shown_if_wanted() -> None:
    said = agent("m1", Thinking("Hm"), "Ho")
    assert [row[0] for row in shown(said)] == ["agent"]
    assert [row[0] for row in shown(said, thinking=True)] == ["thinking", "agent"]


def test_sub_agents_are_indented_and_can_be_shown_alone() -> None:
    made: list[Item] = [
        call("c1", "Task", given={"prompt": "find"}),
        user("m1", "find", thread="sub"),
        result("c1", "3"),
    ]
    assert [(row[2], row[3]) for row in shown(*made, threads=(MAIN, SUB))] == [
        (0, "→ Task find"),
        (1, "user"),
        (0, "← Task after 0.00s"),
    ]
    assert [row[3] for row in shown(*made, threads=(MAIN, SUB), thread="sub")] == ["user"]


def test_failures_attempts_models_and_side_calls() -> None:
    failed = generation("g1", outcome=Outcome.ERROR, status=529, failure=Failure("busy", "later"), is_superseded=True)
    title = generation("g4", purpose=Purpose.TITLE, usage=Usage(input=1200))
    rows = shown(
        failed, generation("g2", attempt=2), generation("g3", model="gannet-9"), title, mark("k", "error", "bad")
    )
    assert [(row[0], row[3]) for row in rows] == [
        ("failure", "attempt 1 failed with status 529, and a later one took its place: busy: later"),
        ("note", "attempt 2"),
        ("note", "model gannet-9"),
        ("note", "title request to gannet-3, 1.2k tokens"),
        ("failure", "error bad"),
    ]


def test_the_head() -> None:
    made = timeline(
        generation("g1", 5), client_version="2.1", models=("gannet-3",), cwd="/srv", branch="main", exit_code=1
    )
    assert replay.head(made) == [
        ("client", "pelican 2.1"),
        ("model", "gannet-3"),
        ("when", "2026-03-01 09:00:00 UTC  took 5.00s"),
        ("where", "/srv  main  4f2a9c1"),
        ("tokens", "520 read, 400 of them from a cache, 30 written"),
        ("cost", "$0.0012"),
        ("outcome", "exit code 1"),
    ]
    unpriced = msgspec.structs.replace(made, spent=Spent(unknown=("gannet-3",), generations=1))
    assert ("cost", "cost unknown (no price for gannet-3)") in replay.head(unpriced)
    assert ("outcome", "still running") in replay.head(timeline(is_active=True, ended=at(9)))


@pytest.mark.parametrize(
    ("usd", "unknown", "words"),
    [(None, (), "cost unknown"), (Decimal("1.5"), ("x",), "$1.5000, and no price for x")],
)
def test_costs_in_words(usd: Decimal | None, unknown: tuple[str, ...], words: str) -> None:
    assert replay.cost_words(usd, unknown) == words


@pytest.mark.parametrize(("seconds", "text"), [(0.84, "0.84s"), (125, "2m 05s"), (7380, "2h 03m")])
def test_times_in_words(seconds: float, text: str) -> None:
    assert replay.since(seconds) == text


def test_what_nobody_knows_is_left_blank() -> None:
    made, back = call("c1", "read", 1), result("c1", "A", 1)
    late = msgspec.structs.replace(back, at=None, near=back.at)
    told = result("c2", "B", details={"duration_ms": 40})
    asked = msgspec.structs.replace(call("c2", "list"), at=None)

    found = shown(made, late, asked, msgspec.structs.replace(told, at=None))
    assert [(since, text) for _, since, _, text, _, _ in found] == [
        (1.0, "→ read"),
        (None, "←"),
        (None, "→ list"),
        (None, "← after 0.04s"),
    ]


def test_a_session_of_which_only_the_start_is_known_took_nobody_knows_how_long() -> None:
    start = mark("m1", "note", "start")
    assert dict(replay.head(timeline(start)))["when"] == "2026-03-01 09:00:00 UTC"
