"""The constructors of results: what they say, and how it is spelled."""

import hashlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings

from blackbox import Result, ResultKind, UsageError
from blackbox.events.calls import Answer, Arguments, build_question
from blackbox.write import results
from blackbox.write.results import spell_result
from tests.blackbox.write import strategies

DIGEST = hashlib.sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    ("result", "kind", "text"),
    [
        (results.ok(), ResultKind.OK, "[ok]"),
        (results.ok("128 passed"), ResultKind.OK, "[ok] 128 passed"),
        (results.done(), ResultKind.OK, "[done]"),
        (results.err("denied"), ResultKind.ERR, "[err: denied]"),
        (results.err(), ResultKind.ERR, "[err]"),
        (results.error("boom\n2 failed"), ResultKind.ERR, "[error] boom\n2 failed"),
        (results.error(), ResultKind.ERR, "[error]"),
        (results.skip("cached"), ResultKind.SKIP, "[skip] cached"),
        (results.running(), ResultKind.RUNNING, "[running]"),
        (results.started(), ResultKind.STARTED, "[started]"),
        (results.pending(), ResultKind.PENDING, "[pending]"),
        (results.retry(2, 3), ResultKind.RETRY, "[retry 2/3]"),
        (results.retry(2), ResultKind.RETRY, "[retry 2]"),
        (results.count(12, "matches"), ResultKind.COUNT, "[12 matches]"),
        (results.count(12), ResultKind.COUNT, "[12]"),
        (results.lines(186), ResultKind.LINES, "[186 lines]"),
        (results.lines(1, "x"), ResultKind.LINES, "[1 line]\nx"),
        (results.blob(DIGEST, 5, "text/plain"), ResultKind.BLOB, f"@blob sha256={DIGEST} bytes=5 mime=text/plain"),
        (results.text("[ok]"), ResultKind.TEXT, "[ok]"),
        (results.selected("A", "B, C"), ResultKind.SELECTED, '[selected: A, "B, C"]'),
        (results.auto("A b", reason="in use"), ResultKind.AUTO, '[auto: A b, reason="in use"]'),
        (results.auto(), ResultKind.AUTO, "[auto]"),
        (results.answer("yes"), ResultKind.TEXT, '"yes"'),
        (results.fields(path="a", summary="b c", x=None), ResultKind.TEXT, 'path=a summary="b c"'),
    ],
)
def test_each_constructor(result: Result, kind: ResultKind, text: str) -> None:
    assert (result.kind, result.text) == (kind, text)
    first, below = spell_result(result)
    assert kind is ResultKind.TEXT or "\n".join([first, *below]) == text


def test_brackets_in_a_message_pair_up_or_are_escaped() -> None:
    assert spell_result(results.err("key [redacted:api_key] refused"))[0] == "[err: key [redacted:api_key] refused]"
    assert spell_result(results.err("a] b"))[0] == "[err: a\\] b]"
    assert results.err("a] b").detail == "a] b"


def test_a_message_of_several_lines_stays_within_its_brackets() -> None:
    assert spell_result(results.err("a\nb ")) == ("[err: a\\nb\\s]", [])
    assert results.err("a\nb ").detail == "a\nb "


def test_choices_and_reason_come_out_as_given() -> None:
    result = results.auto("a, b", "reason=x", reason='it is "so" ]')
    assert (result.choices, result.reason) == (("a, b", "reason=x"), 'it is "so" ]')


@pytest.mark.requirement("ARGS-15")
@settings(max_examples=400, deadline=None)
@given(strategies.texts, strategies.texts)
def test_results_say_what_they_were_given(one: str, two: str) -> None:
    for build in (results.ok, results.done, results.err, results.skip, results.running, results.started):
        assert build(one).detail == one
    assert results.text(one).text == one
    assert results.selected(one, two).choices == (one, two)
    assert (results.auto(one, reason=two).choices, results.auto(one, reason=two).reason) == ((one,), two)
    assert results.fields(path=one, model=(one, two)).fields == {"path": one, "model": (one, two)}
    assert build_question(Arguments(), results.answer(one)).answer == Answer("text", text=one)
    if one and not one[0].isdigit():
        assert results.count(3, one).unit == one
    assert results.lines(3, one).detail == (f"\n{one}" if one else "")


@pytest.mark.requirement("BLOB-04")
@pytest.mark.parametrize("digest", ["", "ab12", "z" * 64, DIGEST.upper(), DIGEST + "0"])
def test_a_blob_needs_its_whole_hash(digest: str) -> None:
    assert f"sha256={DIGEST}" in results.blob(DIGEST).text
    with pytest.raises(UsageError, match="64"):
        results.blob(digest)


def test_what_no_result_can_hold_is_refused() -> None:
    refused: list[Callable[[], Result]] = [
        lambda: results.count(-1),
        lambda: results.count(10**18),
        lambda: results.count(1, ""),
        lambda: results.count(1, "2x"),
        lambda: results.retry(-1),
        lambda: results.blob(DIGEST, -1),
        lambda: results.blob(DIGEST, 1, "a b"),
    ]
    for build in refused:
        with pytest.raises(UsageError):
            build()


@pytest.mark.parametrize(
    ("result", "spelled"),
    [
        (Result(ResultKind.OK, "", "fine"), "[ok] fine"),
        (Result(ResultKind.ERR, "", "bad"), "[err: bad]"),
        (Result(ResultKind.COUNT, "", count=3, unit="files"), "[3 files]"),
        (Result(ResultKind.RETRY, "", attempt=2, attempts=3), "[retry 2/3]"),
        (Result(ResultKind.SELECTED, "", choices=("A",)), "[selected: A]"),
        (Result(ResultKind.AUTO, "", choices=("A",), reason="r"), '[auto: A, reason="r"]'),
        (results.blob(DIGEST, 5), f"@blob sha256={DIGEST} bytes=5"),
    ],
)
def test_a_result_put_together_by_hand_is_written_from_its_fields(result: Result, spelled: str) -> None:
    assert spell_result(result) == (spelled, [])


def test_a_blob_result_without_a_blob_is_refused() -> None:
    with pytest.raises(UsageError, match="blob"):
        spell_result(Result(ResultKind.BLOB, ""))
