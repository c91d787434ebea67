"""Settings of people, with comments and in any layout: entries come and go, and all else stays."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.agents import jsonc
from blackbird.agents.jsonc import NotReadable

ENTRIES = {
    "mcpServers": {"blackbird": {"command": "b", "args": ["x"]}},
    "permissions": {"allow": ["one", "two"]},
    "hooks": {"SessionStart": [{"hooks": [{"type": "command"}]}]},
}
COMMENTED = """{
  // mine
  "model": "m", /* and only
  this */
  "mcpServers": {
    "other": {"command": "o"} // theirs
  },
  "permissions": {"allow": ["Bash"], "deny": []}
}
"""
SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5)
KEYS = st.text(max_size=4).filter(lambda key: key not in ENTRIES)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


def test_entries_are_added_where_they_belong_and_comments_stay() -> None:
    after = jsonc.added(COMMENTED, ENTRIES)
    assert after == (
        COMMENTED.replace(
            '"other": {"command": "o"} // theirs\n',
            '"other": {"command": "o"}, // theirs\n    "blackbird": {\n      "command": "b",\n      "args": [\n'
            '        "x"\n      ]\n    }\n',
        )
        .replace('["Bash"]', '["Bash", "one", "two"]')
        .replace(
            '"deny": []}\n',
            '"deny": []},\n  "hooks": {\n    "SessionStart": [\n      {\n        "hooks": [\n          {\n'
            '            "type": "command"\n          }\n        ]\n      }\n    ]\n  }\n',
        )
    )


def test_they_are_taken_out_and_the_rest_stays() -> None:
    after = jsonc.added(COMMENTED, ENTRIES).replace('"model": "m"', '"model": "n"')
    assert jsonc.parse(jsonc.removed(after, ENTRIES, COMMENTED)).value == {
        "model": "n",
        "mcpServers": {"other": {"command": "o"}},
        "permissions": {"allow": ["Bash"], "deny": []},
    }
    assert "// mine" in jsonc.removed(after, ENTRIES, COMMENTED)


def test_what_is_ours_goes_whatever_became_of_it() -> None:
    after = jsonc.added("{}", ENTRIES).replace('"command": "b"', '"command": "changed"')
    assert jsonc.parse(jsonc.removed(after, ENTRIES, "{}")).value == {}


def test_an_empty_object_that_was_there_stays() -> None:
    before = '{"mcpServers": {}}'
    assert jsonc.parse(jsonc.removed(jsonc.added(before, ENTRIES), ENTRIES, before)).value == {"mcpServers": {}}


def test_an_entry_of_a_list_that_was_there_stays() -> None:
    before = '{"permissions": {"allow": ["one"]}}'
    after = jsonc.added(before, ENTRIES)
    assert jsonc.parse(after).value["permissions"] == {"allow": ["one", "two"]}
    assert jsonc.parse(jsonc.removed(after, ENTRIES, before)).value == json.loads(before)


@pytest.mark.parametrize("text", ["", " \n", "{}", '{"a": 1}', '{"a": 1,}', "{ // c\n}", '{\n\t"a": [],\n}'])
def test_any_layout_will_do(text: str) -> None:
    before = jsonc.parse(text).value if text.strip() else {}
    after = jsonc.added(text, ENTRIES)
    assert jsonc.parse(after).value == {**before, **ENTRIES}
    assert jsonc.parse(jsonc.removed(after, ENTRIES, text)).value == before


@pytest.mark.parametrize(
    "text",
    [
        COMMENTED,
        '{\n  "a": 1, // one\n}\n',
        '{\n  "a": 1 /* one */ // more, and more,\n}\n',
        '{\n  "mcpServers": {\n    "other": {}, // theirs\n  }, // all,\n  // the end,\n}\n',
        "{ // nothing yet,\n}\n",
        '{"permissions": {"allow": ["Bash",],},}\n',
        '{\n  "permissions": {\n    "allow": [\n      "Bash", // mine\n    ],\n  },\n}\n',
        '{\r\n  "a": 1, // one\r\n}\r\n',
    ],
)
def test_what_stood_around_the_entries_is_as_it_was(text: str) -> None:
    assert jsonc.removed(jsonc.added(text, ENTRIES), ENTRIES, text) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "there is no object in it"),
        ('{"a": 1} x', "line 1: something follows the end"),
        ('{\n"a": }', "line 2: a value is missing"),
        ('{"a": 1 "b": 2}', "line 1: `,` or `}` is missing"),
        ('{"a" 1}', "line 1: `:` is missing"),
        ('{"a": 1, "a": 2}', "line 1: a name is missing, or there twice"),
        ('{"a": 1', "line 1: `,` or `}` is missing"),
        ('{"mcpServers": 1}', "line 1: `mcpServers` is there already"),
        ('{"mcpServers": {"blackbird": {}}}', "line 1: `blackbird` is there already"),
    ],
)
def test_what_cannot_be_added_to_is_said(text: str, message: str) -> None:
    with pytest.raises(NotReadable) as caught:
        jsonc.added(text, ENTRIES)
    assert str(caught.value) == message


@given(st.dictionaries(KEYS, VALUES, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_added_and_removed_is_as_before(content: dict[str, Any], indent: Any) -> None:
    text = json.dumps(content, indent=indent, ensure_ascii=False)
    after = jsonc.added(text, ENTRIES)
    assert json.loads(after) == {**content, **ENTRIES}
    assert json.loads(jsonc.removed(after, ENTRIES, text)) == content


@given(st.text(alphabet='{}[]",:/* \n\\a1', max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(NotReadable):
        assert jsonc.parse(jsonc.added(text, ENTRIES)).value
