"""Cards for people: what each says, whose it is, and with --explain why it stands where it stands."""

from collections.abc import Iterator, Sequence

from blackbird.cli.memory.lines import INDENT, Line, block, line
from blackbird.config.units import counted
from blackbird.exchange.clock import to_rfc3339
from blackbird.retrieve.model import Card, Found, Neighbour, Scope, Why

_GREY = "bright_black"
_DAY = len("2026-11-16")
_FILES = 3


def of_search(found: Found, *, explain: bool) -> Iterator[Line]:
    """The cards of a search, and what was searched for them."""
    for card in found.cards:
        yield from _card(card, explain=explain)
        yield ()
    if not found.cards:
        yield line(f"Nothing was found for “{found.question}”.")
    yield from _searched(found, explain=explain)


def of_neighbours(neighbours: Sequence[Neighbour], tokens: int) -> Iterator[Line]:
    """Cards, each with what it has to do with the artifact that was asked about."""
    for neighbour in neighbours:
        via = f" ({neighbour.via})" if neighbour.via else ""
        yield line((neighbour.relation.replace("_", " "), "cyan"), (via, _GREY))
        yield from _card(neighbour.card, explain=False)
        yield ()
    if not neighbours:
        yield line("Nothing has to do with it.")
    yield line((f"{counted(len(neighbours), 'card')}, {tokens} tokens", _GREY))


def _card(card: Card, *, explain: bool) -> Iterator[Line]:
    state = [*([card.state] if card.state else []), *(["evidence gone"] if card.is_expired else [])]
    note = f" ({', '.join(state)})" if state else ""
    yield line((card.id, _GREY), "  ", (card.type, "cyan"), "  ", (card.title, "bold"), (note, "yellow"))
    if card.snippet and card.snippet != card.title:
        yield from block(card.snippet)
    day = (to_rfc3339(card.at) or "")[:_DAY] if card.at is not None else ""
    more = f"and {len(card.files) - _FILES} more" if len(card.files) > _FILES else ""
    score = f"score {card.score:.2f}" if card.score else ""
    same = f"{counted(card.same, 'other')} said the same" if card.same else ""
    whose = [card.session, card.task, day, *card.files[:_FILES], more, same, score]
    yield line(INDENT, (" · ".join(each for each in whose if each), _GREY))
    if explain and card.why is not None:
        yield line(INDENT, (_why(card.why), _GREY))


def _why(why: Why) -> str:
    fields = "; ".join(f"{field}: {', '.join(words)}" for field, words in why.matched.items())
    boosts = f"words {why.words:.2f} × scope {why.scope:.2f} × recency {why.recency:.2f} × type {why.type:.2f}"
    state = f" × state {why.state:.2f}" if why.state != 1 else ""
    return f"{boosts}{state}{f' ({fields})' if fields else ''}"


def _searched(found: Found, *, explain: bool) -> Iterator[Line]:
    scope = found.asked.scope
    task = f"task {scope.task} first" if scope.task else ""
    types = f"only {', '.join(found.asked.types)}" if found.asked.types else ""
    searched = ", ".join(each for each in (_where(scope), task, types) if each)
    told = f"{counted(len(found.cards), 'card')} of {counted(found.searched, 'artifact')} ({searched})"
    if found.cards and found.nowhere:
        yield line((f"found nowhere there: {', '.join(found.nowhere)}", "yellow"))
    yield line((f"{told}; {found.tokens} tokens", _GREY))
    if explain or not found.cards:
        yield line((_words(found), _GREY))
        if found.stopped:
            yield line((f"not searched for, as any text has them: {', '.join(found.stopped)}", _GREY))
        for each in found.left_out:
            yield line((f"left out: {each}", _GREY))
    if not found.cards and scope.only and (scope.session or scope.project):
        yield line(("--everywhere searches all sessions", _GREY))


def _where(scope: Scope) -> str:
    if not scope.only or not (scope.session or scope.project):
        return "all sessions"
    of_project = f"{counted(len(scope.project), 'session')} of this project" if scope.project else ""
    return " and ".join(filter(None, (f"session {scope.session}" if scope.session else "", of_project)))


def _words(found: Found) -> str:
    if not found.words:
        return "nothing was left to search for"
    way = {"all": "all", "any": "some"}.get(found.way, "any")
    return f"searched for {way} of these words: {', '.join(found.words)}; weighed: {found.weighed}"
