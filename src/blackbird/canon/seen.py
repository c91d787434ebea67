"""What the readers of exchanges and of agents' own logs hand on: canonical words, nothing joined yet."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from blackbird.canon.model import Evidence, Origin, Purpose, Reply, Settings, Side, Turn
from blackbird.sessions.links import Agent, Links

#: From a side and a range of its bytes to where they stand in the trace.
Locate = Callable[[Side, int, int], Evidence]


class Slice(NamedTuple):
    """Bytes of a body, and where in it they start."""

    data: bytes
    start: int

    @property
    def end(self) -> int:
        """Where they end."""
        return self.start + len(self.data)


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """What a request says. The messages of its history are left as they are until someone needs one."""

    settings: Settings
    history: tuple[Slice, ...] = ()
    system: tuple[Slice, ...] = ()
    tools: tuple[str, ...] = ()
    tools_digest: str | None = None
    system_digest: str | None = None
    #: The response that the history goes on from, where the provider keeps it.
    previous: str | None = None
    #: No answer is wanted: a warm-up.
    is_idle: bool = False
    #: What tells a side call from a turn: `schema` (fields of the answer that is wanted), `user` (who it is for) …
    hints: dict[str, Any] = {}


class Exchanged(msgspec.Struct, frozen=True, kw_only=True):
    """One request and its answer as a dialect read them; of a WebSocket, one of its rounds.

    `turns` reads a message of the history. `ask` is missing where no dialect knows the request.
    """

    request_id: str
    #: Which round of a WebSocket; 0 for all else.
    round: int = 0
    at: int | None
    ended: int | None
    purpose: Purpose
    dialect: str | None
    ask: Ask | None
    reply: Reply | None
    turns: Callable[[Slice], tuple[Turn, ...]]
    locate: Locate
    #: Which bytes of each side it is: all, or those of one round.
    asked: tuple[int, int] = (0, 0)
    answered: tuple[int, int] = (0, 0)
    run: str | None = None
    task: str | None = None
    links: Links = Links()
    agent: Agent | None = None
    method: str | None = None
    path: str | None = None
    status: int | None = None
    provider_request: str | None = None
    first_byte_us: int | None = None
    duration_us: int | None = None


def whole(seen: Exchanged) -> tuple[Evidence, ...]:
    """Where an exchange stands: what was asked, and if anything came back, that."""
    asked = seen.locate(Side.REQUEST, *seen.asked)
    start, end = seen.answered
    return (asked, seen.locate(Side.RESPONSE, start, end)) if end > start else (asked,)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One line of an agent's own log, or a part of it.

    It holds a turn, or the metadata of a response, or a mark, or facts about the session alone (`about`: `client`,
    `version`, `cwd`, `branch`, `sha`, `repository`, `slug`, `title`, `model`, `sandbox`, `goal`).
    """

    #: The client's id of the session, and of the thread if it is not the session's first.
    session: str
    thread: str | None = None
    parent_thread: str | None = None
    #: The call that started the thread, and what kind of sub-agent it is.
    call_id: str | None = None
    kind: str | None = None
    #: The client's id of this line and of the one that it follows; without one it follows the line before.
    key: str | None = None
    follows: str | None = None
    #: The session that the client says it copied this line from.
    copied_from: str | None = None
    at: int | None = None
    #: Without a time of its own, when the line before it happened.
    near: int | None = None
    turn: Turn | None = None
    #: Whose words they are, if the log says so.
    origin: Origin | None = None
    #: Model, usage, stop reason and ids of the response that an assistant's turn belongs to. Its parts are in `turn`.
    reply: Reply | None = None
    settings: Settings = Settings()
    provider_request: str | None = None
    #: What stands beside the conversation: see `model.Mark`.
    mark: str | None = None
    text: str = ""
    data: dict[str, Any] = {}
    about: dict[str, str] = {}
    evidence: Evidence

    @property
    def moment(self) -> int | None:
        """When it happened, as near as anyone knows."""
        return self.at if self.at is not None else self.near
