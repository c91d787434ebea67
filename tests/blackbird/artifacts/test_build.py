"""From a timeline to its artifacts: deterministic, incremental, each with evidence that stands."""

import json
import random
import socket
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts.build import Builder
from blackbird.artifacts.model import Artifact, Constraint, Decision, OpenThread, Segment, Type
from blackbird.canon.model import Origin
from blackbird.timeline import evidence, gather
from blackbird.trace.folder import Trace
from tests.blackbird.artifacts.stories import Story
from tests.blackbird.flights import Flight, repair
from tests.blackbird.logbook import Logbook


def artifacts(story: Story) -> list[Artifact]:
    found = Builder().artifacts(story.timeline())
    assert story.check(found) >= len(found)
    return found


def active(story: Story) -> list[str]:
    """What still holds, in the order in which it was said."""
    rulings = [one for one in artifacts(story) if isinstance(one.content, Decision | Constraint)]
    return [one.title for one in rulings if isinstance(one.content, Decision | Constraint) and one.content.is_active]


def told(seed: int) -> Story:
    """A session with a bit of everything."""
    rng = random.Random(seed)  # noqa: S311 - a test's own choices
    story = Story()
    said = ["Use Postgres for storage.", "Never commit to main.", "Let's go with tabs instead of spaces.", "Thanks!"]
    for number in range(rng.randint(1, 4)):
        story.run(f"run_{number}", f"t{number}", "Mend the lamp")
        for _ in range(rng.randint(1, 5)):
            match rng.randint(0, 5):
                case 0:
                    story.user(rng.choice(said))
                case 1:
                    story.agent("Decision: we keep the wire. The lamp is lit. Which colour should it have?")
                case 2:
                    story.shell("pytest -q", rng.choice(["1 passed in 0.1s\n", "1 failed in 0.1s\n"]), None)
                case 3:
                    story.call("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}, "ok")
                case 4:
                    story.call(
                        "TodoWrite",
                        {"todos": [{"content": "Paint it", "status": rng.choice(["pending", "completed"])}]},
                    )
                case _:
                    story.call("Read", {"file_path": "b.py"}, "no such file", error=True)
        story.end(rng.randint(0, 1))
    return story


@given(st.integers(0, 10_000))
@pytest.mark.requirement("ART-02", "CORE-06")
def test_every_artifact_leads_to_bytes_that_say_so(seed: int) -> None:
    assert artifacts(told(seed))


@given(st.integers(0, 10_000))
def test_a_session_that_grows_gives_what_it_gives_at_once(seed: int) -> None:
    timeline = told(seed).timeline()
    growing = Builder()
    for size in range(1, len(timeline.items) + 1):
        part = msgspec.structs.replace(timeline, items=timeline.items[:size])
        assert growing.artifacts(part) == Builder().artifacts(part)


@given(st.integers(0, 10_000))
def test_ids_are_unique_and_the_same_each_time(seed: int) -> None:
    first, second = (artifacts(told(seed)) for _ in range(2))
    assert first == second
    assert len({one.id for one in first}) == len(first)


@pytest.mark.requirement("ART-03")
def test_quotes_of_a_recorded_session_stand_in_the_trace(tmp_path: Path) -> None:
    book = Logbook()
    for exchange in repair(Flight("messages", chunks=(37, 300))):
        book.exchange(exchange)
    trace = Trace(book.save(tmp_path / "trace", sealed=(1,)))
    found = Builder().artifacts(gather.load(trace, "s1"))
    places = [place for one in found for place in one.provenance]
    assert any(place.quote for place in places)
    for place in places:
        body = evidence.body(trace, place.evidence)
        assert body is not None
        decoded = json.loads(b'"' + body[place.spans[0].start : place.spans[0].end] + b'"') if place.spans else ""
        assert not place.quote or place.quote[:1] in decoded


@pytest.mark.requirement("EXTRACT-08")
def test_packs_wrappers_and_summaries_leave_no_artifact() -> None:
    story = Story()
    for origin in (Origin.PACK, Origin.CLIENT, Origin.SUMMARY, Origin.SYSTEM):
        story.user("Always use Postgres for storage. We decided to never use MySQL. TODO: paint the lamp.", origin)
    assert [one for one in artifacts(story) if one.type in (Type.DECISION, Type.CONSTRAINT, Type.THREAD)] == []


def test_what_a_subagent_is_told_is_not_the_users_word() -> None:
    story = Story()
    story.subagent("sub")
    story.user("Use Postgres for storage.", thread="sub")
    assert active(story) == []


@pytest.mark.requirement("EXTRACT-01")
def test_the_chosen_option_goes_before_what_an_agent_says() -> None:
    story = Story()
    asked = {"questions": [{"question": "Which storage?", "header": "Storage", "options": ["SQLite", "Postgres"]}]}
    story.call("AskUserQuestion", asked, "", details={"answers": {"Which storage?": "SQLite"}})
    story.agent("Decision: we will use Postgres for storage.")
    assert active(story) == ["Which storage? SQLite"]


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (["Use SQLite for storage.", "Use Postgres for storage."], ["Use Postgres for storage."]),
        (
            ["Use SQLite for storage.", "Use Postgres for storage.", "Use SQLite for storage."],
            ["Use SQLite for storage."],
        ),
        (["Use SQLite for storage.", "Please use SQLite for the storage."], ["Use SQLite for storage."]),
        (
            ["Use SQLite for storage.", "Let's use Postgres instead of SQLite."],
            ["Let's use Postgres instead of SQLite."],
        ),
        (
            ["Use SQLite for storage.", "Use Redis for caching."],
            ["Use SQLite for storage.", "Use Redis for caching."],
        ),
    ],
    ids=["flip", "back", "again", "instead", "two subjects"],
)
@pytest.mark.requirement("EXTRACT-05", "EXTRACT-06", "ARTYPE-06", "ARTYPE-07")
def test_no_stale_decision_is_active_and_no_contradiction_merged(said: list[str], holds: list[str]) -> None:
    story = Story()
    for words in said:
        story.user(words)
        story.agent("Done.")
    assert active(story) == holds


