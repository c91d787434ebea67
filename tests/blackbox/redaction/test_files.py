"""Whole files: a log stays a log, JSON Lines stay JSON, other text stays text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbox.document.document import parse
from blackbox.redaction.files import is_text, redact_file, shape_of
from blackbox.redaction.redactor import Redactor
from tests.blackbox.redaction.corpus import read_corpus
from tests.blackbox.redaction.test_redactor import TEXTS

REDACTOR = Redactor()
HEADER = "---\nformat: bbox/1\nid: s\n---\n"
BODY = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0"
BEGIN, END = "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"


def clean(text: str) -> str:
    return redact_file(REDACTOR, text.encode()).data.decode()


@pytest.mark.parametrize(
    ("data", "shape"),
    [(b"---\nformat: bbox/1\n", "log"), (b'\xef\xbb\xbf{"a": 1}\n', "json-lines"), (b"plain", "text"), (b"", "text")],
)
def test_shape_is_told_by_the_beginning(data: bytes, shape: str) -> None:
    assert shape_of(data) == shape


def test_places_are_lines_and_kinds() -> None:
    done = redact_file(REDACTOR, b"a\npassword=hunter2\n\npassword=hunter3 password=hunter4\n")
    assert done.places == [(2, "password"), (4, "password"), (4, "password")]
    assert done.counts == {"password": 3}
    assert redact_file(REDACTOR, b"nothing") == (b"nothing", [], {})


def test_key_on_continuation_lines_becomes_one_marker() -> None:
    text = f"{HEADER}t:read k → [ok]\n  {BEGIN}\n  {BODY}\n  {END}\n  more\nu: next\n"
    assert clean(text) == f"{HEADER}t:read k → [ok]\n  [redacted:private_key]\n  more\nu: next\n"
    assert len(parse(clean(text).encode()).lines) == len(parse(text.encode()).lines)


def test_key_that_was_cut_off_does_not_reach_into_the_next_entry() -> None:
    text = f"{HEADER}t:read k → [ok]\n  {BEGIN}\n  {BODY}\nu: keep this\nt:read j → [ok]\n  {BODY}\n  {END}\n"
    assert clean(text) == (
        f"{HEADER}t:read k → [ok]\n  [redacted:private_key]\nu: keep this\nt:read j → [ok]\n  {BODY}\n  {END}\n"
    )


def test_escapes_of_a_log_do_not_hide_a_secret() -> None:
    header = HEADER.replace("id: s", "id: s\nescape: 1")
    assert clean(f'{header}u: password\\=hunter2 and \\"password\\": \\"hunter3\\"\n') == (
        f'{header}u: password\\=[redacted:password] and \\"password\\": \\"[redacted:password]\\"\n'
    )
    assert clean(f"{HEADER}u: password\\=hunter2\n") == f"{HEADER}u: password\\=hunter2\n"


def test_key_that_was_cut_off_does_not_reach_into_the_next_line_of_json() -> None:
    lines = [json.dumps({"t": f"{BEGIN}\n{BODY}"}), json.dumps({"t": "keep"}), json.dumps({"t": f"rest\n{END}"})]
    assert clean("\n".join(lines)).split("\n")[1:] == lines[1:]
    assert json.loads(clean("\n".join(lines)).split("\n")[0]) == {"t": "[redacted:private_key]"}


def test_line_whose_json_would_break_is_redacted_string_by_string() -> None:
    # To bytes, the n of the line feed is the first letter of the token.
    text = '{"a": "x\\npm_' + "0aB1cD2eF3" * 3 + 'aB3dE6", "b":  1}\n{"password": "hunter2"}\n'
    first, second, _ = clean(text).split("\n")
    assert json.loads(first)["b"] == 1
    assert second == '{"password": "[redacted:password]"}'


@settings(max_examples=150, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_every_line_of_json_still_decodes(texts: list[str]) -> None:
    lines = [json.dumps({"a": text, "b": [text], "c": json.dumps({"password": text})}) for text in texts]
    done = redact_file(REDACTOR, "\n".join(lines).encode())
    cleaned = done.data.split(b"\n")
    assert len(cleaned) == len(lines)
    assert all(json.loads(line).keys() == {"a", "b", "c"} for line in cleaned)


def test_lines_of_the_corpus_stay_json() -> None:
    lines = [json.dumps({"text": case.text}) for case in read_corpus()]
    cleaned = redact_file(REDACTOR, "\n".join(lines).encode()).data.split(b"\n")
    assert [list(json.loads(line)) for line in cleaned] == [["text"]] * len(lines)


def test_key_behind_the_metadata_of_its_first_line_is_hidden_and_the_metadata_stays() -> None:
    place = "step=2 ts=2026-01-04T10:00:00Z"
    log = f"{HEADER}u: {BEGIN} {place}\n  {BODY}\n  {BODY}\na: Seen. step=3\n"
    assert clean(log) == f"{HEADER}u: [redacted:private_key] {place}\na: Seen. step=3\n"
    assert redact_file(REDACTOR, log.encode()).counts == {"private_key": 1}


def test_prompt_in_front_of_metadata_is_no_password() -> None:
    log = f"{HEADER}u: Password: step=2 ts=2026-01-04T10:00:00Z\n".encode()
    assert redact_file(REDACTOR, log) == (log, [], {})


SLASHED = r'{"o":"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI\/K7MDENG\/bPxRfiCYz9QmR2TkE4v"}'


def test_needless_escapes_of_json_do_not_save_a_secret() -> None:
    token = "hp" + "_16CharactersAndTwentyMore4Digits9x8y7z"
    text = f'{SLASHED}\n{{"u":"\\u0067{token}"}}\n{{"p":"DB_PASSWORD=plum\\u0026tree\\u002642"}}\n{{"a":"b\\/c"}}\n'
    done = redact_file(REDACTOR, text.encode())
    kinds = [kind for _, kind in done.places]
    assert [line for line, _ in done.places] == [1, 2, 3]
    assert kinds[1:] == ["github_token", "env_var"]
    values = [json.loads(line) for line in done.data.splitlines()]
    assert values[1:] == [{"u": "[redacted:github_token]"}, {"p": "DB_PASSWORD=[redacted:env_var]"}, {"a": "b/c"}]
    assert b"K7MDENG" not in done.data
    assert done.data.endswith(b'{"a":"b\\/c"}\n'), "a line without a secret keeps its very bytes"


def test_lines_with_and_without_needless_escapes_are_each_cleaned() -> None:
    plain = '{"p":"DB_PASSWORD=plum-tree-42"}'
    text = f"{plain}\n{SLASHED}\n{plain}\n{SLASHED}\n{plain}".encode()
    done = redact_file(REDACTOR, text)
    assert [line for line, _ in done.places] == [1, 2, 3, 4, 5]
    assert done.data.count(b"[redacted:") == 5
    assert redact_file(REDACTOR, done.data) == (done.data, [], {})


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_character_is_told_apart(encoding: str) -> None:
    assert not is_text("DB_PASSWORD=plum-tree-42".encode(encoding))
    assert is_text("DB_PASSWORD=plüm-tree-42\0".encode() * 3)
