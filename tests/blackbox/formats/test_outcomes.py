"""Results as JSON values, and back."""

import pytest
from hypothesis import given, settings

from blackbox.formats import outcomes
from blackbox.syntax.results import Result, parse_result
from blackbox.write import results
from tests.blackbox.write import strategies

PLAIN = [
    ("[ok]", "ok"),
    ("[ok] 128 tests passed", {"ok": "128 tests passed"}),
    ("[done]", "done"),
    ("[err: permission denied]", {"err": "permission denied"}),
    ("[error] Exit code 2", {"error": "Exit code 2"}),
    ("[err] odd", {"raw": "[err] odd"}),
    ("[skip]", "skip"),
    ("[running]", "running"),
    ("[retry 2/3]", {"retry": "2/3"}),
    ("[retry 2]", {"retry": "2"}),
    ("[186 lines]", {"lines": 186}),
    ("[1 line]", {"line": 1}),
    ("[4 files]", {"files": 4}),
    ("[12]", {"count": 12}),
    ("[2 issues] both open", {"issues": 2, "text": "both open"}),
    ("[3 lines]\na\nb\nc", {"lines": 3, "text": "\na\nb\nc"}),
    ("[no matches]", {"raw": "[no matches]"}),
    ("[selected: OAuth, JWT]", {"selected": ["OAuth", "JWT"]}),
    ("[selected]", "selected"),
    ("[auto]", "auto"),
    ('[auto: OAuth, reason="in use"]', {"auto": ["OAuth"], "reason": "in use"}),
    ("found in src/ads.rs", "found in src/ads.rs"),
    ("ok", {"text": "ok"}),
    ("[found]", "[found]"),
    ('session_id=s1 summary="3 failures"', 'session_id=s1 summary="3 failures"'),
    (
        "@blob sha256=" + "ab" * 32 + " bytes=7 mime=text/plain",
        {"blob": {"sha256": "ab" * 32, "bytes": 7, "mime": "text/plain"}},
    ),
]


@pytest.mark.requirement("JSONL-03")
@pytest.mark.parametrize(("text", "value"), PLAIN, ids=[text for text, _ in PLAIN])
def test_result_is_a_plain_value_and_comes_back(text: str, value: object) -> None:
    result = parse_result(text)
    assert outcomes.encode(result) == value
    read = outcomes.decode(value)
    assert (read.text, read.kind, read.count, read.unit) == (text, result.kind, result.count, result.unit)


@settings(max_examples=100, deadline=None)
@given(strategies.any_results.filter(bool))
def test_frame_and_content_join_again(result: Result) -> None:
    value = outcomes.encode(result)
    frame, content = outcomes.split(value)
    assert outcomes.decode(outcomes.join(frame, content)) == outcomes.decode(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"pr": 203}, "[203 pr]"),
        (7, "7"),
        ([1, "a"], '[1,"a"]'),
        ({"a": 1, "b": 2}, '{"a":1,"b":2}'),
        ({"files": -1}, '{"files":-1}'),
        ({"9x": 1}, '{"9x":1}'),
        (True, "true"),
    ],
)
def test_what_others_write_is_read_as_far_as_it_goes(value: object, text: str) -> None:
    assert outcomes.decode(value).text == text


def test_long_text_stands_apart_from_its_frame() -> None:
    assert outcomes.split({"lines": 3, "text": "\na"}) == ({"lines": 3}, "\na")
    assert outcomes.split("free text") == ("text", "free text")
    assert outcomes.split({"error": "boom"}) == ("error", "boom")
    assert outcomes.split(outcomes.encode(results.selected("A"))) == ({"selected": ["A"]}, "")
