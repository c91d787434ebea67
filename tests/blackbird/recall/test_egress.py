"""Whatever a value holds, no secret of it leaves; and a value without one stays the very same."""

from typing import NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blackbird.artifacts.model import Type
from blackbird.config import layers
from blackbird.config.resolve import Config, resolve
from blackbird.recall.egress import Egress
from tests.blackbox.redaction import corpus

TOKEN = "ghp_" + "Zb3kQ9xT1vLm7RwY5nHc2JpD8sFg4KaE6uVi"
HIDDEN = "[redacted:github_token]"
OWN = '[[redaction.rule]]\nid = "berth"\nkind = "berth"\npattern = "berth-[0-9]+"\n'


class Pair(NamedTuple):
    name: str
    number: int


class Boat(msgspec.Struct, frozen=True):
    name: str
    kind: Type = Type.FACT
    crew: tuple[str, ...] = ()
    log: dict[str, list[str]] = {}
    pair: Pair | None = None


def config(text: str = "") -> Config:
    return resolve([layers.from_defaults(), layers.from_file(text, "config.toml", "user file")])


EGRESS = Egress(config())
_NAMES = st.sampled_from(["Petrel", TOKEN, f"the {TOKEN}.", "password=plum-tree-42", "", "naïve ☃"])
_BOATS = st.builds(
    Boat,
    _NAMES,
    crew=st.lists(_NAMES, max_size=3).map(tuple),
    log=st.dictionaries(_NAMES, st.lists(_NAMES, max_size=2), max_size=2),
    pair=st.none() | st.builds(Pair, _NAMES, st.integers()),
)


@pytest.mark.requirement("SEC-05")
def test_secrets_are_found_wherever_they_stand() -> None:
    boat = Boat("Petrel", crew=(f"a {TOKEN} b", "mate"), log={TOKEN: [TOKEN, "calm"]}, pair=Pair(TOKEN, 4))
    assert EGRESS.clean([boat, None, 4, 2.5, True]) == [
        Boat("Petrel", crew=(f"a {HIDDEN} b", "mate"), log={HIDDEN: [HIDDEN, "calm"]}, pair=Pair(HIDDEN, 4)),
        None,
        4,
        2.5,
        True,
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(_BOATS, max_size=4))
def test_no_form_keeps_a_secret_and_the_rest_stays(boats: list[Boat]) -> None:
    cleaned = EGRESS.clean(boats)
    assert TOKEN not in repr(cleaned)
    assert "plum-tree-42" not in repr(cleaned)
    for before, after in zip(boats, cleaned, strict=True):
        is_clean = TOKEN not in repr(before) and "plum-tree" not in repr(before)
        assert (after is before) is is_clean or before == after
        assert after.kind is before.kind
    assert EGRESS.clean(cleaned) is cleaned


@pytest.mark.requirement("SEC-05")
def test_rules_of_the_user_count_and_what_is_switched_off_does_not() -> None:
    assert Egress(config(OWN)).clean(("at berth-12", TOKEN)) == ("at [redacted:berth]", HIDDEN)
    assert Egress(config('[redaction]\nallow = ["ghp_[A-Za-z0-9]+"]')).clean(TOKEN) == TOKEN


def test_bytes_are_cleaned_and_what_was_masked_is_counted() -> None:
    data = b"\xff " + TOKEN.encode() + b" \xfe " + TOKEN.encode()
    assert EGRESS.data(data) == (b"\xff " + HIDDEN.encode() + b" \xfe " + HIDDEN.encode(), 2)
    assert EGRESS.data(b"\xff calm") == (b"\xff calm", 0)


def test_long_answers_are_cleaned_as_short_ones() -> None:
    words = ("the sea is calm " * 5000, f"the key is {TOKEN}")
    assert EGRESS.clean(words) == (words[0], f"the key is {HIDDEN}")


@pytest.mark.requirement("SEC-05")
@pytest.mark.parametrize("lead", ["calm", "password", "the key is", "-----BEGIN", '{"a": "', "token:"])
def test_among_other_texts_every_secret_is_found_that_is_found_alone(lead: str) -> None:
    """One look at all texts tells whether any has to be looked at by itself."""
    texts = [case.text for case in corpus.read_corpus()]
    found = [text for text in texts if EGRESS.clean(text) != text]
    assert len(found) > 100
    for text in found[::5]:
        assert EGRESS.clean([lead, text, "mate"])[1] == EGRESS.clean(text)
