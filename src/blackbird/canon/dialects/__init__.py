"""The dialects of providers: each one reads requests, messages of a history and answers.

messages   Anthropic Messages
blocks     … its blocks of content
chat       OpenAI Chat Completions, and the servers that speak like it
choice     … one answer of it
responses  OpenAI Responses
items      … the items of its input and output
rounds     … its questions and answers over a WebSocket
gemini     Gemini
contents   … its contents and parts
ollama     Ollama
parts      what they have in common

Which of them a request is in tells the end of its path, else the shape of the answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from blackbird.canon import places
from blackbird.canon.dialects import chat, gemini, messages, ollama, responses
from blackbird.canon.model import Reply, Turn
from blackbird.canon.seen import Ask, Slice


class Dialect(Protocol):
    """What each dialect module has; none of its functions raises, whatever it is given."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """What it is called."""

    @property
    def ENDS(self) -> tuple[str, ...]:  # noqa: N802 - a constant of a module
        """How the paths of its requests end."""

    def ask(self, body: bytes, path: str) -> Ask | None:
        """What a request says; None if it has not this shape."""

    def turns(self, message: Slice) -> tuple[Turn, ...]:
        """What a message of the history, or a piece of the system prompt, says."""

    def reply(self, pieces: Sequence[Slice], *, status: int | None, is_cut: bool) -> Reply:
        """What the documents of an answer say together."""

    def envelope(self, kept: Mapping[str, Any]) -> dict[str, Any]:
        """The document that an answer would be of which only these values were kept."""


class _Answer(msgspec.Struct):
    """The keys that tell answers apart."""

    type: str = ""
    object: str = ""
    candidates: msgspec.Raw = msgspec.Raw(b"")
    created_at: msgspec.Raw = msgspec.Raw(b"")
    done: bool | None = None


DIALECTS: tuple[Dialect, ...] = (messages, chat, responses, gemini, ollama)
_ANSWERS = msgspec.json.Decoder(_Answer)
_MESSAGES = frozenset({"message", "message_start"})


def by_path(path: str | None) -> Dialect | None:
    """The dialect that requests to this path are in."""
    end = (path or "").partition("?")[0].rstrip("/")
    return next((dialect for dialect in DIALECTS if end.endswith(dialect.ENDS)), None)


def by_shape(pieces: Sequence[Slice]) -> Dialect | None:
    """The dialect that an answer is in, by its first document."""
    answer = places.decode(_ANSWERS, pieces[0].data) if pieces else None
    if answer is None:
        return None
    if answer.type in _MESSAGES:
        return messages
    if answer.type.startswith("response.") or answer.object == "response":
        return responses
    if answer.object.startswith("chat.completion"):
        return chat
    if answer.candidates:
        return gemini
    return ollama if answer.created_at and answer.done is not None else None
