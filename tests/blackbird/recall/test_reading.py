"""The read path: fresh, within bounds, without secrets, and as one's settings have it."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from blackbird import derive, usage
from blackbird.artifacts.model import Segment, Type
from blackbird.errors import MemoryBusy, NotFound
from blackbird.recall import Recall, Whose, bounds, view
from blackbird.store import files
from blackbird.tokens import Plain
from blackbox.errors import ReadError, UsageError, WriteError
from tests.blackbird.recall.kept import Kept

#: What no rule of the recording knew when it passed; put together here so that no scanner of this file finds it.
TOKEN = "ghp_" + "Zb3kQ9xT1vLm7RwY5nHc2JpD8sFg4KaE6uVi"
OWN = "HARBOUR-4711-CRANE"
OWN_RULE = """
[[redaction.rule]]
id = "berth"
kind = "berth"
pattern = 'HARBOUR-[0-9]{4}-[A-Z]+'
"""


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path).record()


def titles(recall: Recall, text: str, **how: Any) -> list[str]:
    return [card.title for card in recall.search(text, **how).cards]


def test_a_search_takes_in_what_is_new(kept: Kept) -> None:
    with kept.recall() as recall:
        assert "How is the weather in the harbour?" in titles(recall, "weather")
        first = recall.report
        assert first is not None
        assert titles(recall, "lighthouse") == []
        assert recall.report is first
        kept.say(kept.two, "Where is the lighthouse?", "At the end of the mole.")
        kept.save()
        assert "Where is the lighthouse?" in titles(recall, "lighthouse")


def test_what_is_up_to_date_is_not_derived(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    derive.catch_up(kept.home)
    monkeypatch.setattr(derive, "catch_up", None)
    with kept.recall() as recall:
        assert titles(recall, "weather")


def test_while_another_process_is_at_it_the_answer_goes_as_far_as_the_memory(kept: Kept) -> None:
    with kept.recall() as recall:
        with files.locked(kept.home.derived), pytest.raises(MemoryBusy):
            recall.search("weather")
        assert titles(recall, "weather")
        kept.say(kept.two, "Where is the lighthouse?", "At the end of the mole.")
        kept.save()
        with files.locked(kept.home.derived):
            assert titles(recall, "lighthouse") == []
            assert titles(recall, "weather")
        assert titles(recall, "lighthouse")


def test_where_nothing_can_be_written_the_answer_goes_as_far_as_the_memory(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive.catch_up(kept.home)
    kept.say(kept.two, "Where is the lighthouse?", "At the end of the mole.")
    kept.save()

    def refuse(*_: object) -> None:
        raise WriteError("read-only", "")

    monkeypatch.setattr(derive, "catch_up", refuse)
    with kept.recall() as recall:
        assert titles(recall, "weather")
        assert titles(recall, "lighthouse") == []


def test_who_has_little_patience_is_answered_while_it_goes_on(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    derive.catch_up(kept.home)
    kept.say(kept.two, "Where is the lighthouse?", "At the end of the mole.")
    kept.save()
    real, may_go_on = derive.catch_up, threading.Event()

    def slowly(*arguments: Any) -> derive.Report:
        may_go_on.wait(60)
        return real(*arguments)

    monkeypatch.setattr(derive, "catch_up", slowly)
    with kept.recall(patience=0.01) as recall:
        assert titles(recall, "weather")
        assert titles(recall, "lighthouse") == []
        may_go_on.set()
        recall._freshness._patience = 60
        assert titles(recall, "lighthouse")
        assert recall.report is not None


def test_what_goes_wrong_aside_is_told(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    derive.catch_up(kept.home)
    kept.say(kept.two, "Where is the lighthouse?", "At the end of the mole.")
    kept.save()

    def fail(*_: Any) -> None:
        raise ReadError("a segment", "")

    monkeypatch.setattr(derive, "catch_up", fail)
    with kept.recall(patience=60) as recall, pytest.raises(ReadError):
        recall.search("weather")


@pytest.mark.parametrize("content", [b"no database", b""])
def test_a_damaged_memory_is_made_anew(kept: Kept, content: bytes) -> None:
    derive.catch_up(kept.home)
    path = files.current(kept.home.derived)
    assert path is not None
    path.write_bytes(content)
    with kept.recall() as recall:
        assert titles(recall, "weather")


def test_who_asks_for_long_sees_a_memory_that_was_made_anew(kept: Kept) -> None:
    with kept.recall() as recall:
        assert titles(recall, "weather")
        derive.rebuild(kept.home)
        kept.tamper("weather", "climate")
        assert titles(recall, "climate") == []
        assert "How is the climate in the harbour?" in titles(recall, "harbour")


def test_where_nothing_was_recorded_nothing_is_found(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    with kept.recall() as recall:
        assert recall.search("weather").cards == ()
        with pytest.raises(NotFound, match="no artifact"):
            recall.get("art_abcdef")
        with pytest.raises(NotFound, match="no session"):
            recall.search("weather", session="s1")


def test_several_threads_are_answered(kept: Kept) -> None:
    found: list[list[str]] = []
    with kept.recall() as recall:
        threads = [threading.Thread(target=lambda: found.append(titles(recall, "weather"))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 8
    assert all(each == found[0] for each in found)


def test_a_session_is_named_as_everywhere(kept: Kept) -> None:
    with kept.recall() as recall:
        assert {card.session for card in recall.search("harbour", session="s2").cards} == {"s2"}
        assert recall.search("harbour", session="run_2").asked.scope.session == "s2"
        assert recall.search("harbour", session="s1").cards == ()
        with pytest.raises(NotFound, match="no session s9"):
            recall.search("harbour", session="s9")


def test_a_name_that_the_memory_knows_needs_no_census(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    derive.catch_up(kept.home)
    monkeypatch.setattr(derive, "session_named", None)
    with kept.recall() as recall:
        assert recall.search("harbour", session="s2").cards


def test_who_works_in_a_session_means_that_one(kept: Kept) -> None:
    with kept.recall(own=Whose(session="s1", run="run_1")) as recall:
        assert {card.session for card in recall.search("store").cards} == {"s1"}
        assert recall.search("harbour").cards == ()
        assert {card.session for card in recall.search("harbour", everywhere=True).cards} == {"s2"}
        assert {card.session for card in recall.search("harbour", session="s2").cards} == {"s2"}
    with kept.recall(own=Whose(session="not-begun")) as recall:
        assert recall.search("store").cards == ()


@pytest.mark.requirement("CONFIG-06")
def test_how_many_cards_and_how_long_their_snippets_are_is_set(kept: Kept) -> None:
    with kept.recall("[retrieval]\nk_default = 1\nmax_snippet_tokens = 10\n") as recall:
        found = recall.search("SQLite segment")
        assert len(found.cards) == 1
        assert len(recall.search("SQLite segment", k=2).cards) == 2
        assert (found.asked.k, found.asked.max_snippet_tokens) == (1, 10)
        near = recall.related(found.cards[0].id)
        assert len(near) == 1
    with kept.recall() as recall:
        found = recall.search("SQLite segment")
        assert (found.asked.k, found.asked.max_snippet_tokens) == (8, 60)


@pytest.mark.parametrize("k", [0, -1, 101])
def test_no_more_cards_than_there_is_room_for(kept: Kept, k: int) -> None:
    with kept.recall() as recall, pytest.raises(UsageError, match="cards cannot be asked for"):
        recall.search("store", k=k)


@pytest.mark.requirement("SEARCH-06")
def test_a_card_says_what_it_is_and_whose(kept: Kept) -> None:
    with kept.recall() as recall:
        found = recall.search("SQLite Postgres", types=[Type.DECISION])
        assert [card.type for card in found.cards] == [Type.DECISION]
        card = found.cards[0]
        assert (card.session, card.run, card.id) == ("s1", "run_1", kept.ids(kind=Type.DECISION)[0])
        assert "SQLite" in card.snippet
        assert card.score > 0
        assert found.tokens == bounds.size(view.describe_card(card), Plain())


@pytest.mark.requirement("SEARCH-08")
def test_an_artifact_is_got_whole_by_the_start_of_its_id(kept: Kept) -> None:
    with kept.recall() as recall:
        derive.catch_up(kept.home)
        for identifier in kept.ids():
            whole = recall.get(identifier[4:12])
            assert (whole.artifact.id, whole.cut, whole.proofs) == (identifier, (), ())
            assert whole.artifact.provenance
            assert set(recall.get(identifier, proved=True).proofs) == {"found"}
        with pytest.raises(UsageError, match="too short"):
            recall.get("art_")


@pytest.mark.requirement("SEARCH-08")
def test_a_very_long_artifact_is_cut_and_says_so(kept: Kept) -> None:
    derive.catch_up(kept.home)
    identifier = next(each for each in kept.ids(session="s2", kind=Type.SEGMENT))
    kept.tamper("How is the weather", "How is the weather " + "or the wind " * 3000)
    with kept.recall() as recall:
        whole = recall.get(identifier)
        content = whole.artifact.content
        assert isinstance(content, Segment)
        assert [(each.part, each.unit) for each in whole.cut] == [
            ("quote", "characters"),
            ("text", "characters"),
            ("title", "characters"),
        ]
        assert 2500 < whole.tokens <= bounds.MOST_TOKENS + 10
        assert recall.get(identifier, most=None).tokens > 2 * bounds.MOST_TOKENS


@pytest.mark.requirement("SEARCH-09")
def test_what_has_to_do_with_an_artifact(kept: Kept) -> None:
    derive.catch_up(kept.home)
    with kept.recall() as recall:
        near = recall.related(kept.ids(kind=Type.DECISION)[0])
        assert near
        assert {each.card.session for each in near} == {"s1"}


ASKED: dict[str, Callable[[Recall, str], Any]] = {
    "search": lambda recall, _: recall.search("weather"),
    "get": lambda recall, identifier: recall.get(identifier),
    "related": lambda recall, identifier: recall.related(identifier, 20),
    "context": lambda recall, _: recall.context(session="s2", description="Look at the weather."),
    "ask": lambda recall, _: recall.ask(lambda memory: memory.all()),
    "evidence": lambda recall, identifier: recall.evidence(identifier),
}


@pytest.mark.requirement("SEC-05")
@pytest.mark.parametrize("door", ASKED)
@pytest.mark.parametrize(("secret", "config"), [(TOKEN, ""), (OWN, OWN_RULE)])
def test_no_secret_that_is_in_the_memory_leaves(kept: Kept, door: str, secret: str, config: str) -> None:
    derive.catch_up(kept.home)
    kept.tamper("weather", f"weather {secret} or not")
    with kept.recall(config) as recall:
        told = [ASKED[door](recall, identifier) for identifier in kept.ids(session="s2")]
    spelled = msgspec.json.encode(told).decode() + repr(told)
    assert secret not in spelled
    assert secret[:24] not in spelled
    assert "[redacted:" in spelled


@pytest.mark.requirement("SEC-05")
def test_half_a_secret_in_a_snippet_does_not_leave_either(kept: Kept) -> None:
    derive.catch_up(kept.home)
    key = (
        "-----BEGIN PRIVATE KEY-----\\\\n"
        + "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgw " * 40
        + "\\\\n-----END PRIVATE KEY-----"
    )
    kept.tamper("weather", f"weather {key}")
    with kept.recall() as recall:
        found = recall.search("weather", session="s2")
        assert found.cards
        assert "MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgw" not in repr(found)


@pytest.mark.requirement("SEC-05")
def test_no_secret_that_is_in_the_trace_leaves_with_the_evidence(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.say(kept.one, f"The berth is {OWN}.", "I see.")
    kept.save()
    with kept.recall(OWN_RULE) as recall:
        pieces = [
            piece for each in recall.ask(lambda memory: memory.all()) for piece in recall.evidence(each.artifact.id)
        ]
    assert OWN not in repr(pieces)
    masked = [piece for piece in pieces if piece.masked]
    assert masked
    assert all(b"[redacted:berth]" in (piece.data or b"") for piece in masked)
    assert all(piece.is_sound for piece in pieces)


def test_every_answer_is_noted(kept: Kept) -> None:
    with kept.recall(door="mcp", own=Whose(session="s2", task="crane", run="run_2")) as recall:
        identifier = recall.search("harbour").cards[0].id
        recall.search("weather")
        for _ in range(3):
            recall.get(identifier)
        recall.related(identifier)
        recall.evidence(identifier)
        recall.context()
    noted = usage.read(kept.home)
    assert [(use.op, use.beyond) for use in noted] == [
        ("search", False),
        ("search", True),
        ("get", False),
        ("get", False),
        ("get", True),
        ("related", False),
        ("evidence", False),
        ("context", False),
    ]
    assert {(use.door, use.run) for use in noted} == {("mcp", "run_2")}
    assert noted[0].found > 0
    assert noted[0].tokens > 0
    assert (noted[0].session, noted[0].task) == ("s2", "crane")


def test_a_pack_for_a_session_that_is_about_to_begin(kept: Kept) -> None:
    with kept.recall() as recall:
        assert recall.context(session="new", description="Build the crane.").session == "new"
        assert recall.context(session="run_1").session == "s1"
        assert recall.context(session="s1", budget=400).budget == 400
        assert recall.context(session="s1").budget == 1500
    with kept.recall("[context]\nbudget_tokens = 700\n") as recall:
        assert recall.context(session="s1").budget == 700


@pytest.mark.parametrize(
    ("own", "sessions"),
    [
        (Whose(folder="/srv/quay/crane"), {"s1"}),
        (Whose(folder="/srv/quay/crane", session="about-to-begin", task="t1"), {"s1"}),
        (Whose(folder="/srv/quay/crane", session="s2"), {"s2"}),
        (Whose(folder="/srv/elsewhere"), {"s1", "s2"}),
        (Whose(), {"s1", "s2"}),
    ],
)
def test_who_works_in_a_folder_means_its_project_until_the_session_is_known(
    tmp_path: Path, own: Whose, sessions: set[str]
) -> None:
    kept = Kept(tmp_path)
    kept.book.state("run.start", "s1", "run_1", client="claude", cwd="/srv/quay")
    kept.book.state("run.start", "s2", "run_2", client="claude", cwd="/srv/sea")
    kept.say(kept.one, "Let's paint the lamp red.", "The lamp is red.")
    kept.say(kept.two, "Let's paint the lamp blue.", "The lamp is blue.")
    kept.save()
    with kept.recall(own=own) as recall:
        assert {card.session for card in recall.search("lamp").cards} == sessions
        assert {card.session for card in recall.search("lamp", everywhere=True).cards} == {"s1", "s2"}
        assert {card.session for card in recall.search("lamp", session="s2").cards} == {"s2"}


@pytest.mark.parametrize(
    ("own", "asked", "sessions"),
    [
        (Whose(), {"task": "t1"}, {"s2"}),
        (Whose(), {"task": "t1", "session": "s1"}, {"s1"}),
        (Whose(), {"task": "t1", "everywhere": True}, {"s1", "s2"}),
        (Whose(), {"task": "t0"}, {"s1"}),
        (Whose(), {"task": "unheard-of"}, {"s1", "s2"}),
        (Whose(session="s1"), {"task": "t1"}, {"s1"}),
        (Whose(folder="/srv/quay/crane"), {"task": "t1"}, {"s1"}),
        (Whose(folder="/srv/quay/crane"), {"task": "unheard-of"}, {"s1"}),
    ],
)
def test_a_task_goes_first_in_the_last_session_that_has_it(
    tmp_path: Path, own: Whose, asked: dict[str, Any], sessions: set[str]
) -> None:
    kept = Kept(tmp_path)
    kept.book.plan("run.start", "s1", "t0", "run_1", client="claude", cwd="/srv/quay")
    kept.book.plan("run.start", "s2", "t1", "run_2", client="claude", cwd="/srv/sea")
    third = kept.one.beside(run="run_3")
    for flight, task, colour in ((kept.one, "t0", "red"), (third, "t1", "green"), (kept.two, "t1", "blue")):
        kept.book.exchange(flight.turn(f"Let's paint the lamp {colour}.", says=f"The lamp is {colour}."), task=task)
    kept.save()
    with kept.recall(own=own) as recall:
        found = recall.search("lamp", k=20, **asked)
    assert {card.session for card in found.cards} == sessions
    assert found.asked.scope.task == asked["task"]


def test_a_session_that_has_just_begun_finds_what_its_project_knows(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.book.state("run.start", "s1", "run_1", client="claude", cwd="/srv/quay")
    kept.book.state("run.start", "s2", "run_2", client="claude", cwd="/srv/quay")
    kept.say(kept.one, "Let's paint the lamp red.", "The lamp is red.")
    kept.save()
    with kept.recall(own=Whose(session="s2", run="run_2", folder="/srv/quay")) as recall:
        assert {card.session for card in recall.search("lamp").cards} == {"s1"}
        assert recall.search("lamp", session="s2").cards == ()


def test_what_is_noted_of_an_answer_has_no_secret(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.say(kept.one, "Let's paint the lamp red.", "The lamp is red.")
    kept.save()
    secret = "ghp_" + "Zb3kQ9xT1vLm7RwY5nHc2JpD8sFg4KaE6uVi"
    with kept.recall(own=Whose(session="s1", run=secret)) as recall:
        recall.search("lamp")
    assert [use.run for use in usage.read(kept.home)] == ["[redacted:github_token]"]
