"""A pack as Markdown for agents, and for programs (schema pack/1)."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from blackbird.canon.wrappers import PACK_TAG
from blackbird.pack.model import Line, Pack, Section

SCHEMA = "pack/1"
#: So many characters of an id stand in a pack; an artifact is looked up by any beginning that is its alone.
_SHOWN = len("art_") + 8
OPENING, CLOSING = f"<{PACK_TAG}>\n", f"</{PACK_TAG}>\n"


def markdown(pack: Pack) -> str:
    """The text that an agent gets; nothing of a pack that has nothing to say."""
    return pack.text


def describe(pack: Pack) -> dict[str, Any]:
    """A pack for programs."""
    told = msgspec.to_builtins(pack)
    return {"schema": SCHEMA, **told} if isinstance(told, dict) else {"schema": SCHEMA}


def short(identifier: str) -> str:
    """An id as it stands in a pack."""
    return identifier[:_SHOWN]


def heading(title: str) -> str:
    """The line above a section."""
    return f"## {title}\n"


def spell(text: str, ids: Iterable[str], bullets: Sequence[str] = (), *, is_marked: bool = False) -> str:
    """A line with its ids, and its bullets below it."""
    named = " ".join(short(one) for one in ids)
    first = f"- {'† ' if is_marked else ''}{text}{f' [{named}]' if named else ''}\n"
    return first + "".join(f"  - {bullet}\n" for bullet in bullets)


def spell_line(line: Line, *, is_marking: bool) -> str:
    """A line of a pack; `is_marking`: those of other sessions are marked one by one."""
    return spell(line.text, line.ids, line.bullets, is_marked=is_marking and line.session is not None)


def spell_section(title: str, lines: Iterable[Line], *, is_marking: bool) -> str:
    """A section as it stands in the text; nothing of one without lines."""
    spelled = "".join(spell_line(line, is_marking=is_marking) for line in lines)
    return heading(title) + spelled if spelled else ""


def spell_pack(contract: str, sections: Iterable[Section], *, is_marking: bool) -> str:
    """All of it, within its tag."""
    inside = "".join(spell_section(one.title, one.lines, is_marking=is_marking) for one in sections)
    return f"{OPENING}{contract}\n{inside}{CLOSING}" if inside else ""
