"""What of an artifact is indexed, and in which field."""

import pytest

from blackbird.artifacts.model import Change, Command, Type
from blackbird.store.texts import CONCLUDED, fields, session_token, spelled, task_token, type_token
from tests.blackbird.retrieve.artifacts import NOW, artifact, decision, outcome, said


def test_a_segment_has_who_when_and_which_task_in_its_head() -> None:
    found = fields(artifact(said("Hello there", speaker="agent"), task="t-9", at=NOW))
    assert (found.head, found.text) == ("agent 21 September 2026 Monday t-9", "Hello there")
    assert found.scope.split() == [session_token("s1"), task_token("t-9"), type_token(Type.SEGMENT)]


def test_what_is_no_transcript_can_be_asked_for_as_one() -> None:
    assert fields(artifact(decision("Use uv"))).scope.split() == [
        session_token("s1"),
        type_token(Type.DECISION),
        CONCLUDED,
    ]


def test_a_title_is_indexed_where_the_text_does_not_say_it() -> None:
    assert fields(artifact(decision("Use uv for it"), title="Use uv…", at=None)).head == "decision user"
    assert fields(artifact(decision("Use uv for it"), title="Installer", at=None)).head == "decision user Installer"


@pytest.mark.requirement("SEARCH-02")
def test_paths_symbols_and_errors_have_fields_of_their_own() -> None:
    found = fields(
        artifact(
            outcome(
                "Mended",
                files=(Change(path="src/app/cache.py", symbols=("evict", "LruCache")),),
                read=("README.md",),
                commands=(Command(line="pytest -q", said="3 passed"),),
                errors=("KeyError: 'a'",),
            )
        )
    )
    assert found.text == "Mended\npytest -q 3 passed"
    assert found.paths == "src/app/cache.py README.md"
    assert found.symbols == "evict LruCache Lru Cache"
    assert found.errors == "KeyError: 'a' Key Error"


@pytest.mark.requirement("SEARCH-02")
def test_a_transcript_names_symbols_and_errors_too() -> None:
    found = fields(
        artifact(
            said("In load_all() and os.path a ValueError: bad came\nerror[E0308]: mismatched", paths=("a/b.py",))
        )
    )
    assert found.paths == "a/b.py"
    assert found.symbols == "load_all os.path ValueError Value Error"
    assert found.errors == "ValueError: bad came\nerror[E0308]: mismatched Value Error E 0308"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "plain words"),
        ("getHTTPResponse2", "getHTTPResponse2 get HTTP Response 2"),
        ("utf8", "utf8 utf 8"),
        ("東京都へ行く", " 東京 京都 都へ へ行 行く "),
        ("猫 cat", " 猫  cat"),
        ("a\ue000b", "a b"),
    ],
)
def test_names_and_scripts_without_blanks_are_taken_apart(text: str, expected: str) -> None:
    assert spelled(text) == expected


def test_no_text_can_pose_as_one_of_another_scope() -> None:
    forged = session_token("other")
    found = fields(artifact(said(f"see {forged}"), title=forged, task=forged))
    assert forged not in " ".join(found[1:])
    assert len(found.scope.split()) == 3


def test_dates_that_no_calendar_has_are_left_out() -> None:
    assert fields(artifact(said("x"), at=1 << 62)).head.startswith("user")
    assert fields(artifact(said("x"), at=-(1 << 70))).head == "user"
