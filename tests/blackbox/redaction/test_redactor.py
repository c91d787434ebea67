"""The redactor: as fast as it is, it finds what the page says, and nothing of a secret stays."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbox.redaction.redactor import Found, Redacted, Redactor
from blackbox.redaction.rules import Rule, built_in
from tests.blackbox.redaction import naive
from tests.blackbox.redaction.corpus import read_corpus

REDACTOR = Redactor()
KEY = "ghp_" + "0aB1cD2eF3" * 4
_TEXTS = [case.text for case in read_corpus()]
_ANCHORS = [anchor for item in built_in().items for anchor in getattr(item, "anchors", ())]
_PIECES = st.one_of(
    st.sampled_from(_TEXTS),
    st.sampled_from(_ANCHORS),
    st.sampled_from(_TEXTS).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: text[at:])),
    st.sampled_from(
        ["=", ": ", '"', '\\"', "\\n", "\n", "\n  ", " ", "[redacted:password]", "Ab3xY9", "-", "·ü", "\\"]
    ),
    st.text(max_size=12),
)
TEXTS = st.lists(_PIECES, max_size=8).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_finds_what_the_page_says(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    assert REDACTOR.find(data) == naive.find(REDACTOR.items, data)


@settings(max_examples=300, deadline=None)
@given(TEXTS, TEXTS)
def test_for_one_text_the_rules_that_can_match_are_enough(text: str, more: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    narrowed = REDACTOR.for_text(data + b"\n" + more.encode("utf-8", "surrogatepass"))
    assert narrowed.find(data) == REDACTOR.find(data)
    assert len(narrowed.items) <= len(REDACTOR.items)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_what_was_redacted_stays_as_it_is(text: str) -> None:
    once = REDACTOR.redact(text)
    assert REDACTOR.redact(once.text) == (once.text, {})


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_text_stays_text(text: str) -> None:
    clean, _ = REDACTOR.redact_bytes(text.encode("utf-8", "replace"))
    assert clean.decode().encode() == clean


def test_found_in_bytes_that_are_no_text() -> None:
    data = b"\xff\xfe" + KEY.encode() + b"\xff"
    assert REDACTOR.find(data) == [Found(2, 46, "github_token")]
    assert REDACTOR.redact_bytes(data) == (b"\xff\xfe[redacted:github_token]\xff", {"github_token": 1})


def test_counts_are_by_kind() -> None:
    assert REDACTOR.redact(f"{KEY} and {KEY}, password=hunter2") == Redacted(
        "[redacted:github_token] and [redacted:github_token], password=[redacted:password]",
        {"github_token": 2, "password": 1},
    )


def test_the_more_specific_rule_names_the_kind() -> None:
    assert REDACTOR.redact(f"GITHUB_TOKEN={KEY}").text == "GITHUB_TOKEN=[redacted:github_token]"


def test_overlapping_secrets_are_hidden_as_one() -> None:
    assert REDACTOR.redact(f'password="{KEY} and more"').text == 'password="[redacted:github_token]"'


def test_lone_surrogates_survive() -> None:
    assert REDACTOR.redact(f"\ud800 {KEY}").text == "\ud800 [redacted:github_token]"


@pytest.mark.parametrize(
    ("key", "value", "clean"),
    [
        ("password", "hunter2", "[redacted:password]"),
        ("db_password", "correct horse", "[redacted:password]"),
        ("API_TOKEN", "abcdef99", "[redacted:env_var]"),
        ("password", 'a"b7c', '[redacted:password]"b7c'),
        ("path", "/home/anna", "/home/anna"),
        ("tokens_in", "123", "123"),
        ("note", f"use {KEY} then", "use [redacted:github_token] then"),
        ("token", "[redacted:token]", "[redacted:token]"),
        ("password", "", ""),
    ],
)
def test_name_of_a_value_tells_what_it_is(key: str, value: str, clean: str) -> None:
    if '"' in value:
        clean = REDACTOR.redact(f"{key}={value}").text.removeprefix(f"{key}=")
    assert REDACTOR.redact_value(key, value).text == clean


@pytest.mark.requirement("REDACT-04")
def test_classes_are_switched() -> None:
    text = f"{KEY} password=hunter2"
    assert Redactor(off=["keys"]).redact(text).text == f"{KEY} password=[redacted:password]"
    assert REDACTOR.without(["assignments"]).redact(text).text == "[redacted:github_token] password=hunter2"
    assert [entry.name for entry in Redactor(off=["keys"]).classes if not entry.on] == ["keys", "identity"]


def test_the_wire_has_no_entropy() -> None:
    wire = REDACTOR.for_profile("wire")
    assert [entry.name for entry in wire.classes if not entry.on] == ["entropy"]
    assert wire.redact('{"device_id":"0a1b2c3d"}').text == '{"device_id":"[redacted:device_id]"}'
    word = "Zk9aXw3Qr7Lm2Tn8Vb4Hc6Jd1Pf5Gs0Ue"
    assert REDACTOR.redact(f"it is {word}").text == "it is [redacted:high_entropy]"
    assert wire.redact(f"it is {word}").text == f"it is {word}"


def test_neither_the_user_nor_a_profile_switches_on_what_the_other_has_off() -> None:
    wire = Redactor(on=["entropy"], off=["identity"]).for_profile("wire")
    assert [entry.name for entry in wire.classes if not entry.on] == ["entropy", "identity"]
    assert Redactor(on=["identity"]).redact('"deviceId": "0a1b2c3d"').text == '"deviceId": "[redacted:device_id]"'


@pytest.mark.requirement("REDACT-04")
def test_rules_of_the_user_come_last() -> None:
    rule = Rule(id="mine", class_name="user", kind="mine", pattern="hbr_[a-z0-9]{12}")
    redactor = Redactor(more=(rule,))
    assert redactor.redact("use hbr_0123456789ab now").text == "use [redacted:mine] now"
    assert redactor.redact("secret=hbr_0123456789ab").text == "secret=[redacted:mine]"


def test_allowed_secrets_stay() -> None:
    assert Redactor(allow=("hunter[0-9]",)).redact("password=hunter2 password=hunter22").text == (
        "password=hunter2 password=[redacted:password]"
    )


def test_nothing_is_found_by_nothing() -> None:
    assert Redactor.nothing().find(f"password=hunter2 {KEY}".encode()) == []
    assert Redactor.nothing().version == REDACTOR.version == built_in().version


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "password=", 'password="', "password: ", "eyJ",
        "eyJhbGciOiJ9.", "sk-", "://", "a:b", "Authorization: Bearer ", "cookie: a=bbbbbbbb; ", "TOKEN=", "your",
        "PASSWORD=your", "A1b", "EAAA", "xoxb-1",
        "machine a login b password ", "\\", '\\"password\\": \\"', " -u a:", "&token=", "[redacted:url]",
    ],
)  # fmt: skip
def test_repeated_beginnings_end_in_time(piece: str) -> None:
    data = (piece * (300_000 // len(piece))).encode()
    clean, _ = REDACTOR.redact_bytes(data)
    assert REDACTOR.redact_bytes(clean)[0] == clean


def test_json_strings_stay_json() -> None:
    for case in read_corpus():
        line = json.dumps({"a": case.text, "b": [case.text]})
        assert json.loads(REDACTOR.redact(line).text)


def test_marker_protects_what_touches_it() -> None:
    """Otherwise what is left of a secret beside its marker could be found the second time."""
    token = "ghp" + "_16CharactersAndTwentyMore4Digits9x8y7z"
    for text in (f"[redacted:password]{token}", f"{token}[redacted:password]"):
        assert REDACTOR.redact(text) == (text, {})


def test_kind_in_a_marker_names_no_value() -> None:
    """Otherwise a secret's marker would make a secret of what was none before."""
    key = "sk-" + "0aa00aaaa00a00a0a00aaa0aaaa00000"
    once = REDACTOR.redact(f'{key}="0a0aaaaa').text
    assert once == '[redacted:api_key]="0a0aaaaa'
    assert REDACTOR.redact(once) == (once, {})