@pytest.mark.requirement("EXTRACT-07", "ARTYPE-08", "ARTYPE-09")
def test_constraints_say_must_or_must_not_and_how_far_they_reach() -> None:
    story = Story()
    story.run("run_1", "t1")
    story.user("Never commit to main.")
    story.user("For this change, don't touch the docs.")
    story.user("Never commit to main.")
    found = [one.content for one in artifacts(story) if isinstance(one.content, Constraint)]
    assert [(one.statement, one.must, str(one.reach), one.times) for one in found] == [
        ("Never commit to main.", False, "session", 2),
        ("For this change, don't touch the docs.", False, "task", 1),
    ]


@pytest.mark.requirement("ARTYPE-10")
def test_a_question_is_open_until_the_user_says_something() -> None:
    story = Story()
    story.agent("I looked at it. Which colour should the lamp have?")
    (one,) = (one for one in artifacts(story) if isinstance(one.content, OpenThread))
    assert isinstance(one.content, OpenThread)
    assert (str(one.content.kind), str(one.content.state)) == ("question", "open")
    story.user("Green.")
    (one,) = (one for one in artifacts(story) if isinstance(one.content, OpenThread))
    assert isinstance(one.content, OpenThread)
    assert (str(one.content.state), one.content.closed_by) == ("answered", "the user: Green.")


@pytest.mark.requirement("ARTYPE-11")
def test_segments_are_small_and_cover_what_was_said() -> None:
    story = Story()
    words = "\n\n".join(f"Paragraph {number}: " + "lamp " * 60 for number in range(12))
    story.user("Look at src/lamp.py and at quay.md.")
    story.agent(words)
    found = [one.content for one in artifacts(story) if isinstance(one.content, Segment)]
    assert max(len(one.text) for one in found) <= 1400
    assert found[0].paths == ("src/lamp.py", "quay.md")
    said = "".join(one.text for one in found[1:])
    assert "".join(said.split()) == "".join(words.split())


@pytest.mark.requirement("ART-01")
def test_what_every_artifact_has() -> None:
    story = Story()
    story.run("run_1", "t1", "Mend the lamp")
    story.user("Use Postgres for storage because it is there.")
    (one,) = (one for one in artifacts(story) if one.type is Type.DECISION)
    assert (one.session, one.task, one.run) == ("harbour", "t1", "run_1")
    assert one.builder.startswith("artifacts/")
    assert isinstance(one.content, Decision)
    assert (one.content.rationale, one.content.subject, one.content.choice) == (
        "because it is there",
        "storage",
        "Postgres",
    )
    assert [place.quote for place in one.provenance] == ["Use Postgres for storage because it is there."]


@pytest.mark.requirement("EXTRACT-09")
def test_extraction_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("a socket was asked for")

    monkeypatch.setattr(socket, "socket", refuse)
    assert artifacts(told(7))
