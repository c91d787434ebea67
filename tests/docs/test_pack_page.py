"""The page of packs is a test: what it says of texts, shares and words is what happens."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from blackbird.artifacts.model import (
    Artifact,
    Content,
    Decision,
    Provenance,
    Reach,
    Signal,
    Speaker,
    Type,
    artifact_id,
)
from blackbird.artifacts.note import SESSIONS, Note
from blackbird.canon.model import Evidence, Side
from blackbird.pack import cache, contract, reading, relevance
from blackbird.pack.budget import HANDED, NAMES, NAMES_SHARE, ORDER, shares
from blackbird.pack.building import compose
from blackbird.pack.marking import quoted
from blackbird.pack.material import Material
from blackbird.pack.model import Caps, Wanted
from blackbird.pack.tasks import LAST_TASKS
from blackbird.tokens import Exact, Plain

PAGE = (Path(__file__).parents[2] / "docs" / "formats" / "pack-1.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(given|pack|contract|shares)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r'^\| `("(?:[^`]|```)*")` \| `(.*)` \|$', re.MULTILINE)
MINUTE = 60 * 10**9


def blocks(language: str) -> list[str]:
    return [body for found, body in BLOCK.findall(PAGE) if found == language]


def artifact(number: int, told: dict[str, Any], session: str) -> Artifact:
    """An artifact from what the page says of it; a minute after the one above."""
    kind = Type(told["type"])
    fields = {name: value for name, value in told.items() if name not in ("task", "session")}
    if kind in (Type.DECISION, Type.CONSTRAINT):
        fields = {"by": Speaker.USER, "signal": Signal.IMPERATIVE, **fields}
    if kind is Type.CONSTRAINT:
        fields = {"must": True, "reach": Reach.SESSION, **fields}
    if kind is Type.THREAD:
        fields = {"by": Speaker.USER, "signal": Signal.STRUCTURED, **fields}
    content: Content = msgspec.convert(fields, Content)
    title = content.statement if isinstance(content, Decision) else str(told.get("description") or told.get("goal"))
    evidence = Evidence(source="req_1", side=Side.REQUEST, start=0, end=4, segment=1, sequence=2)
    return Artifact(
        id=artifact_id(kind, session, str(number)),
        type=kind,
        session=session,
        task=told.get("task"),
        title=title,
        content=content,
        provenance=(Provenance(item="it_1", evidence=evidence),),
        builder="1",
        at=number * MINUTE,
    )


def material(given: str) -> Material:
    first, *lines = map(json.loads, given.splitlines())
    wanted = Wanted(session=first["session"], task=first["task"], description=first["describe"])
    made = [artifact(number, told, told.get("session", first["session"])) for number, told in enumerate(lines)]
    return Material(
        wanted=wanted,
        ahead=relevance.task(wanted.description, wanted.task),
        note=Note(session=first["session"], goal=first["goal"]),
        own=tuple(one for one in made if one.session == first["session"]),
        others=(tuple(one for one in made if one.session != first["session"]),),
    )


@pytest.mark.requirement("PACK-11")
def test_the_example_is_what_is_made_of_it() -> None:
    (given,), (pack,) = blocks("given"), blocks("pack")
    assert compose(material(given), Plain()).text == pack


def test_the_contract_is_the_one_on_the_page() -> None:
    assert blocks("contract")[0].splitlines() == list(contract.FORMS)


def test_the_sections_are_those_of_the_table() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [A-Z][\w ]+ \| (\d+) \|", PAGE, re.MULTILINE)
    assert [name for name, _ in rows] == list(ORDER)
    assert {name: int(most) for name, most in rows} == {name: getattr(Caps(), name) for name in ORDER}
    assert f"the last {LAST_TASKS} tasks" in PAGE
    assert f"the last {SESSIONS} other sessions" in PAGE
    assert f"of all but the last {reading.NEAR}, only what they did" in PAGE
    assert f"`context.budget_tokens`, {Caps().total})" in PAGE
    assert f"{cache.MOST} of them" in PAGE
    assert f"`files` gets {NAMES} tokens and\n   {NAMES_SHARE:.0%}".replace("%", " %") in PAGE


def test_what_is_left_is_handed_on_in_the_order_of_the_page() -> None:
    told = PAGE.partition("What is left is handed on")[2].partition("\n\n")[0]
    assert tuple(re.findall(r"`(\w+)`", told)) == HANDED


@pytest.mark.requirement("BUDGET-03")
def test_shares_are_as_the_page_says() -> None:
    for line in blocks("shares")[0].splitlines():
        total, _, told = line.partition(": ")
        given = {name: int(count) for name, count in (each.split() for each in told.split(", "))}
        assert shares(Caps(), int(total), list(given)) == given


@pytest.mark.parametrize(("text", "marked"), ROW.findall(PAGE))
def test_the_words_of_others_become_what_the_page_says(text: str, marked: str) -> None:
    assert quoted(json.loads(text.replace("\\|", "|"))) == marked.replace("\\|", "|")


def test_all_rows_are_read_and_the_counters_are_named() -> None:
    assert len(ROW.findall(PAGE)) == 6
    assert f"| `plain` | `{Plain().name}` |" in PAGE
    assert f"| `o200k` | `{Exact().name}` |" in PAGE
