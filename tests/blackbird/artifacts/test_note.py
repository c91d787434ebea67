"""What is kept of a session beside its artifacts."""

import functools
import operator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from blackbird import derive
from blackbird.artifacts.note import Note
from blackbird.home import Home
from blackbird.store.memory import Reader
from blackbird.timeline import gather
from blackbird.timeline.timeline import Spent
from blackbird.trace.folder import Trace
from tests.blackbird.flights import Flight
from tests.blackbird.flights import Trace as Clock
from tests.blackbird.logbook import Logbook

OPUS, HAIKU = "claude-opus-4-5", "claude-haiku-4-5"


def recorded(folder: Path) -> Home:
    """Two runs of one session, of which the first asked two models, and one that no list has a price of."""
    clock = Clock()
    first = Flight("messages", model=OPUS, trace=clock)
    aside = Flight("messages", model=HAIKU, trace=clock)
    second = Flight("messages", model=OPUS, run="run_2", trace=clock)
    other = Flight("chat", model="scripted-1", run="run_3", trace=clock)
    book = Logbook()
    book.state("run.start", "s1", "run_1", task="t1")
    usage = {
        "input_tokens": 1000,
        "output_tokens": 10,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 0,
    }
    for flight, task in ((first, "t1"), (aside, "t1"), (first, "t1"), (second, "t2"), (second, "t2")):
        book.exchange(flight.turn("Go on.", says="I did.", usage=usage), task=task)
    book.exchange(second.turn("Go on.", status=529), task="t2")
    book.exchange(other.turn("Hello.", says="Hi.", usage={"prompt_tokens": 7, "completion_tokens": 3}))
    home = Home(folder / "home", folder / "home" / "config.toml")
    home.path.mkdir()
    book.save(home.trace)
    derive.catch_up(home)
    return home


def notes(home: Home) -> dict[str, Note]:
    with Reader(home.derived) as reader:
        assert reader.memory is not None
        return reader.memory.notes()


@pytest.mark.requirement("METRICS-07")
def test_what_was_spent_is_kept_by_task_run_and_model(tmp_path: Path) -> None:
    note = notes(recorded(tmp_path))["s1"]
    told = [(each.task, each.run, each.model, each.spent.generations, each.spent.usage.input) for each in note.spent]
    assert told == [
        ("t1", "run_1", OPUS, 2, 2000),
        ("t1", "run_1", HAIKU, 1, 1000),
        ("t2", "run_2", OPUS, 2, 2000),
        (None, "run_3", "scripted-1", 1, 7),
    ]
    assert [each.spent.usd for each in note.spent] == [Decimal("0.0105"), Decimal("0.00105"), Decimal("0.0105"), None]
    assert [each.spent.unknown for each in note.spent] == [(), (), (), ("scripted-1",)]


@pytest.mark.requirement("METRICS-07")
def test_the_parts_come_to_what_the_timeline_says(tmp_path: Path) -> None:
    home = recorded(tmp_path)
    timeline = gather.load(Trace(home.trace), "s1")
    shares = notes(home)["s1"].spent
    total = functools.reduce(operator.add, (each.spent for each in shares), Spent())
    assert (total.usage, total.usd, total.reported) == (
        timeline.spent.usage,
        timeline.spent.usd,
        timeline.spent.reported,
    )
    assert (total.unknown, total.prices) == (timeline.spent.unknown, timeline.spent.prices)
    # A request that failed and took nothing is one of the session, and of no model.
    assert (total.generations, timeline.spent.generations) == (6, 7)
    models = dict.fromkeys(each.model for each in shares)
    summed = {
        model: functools.reduce(operator.add, (each.spent for each in shares if each.model == model), Spent())
        for model in models
    }
    assert summed == timeline.by_model


@pytest.mark.requirement("SCOPE-01")
def test_a_session_is_there_by_what_is_stated_of_it_alone(tmp_path: Path) -> None:
    book = Logbook()
    book.plan("session.start", "harbour", None, folder="/srv/harbour")
    book.plan("goal", "harbour", None, text="the crane lifts again")
    book.plan("task.add", "harbour", "winch", title="Grease the winch", order=2)
    book.plan("task.add", "harbour", "crane", title="Mend the crane", order=1)
    book.plan("outcome", "harbour", "crane", status="success", summary="it lifts")
    home = Home(tmp_path / "home", tmp_path / "home" / "config.toml")
    home.path.mkdir()
    book.save(home.trace)
    derive.catch_up(home)
    note = notes(home)["harbour"]
    assert (note.goal, note.folder, note.is_active) == ("the crane lifts again", "/srv/harbour", False)
    assert None not in (note.began, note.ended, note.opened)
    assert note.closed is None
    assert [(task.id, task.order, task.state, task.status) for task in note.plan] == [
        ("crane", 1, "done", "success"),
        ("winch", 2, "open", None),
    ]


def test_a_session_that_was_ended_is_closed_until_it_is_opened_again(tmp_path: Path) -> None:
    book = Logbook()
    home = Home(tmp_path / "home", tmp_path / "home" / "config.toml")
    home.path.mkdir()
    is_closed = []
    for event in ("session.start", "session.end", "session.start"):
        book.rotate()
        book.plan(event, "harbour", None)
        book.save(home.trace)
        derive.catch_up(home)
        is_closed.append(notes(home)["harbour"].closed is not None)
    assert is_closed == [False, True, False]


def test_a_folder_may_be_spelled_with_other_capitals() -> None:
    one, other = (
        Note(session="a", folder="/Users/dev/Source/App"),
        Note(session="b", folder="/Users/dev/source/app/cli"),
    )
    assert one.is_project_of(other)
    assert other.is_project_of(one)
    assert not one.is_project_of(Note(session="c", folder="/Users/dev/source/apple"))


@pytest.mark.parametrize("folder", ["/home/dev", "/Users/dev", "/root", "/", "/workspace"])
def test_a_folder_of_all_projects_is_no_project_of_any(folder: str) -> None:
    above, below = Note(session="a", folder=folder), Note(session="b", folder=f"{folder.rstrip('/')}/source/app")
    assert not above.is_project_of(below)
    assert not below.is_project_of(above)
    assert above.is_project_of(Note(session="c", folder=folder))


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({"root": "/home/dev/src/app"}, {"root": "/home/dev/src/app/"}, True),
        ({"root": "/home/dev/src/app"}, {"root": "/home/dev/src/app/vendored"}, False),
        ({"root": "/home/dev/src/app"}, {"folder": "/home/dev/src/app"}, True),
        ({"root": "/home/dev/src/app"}, {"folder": "/home/dev/src/app/cli"}, True),
        ({"root": "/home/dev/src/app"}, {"folder": "/home/dev/src"}, False),
        ({"root": "/home/dev/src/app", "folder": "/home/dev/src/app/cli"}, {"folder": "/home/dev/src/app/doc"}, True),
        ({"root": "/home/dev/src/app"}, {"folder": "/home/dev/src/apple"}, False),
        ({"root": "/home/dev/src/app"}, {}, False),
        ({"root": "/home/dev"}, {"folder": "/home/dev/src/app"}, False),
        ({"folder": "/home/dev/src"}, {"folder": "/home/dev/src/app"}, True),
    ],
)
def test_what_is_above_a_repository_is_no_part_of_it(
    one: dict[str, Any], other: dict[str, Any], *, is_same: bool
) -> None:
    first, second = Note(session="a", **one), Note(session="b", **other)
    assert (first.is_project_of(second), second.is_project_of(first)) == (is_same, is_same)
