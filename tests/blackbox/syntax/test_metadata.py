"""The metadata of a line: where it is read from, and its typed values."""

import datetime as dt

import pytest

from blackbox.syntax.metadata import Meta, is_known
from tests.blackbox.syntax.soup import line_of


def raw(source: str, *, escaped: bool = False) -> dict[str, str]:
    return dict(line_of(source, escaped=escaped).meta.raw)


@pytest.mark.requirement("META-01")
def test_metadata_of_the_call_part_stands_anywhere_in_it() -> None:
    assert raw("t:read id=c1 src/a.py step=4 → [ok]") == {"id": "c1", "step": "4"}


@pytest.mark.requirement("META-01")
def test_quoted_text_of_the_call_part_is_not_searched() -> None:
    assert raw('t:grep "id=9 step=3" path=x span=s1 → [ok]') == {"span": "s1"}


@pytest.mark.requirement("META-02")
def test_run_behind_a_result() -> None:
    line = line_of("t!:Read id=c1 f=x → [running] ts=2026-01-02T03:04:05Z tokens_in=9")
    assert dict(line.meta.raw) == {"id": "c1", "ts": "2026-01-02T03:04:05Z", "tokens_in": "9"}
    assert line.parts.result == "[running]"


@pytest.mark.requirement("META-02")
def test_one_word_of_the_result_is_never_metadata() -> None:
    line = line_of("t:lookup user → id=5")
    assert dict(line.meta.raw) == {}
    assert line.parts.result == "id=5"


@pytest.mark.requirement("META-03")
def test_run_behind_prose_is_taken_off_the_text() -> None:
    line = line_of("u: Where is the key? step=1 ts=2026-01-02T03:04:05Z")
    assert dict(line.meta.raw) == {"step": "1", "ts": "2026-01-02T03:04:05Z"}
    assert line.parts.text == "Where is the key?"


@pytest.mark.requirement("META-03")
def test_message_that_is_all_metadata_has_no_text() -> None:
    line = line_of("th: sig=Zx9 step=2")
    assert dict(line.meta.raw) == {"sig": "Zx9", "step": "2"}
    assert line.parts.text == ""


@pytest.mark.parametrize(
    "source",
    [
        "o: → [ok] level=info server started",
        "u: the flag id=5 means something else",
        "t:cat log → step=1 done, step=2 failed",
        'u: he said "use id=5"',
        't:x → summary="took step=3"',
        "# remark id=5",
        "some unknown line id=5",
        "a: grid=7",
        "a: stepwise=1 path=x",
    ],
)
@pytest.mark.requirement("META-01", "META-04")
def test_look_alikes_elsewhere_are_text(source: str) -> None:
    assert raw(source) == {}


def test_call_part_wins_over_the_run_behind_the_result() -> None:
    assert raw("t:x id=a → [ok] id=b") == {"id": "a"}


def test_first_of_equal_keys_wins() -> None:
    assert raw("t:x id=a id=b") == {"id": "a"}


def test_quoted_value_in_a_run() -> None:
    assert raw('a: Done. extra.note="two words" step=3') == {"extra.note": "two words", "step": "3"}


def test_tabs_separate_a_run_as_well() -> None:
    assert raw('u: x\tid="a b"\tstep=3') == {"id": "a b", "step": "3"}
    assert raw("t:x → [ok]\tstep=3") == {"step": "3"}


def test_carriage_return_at_the_end_is_no_part_of_a_value() -> None:
    assert raw("u: x id=5\r") == {"id": "5"}


@pytest.mark.requirement("ARGS-13")
def test_escaped_pair_is_text() -> None:
    line = line_of(r"u: the last word is id\=5", escaped=True)
    assert dict(line.meta.raw) == {}


@pytest.mark.requirement("ARGS-13")
def test_escaped_value_in_a_run() -> None:
    assert raw(r'u: x extra.a="say \"hi\"" extra.b=a\"b', escaped=True) == {"extra.a": 'say "hi"', "extra.b": 'a"b'}


@pytest.mark.requirement("META-17")
def test_interrupted_is_a_flag_behind_a_pair() -> None:
    assert line_of("o: id=c1 interrupted → [err: stopped]").meta.interrupted
    assert line_of("a: Stopping here. id=m1 interrupted").meta.interrupted


