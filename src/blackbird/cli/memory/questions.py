"""What can be asked with `blackbird mem`, and what is told then; whichever way the words were read."""

from typing import Any, NamedTuple

import msgspec

from blackbird.artifacts.model import Type
from blackbird.cli.memory import cards, lines
from blackbird.cli.memory.answering import recalled
from blackbird.config.units import counted
from blackbird.recall import bounds, view
from blackbird.tokens import counter
from blackbox.terminal import output

EXIT_NOTHING = 1


class Told(NamedTuple):
    """What standard output is to have, and how the command ends."""

    text: str
    code: int = 0

    @property
    def data(self) -> bytes:
        """The text as bytes."""
        return lines.encode(self.text)


class Search(msgspec.Struct, frozen=True, kw_only=True):
    """The words of `blackbird mem search`."""

    text: str
    session: str | None = None
    task: str | None = None
    k: int | None = None
    types: tuple[Type, ...] = ()
    everywhere: bool = False
    explain: bool = False
    as_json: bool = False


def search(asked: Search) -> Told:
    """The cards; the exit code says whether there is one."""
    with recalled() as recall:
        found = recall.search(
            asked.text,
            session=asked.session,
            task=asked.task,
            k=asked.k,
            types=asked.types,
            everywhere=asked.everywhere,
        )
    code = 0 if found.cards else EXIT_NOTHING
    if asked.as_json:
        described = [view.describe_card(card, explain=asked.explain) for card in found.cards]
        return Told(_json_lines([*described, view.describe_search(found)]), code)
    return Told(lines.spell(cards.of_search(found, explain=asked.explain)), code)


def related(identifier: str, k: int | None, *, as_json: bool) -> Told:
    """The neighbours of an artifact; the exit code says whether there is one."""
    with recalled() as recall:
        found = recall.related(identifier, k)
    code = 0 if found else EXIT_NOTHING
    if as_json:
        return Told(_json_lines([view.describe_neighbour(neighbour) for neighbour in found]), code)
    sizes = (bounds.size(view.describe_neighbour(neighbour), counter()) for neighbour in found)
    return Told(lines.spell(cards.of_neighbours(found, sum(sizes))), code)


def overview() -> Told:
    """How much there is."""
    with recalled() as recall:
        counts, sessions = recall.ask(lambda memory: (memory.counts(), len(memory.sessions())))
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    held = f"{counted(sum(counts.values()), 'artifact')} of {counted(sessions, 'session')}"
    told = f"{held}{f': {kinds}' if kinds else ''}."
    return Told(lines.spell([lines.line(told), lines.line("blackbird mem search QUERY searches them.")]))


def _json_lines(objects: list[dict[str, Any]]) -> str:
    return "".join(output.to_json(each) + "\n" for each in objects)
