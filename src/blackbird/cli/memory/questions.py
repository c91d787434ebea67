"""What can be asked with `blackbird mem`, and how the answers are told; whichever way the words were read."""

import msgspec

from blackbird.artifacts.model import Type
from blackbird.cli.memory import cards, lines
from blackbird.cli.memory.answering import recalled
from blackbird.recall import bounds, view
from blackbird.tokens import counter
from blackbox.terminal import output

EXIT_NOTHING = 1


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


def search(asked: Search) -> int:
    """Tell the cards; the exit code says whether there is one."""
    with recalled() as recall:
        found = recall.search(
            asked.text,
            session=asked.session,
            task=asked.task,
            k=asked.k,
            types=asked.types,
            everywhere=asked.everywhere,
        )
    if asked.as_json:
        for card in found.cards:
            output.write_json(view.describe_card(card, explain=asked.explain))
        output.write_json(view.describe_search(found))
    else:
        lines.show(cards.of_search(found, explain=asked.explain))
    return 0 if found.cards else EXIT_NOTHING


def related(identifier: str, k: int | None, *, as_json: bool) -> int:
    """Tell the neighbours of an artifact; the exit code says whether there is one."""
    with recalled() as recall:
        found = recall.related(identifier, k)
    if as_json:
        for neighbour in found:
            output.write_json(view.describe_neighbour(neighbour))
    else:
        lines.show(cards.of_neighbours(found, bounds.size(found, counter())))
    return 0 if found else EXIT_NOTHING


def overview() -> None:
    """How much there is."""
    with recalled() as recall:
        counts, sessions = recall.ask(lambda memory: (memory.counts(), len(memory.sessions())))
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    told = f"{sum(counts.values())} artifacts of {sessions} sessions{f': {kinds}' if kinds else ''}."
    lines.show([lines.line(told), lines.line("blackbird mem search QUERY searches them.")])
