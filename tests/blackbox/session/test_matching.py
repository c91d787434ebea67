"""Which call a line belongs to, told while streaming."""

import pytest

from blackbox.document.document import parse
from blackbox.session.matching import Match, Matcher, Role


def roles(body: str) -> list[tuple[Role, bool] | None]:
    matcher = Matcher()
    matches = [matcher.feed(line) for line in parse(body).lines]
    return [(match.role, match.is_open) if match is not None else None for match in matches]


def keys(body: str) -> list[str]:
    matcher = Matcher()
    return [match.key for line in parse(body).lines if (match := matcher.feed(line)) is not None]


def test_lines_without_a_call_match_nothing() -> None:
    assert roles("u: x\na: x\n# x\n@start\n\ns:skill x\np:create\nr: q\n") == [None] * 8


def test_id_joins_start_progress_and_answer() -> None:
    body = "t!:test id=c1 → [running]\nt~:test id=c1 half\no: id=c1 partial=x\no: id=c1 → [ok]\n"
    assert roles(body) == [
        (Role.NEW, True),
        (Role.PROGRESS, True),
        (Role.PROGRESS, True),
        (Role.ANSWER, False),
    ]
    assert keys(body) == ["c1"] * 4


def test_span_is_another_name_of_a_call_with_an_id() -> None:
    body = "t!:test id=c1 span=s1 → [running]\nt~:test span=s1 half\no: id=s1 → [ok]\n"
    assert keys(body) == ["c1", "c1", "c1"]
    matcher = Matcher()
    for line in parse(body).lines:
        matcher.feed(line)
    assert matcher.open == {}


def test_name_joins_where_there_is_neither_id_nor_span() -> None:
    body = "t!:test a → [running]\nt~:test half\nt:test → [ok]\nt:test b → [ok]\n"
    assert [role for role, _ in filter(None, roles(body))] == [Role.NEW, Role.PROGRESS, Role.ANSWER, Role.NEW]


def test_name_joins_within_a_thread_and_a_family_only() -> None:
    other_thread = "t!:test a → [running]\nt~:test tid=2 half\n"
    assert roles(other_thread)[1] == (Role.ORPHAN, False)
    other_family = 'x:test "a" → [started]\nt:test b → [ok]\n'
    assert roles(other_family)[1] == (Role.NEW, False)


def test_thread_and_type_join_a_subagent_without_id() -> None:
    assert roles('x:explore tid=2 "a" → [started]\nx:explore tid=2 → summary=b\n')[1] == (Role.ANSWER, False)
    assert roles('x:explore "a" → [started]\nx:explore → summary=b\n')[1] == (Role.NEW, False)


def test_retry_opens_a_closed_call_again() -> None:
    body = (
        "t!:git span=s push → [running]\n"
        "t:git span=s attempt=1 → [err: no]\n"
        "t!:git span=s push → [retry 2/3]\n"
        "t:git span=s attempt=2 → [ok]\n"
    )
    assert roles(body) == [(Role.NEW, True), (Role.ANSWER, False), (Role.RETRY, True), (Role.ANSWER, False)]


def test_attempt_in_an_argument_is_no_retry() -> None:
    body = 't:edit id=c1 a → [ok]\nt:edit id=c1 old="attempt=3" → [ok]\n'
    assert roles(body)[1] == (Role.REUSED, False)


@pytest.mark.parametrize(
    "second",
    ["t!:read id=c1 b → [running]", "c:forge.issue id=c1 → [ok]", 'x:explore id=c1 "b" → [ok]'],
)
def test_id_of_an_open_call_used_for_another_one(second: str) -> None:
    match = roles(f"t!:read id=c1 a → [running]\n{second}\n")[1]
    assert match is not None
    assert match[0] is Role.REUSED


def test_plan_with_the_id_of_an_open_tool_does_not_answer_it() -> None:
    matcher = Matcher()
    for line in parse("t!:read id=p1 a → [running]\np:create id=p1 → [ok]\n").lines:
        matcher.feed(line)
    assert list(matcher.open) == ["p1"]


def test_orphans_name_the_id_they_look_for() -> None:
    matcher = Matcher()
    lines = parse("o: id=c9 → [ok]\nt~:test half\n").lines
    assert [matcher.feed(line) for line in lines] == [Match(Role.ORPHAN, "c9", False), Match(Role.ORPHAN, "", False)]


def test_closed_calls_are_known_but_not_kept() -> None:
    matcher = Matcher()
    for line in parse("t:read id=c1 span=s1 a → [ok]\n").lines:
        matcher.feed(line)
    assert (matcher.knows("c1"), matcher.knows("s1"), matcher.knows("c2")) == (True, True, False)
    assert matcher.open == {}