@pytest.mark.parametrize(
    "source",
    [
        "a: The build was interrupted",
        "t:kill interrupted → [ok]",
        "u: it was interrupted id=5",
        "o: id=1 → interrupted",
    ],
)
@pytest.mark.requirement("META-17")
def test_interrupted_in_prose_is_a_word(source: str) -> None:
    assert not line_of(source).meta.interrupted


@pytest.mark.requirement("META-05")
def test_id_may_hold_dashes_and_dots() -> None:
    assert line_of("t:x id=call-9.a/b → [ok]").id == "call-9.a/b"
    assert Meta({"id": "x"}).id == "x"


@pytest.mark.requirement("META-06")
def test_step_is_a_whole_number() -> None:
    assert [Meta({"step": text}).step for text in ("12", "x", "-1")] == [12, None, None]


@pytest.mark.requirement("META-07")
def test_ts_is_an_instant() -> None:
    assert Meta({"ts": "2026-01-02T03:04:05.5Z"}).ts == dt.datetime(2026, 1, 2, 3, 4, 5, 500_000, dt.UTC)


@pytest.mark.requirement("META-08")
def test_main_agent_is_implied() -> None:
    assert (Meta({}).tid, Meta({"tid": "2"}).tid) == ("1", "2")


@pytest.mark.requirement("META-09")
def test_span() -> None:
    assert line_of("t!:test span=t200 pytest → [running]").meta.span == "t200"


@pytest.mark.requirement("META-10")
def test_parent_is_text_either_way() -> None:
    assert line_of("t:x span=b parent=a → [ok]").meta.parent == "a"
    assert line_of("a: Yes. id=m2 parent=7c1d09ae-61d4").meta.parent == "7c1d09ae-61d4"


@pytest.mark.requirement("META-11")
def test_latency() -> None:
    assert line_of("t:git push latency_ms=8430 → [ok]").meta.latency_ms == 8430


@pytest.mark.requirement("META-12")
def test_attempt_with_and_without_limit() -> None:
    assert line_of("t:curl x attempt=2/3 → [ok]").meta.attempt == (2, 3)
    assert line_of("t:curl x attempt=2 → [ok]").meta.attempt == (2, None)


@pytest.mark.requirement("META-13")
def test_level_keeps_other_words() -> None:
    assert [Meta({"level": word}).level for word in ("warn", "fatal")] == ["warn", "fatal"]


@pytest.mark.requirement("META-14", "NOTE-04")
def test_extras_are_collected_without_their_prefix() -> None:
    assert line_of("t:read x extra.cache=hit extra.a.b=1 → [ok]").meta.extra == {"cache": "hit", "a.b": "1"}
    assert line_of("u: hm extra.mood=good").meta.extra == {"mood": "good"}


@pytest.mark.requirement("META-15", "RLOG-01")
def test_signature_of_thinking() -> None:
    line = line_of("th: Both callers pass None. sig=Ck9hQ2xv==")
    assert (line.meta.sig, line.parts.text) == ("Ck9hQ2xv==", "Both callers pass None.")


@pytest.mark.requirement("META-16")
def test_tokens_of_a_message() -> None:
    meta = line_of("a: Here. tokens_in=812 tokens_out=148 tokens_cached=9120").meta
    assert (meta.tokens_in, meta.tokens_out, meta.tokens_cached) == (812, 148, 9120)


@pytest.mark.requirement("META-18")
def test_model_of_a_message() -> None:
    assert line_of("a: Here. model=gannet-3-mini").meta.model == "gannet-3-mini"


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("id", True),
        ("tokens_cache_create", True),
        ("extra.x-y", True),
        ("extra.", False),
        ("tokens_before", False),
        ("tokens_after", False),
        ("tokens_beforehand", True),
        ("tokens", False),
        ("path", False),
        ("ID", False),
    ],
)
@pytest.mark.requirement("LAYOUT-09")
def test_known_keys(key: str, known: bool) -> None:
    assert is_known(key) is known


def test_metadata_is_equal_by_content() -> None:
    assert Meta({"id": "a"}) == Meta({"id": "a"})
    assert Meta({"id": "a"}) != Meta({"id": "b"})
    assert repr(Meta({"id": "a"})) == "Meta({'id': 'a'})"
