"""Answers as objects for programs, the same by every door."""

from typing import Any

import msgspec

from blackbird.exchange.clock import to_rfc3339
from blackbird.recall.model import Piece, Whole
from blackbird.retrieve.model import Card, Found, Neighbour
from blackbird.store.memory import Stored

CARD, SEARCH, NEIGHBOUR, ARTIFACT, EVIDENCE = "card/1", "search/1", "neighbour/1", "artifact/1", "evidence/1"


def describe_card(card: Card, *, explain: bool = False) -> dict[str, Any]:
    """A card. What it does not have is not there: an agent pays for every key."""
    told = {
        "schema": CARD,
        "id": card.id,
        "type": card.type.value,
        "title": card.title,
        "snippet": card.snippet,
        "score": card.score,
        "session": card.session,
        "task": card.task,
        "run": card.run,
        "time": _time(card.at),
        "files": list(card.files),
        "state": card.state,
        "expired": card.is_expired,
        "same": card.same or None,
        "why": msgspec.to_builtins(card.why) if explain else None,
    }
    return {key: value for key, value in told.items() if value not in (None, [], "", False)}


def describe_search(found: Found) -> dict[str, Any]:
    """What was searched for some cards, and what was left out."""
    scope = found.asked.scope
    return {
        "schema": SEARCH,
        "text": found.question,
        "session": scope.session,
        "task": scope.task,
        "project": len(scope.project) if scope.only and scope.session is None and scope.project else None,
        "everywhere": not scope.only,
        "types": [each.value for each in found.asked.types],
        "way": found.way,
        "words": list(found.words),
        "stopped": list(found.stopped),
        "pruned": list(found.pruned),
        "nowhere": list(found.nowhere),
        "searched": found.searched,
        "weighed": found.weighed,
        "left_out": list(found.left_out),
        "found": len(found.cards),
        "tokens": found.tokens,
    }


def describe_neighbour(neighbour: Neighbour) -> dict[str, Any]:
    """Another artifact, and what it has to do with the one that was asked about."""
    card = describe_card(neighbour.card)
    return {**card, "schema": NEIGHBOUR, "relation": neighbour.relation, "via": neighbour.via}


def describe_stored(stored: Stored) -> dict[str, Any]:
    """An artifact as the memory has it."""
    artifact = stored.artifact
    told = {"schema": ARTIFACT, "time": _time(artifact.at), "expired": stored.is_expired}
    return {**told, **msgspec.to_builtins(artifact)}


def describe_whole(whole: Whole) -> dict[str, Any]:
    """An artifact as it is told: with its proofs if they were asked for, with what was cut, and how long it is."""
    told = describe_stored(Stored(whole.artifact, whole.is_expired))
    for pointer, proof in zip(told["provenance"], whole.proofs, strict=False):
        pointer["proof"] = proof.value
    return told | {"tokens": whole.tokens, "cut": msgspec.to_builtins(whole.cut)}


def describe_piece(identifier: str, piece: Piece) -> dict[str, Any]:
    """A piece of evidence. Bytes that are no text are spelled with U+FFFD; `--raw` has them as they are."""
    return {
        "schema": EVIDENCE,
        "artifact": identifier,
        "item": piece.item,
        **msgspec.to_builtins(piece.evidence),
        "records": msgspec.to_builtins(piece.records),
        "quote": piece.quote,
        "text": piece.data.decode("utf-8", "replace") if piece.data is not None else None,
        "proof": piece.proof.value,
        "problems": list(piece.problems),
        "masked": piece.masked,
    }


def _time(at: int | None) -> str | None:
    return to_rfc3339(at) if at is not None else None
