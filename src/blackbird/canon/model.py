"""The canonical objects: what was asked, thought, said, called, answered and spent, whatever protocol it came in."""

import enum
from decimal import Decimal
from typing import Any

import msgspec


class Side(enum.StrEnum):
    """Which bytes of a source are meant: a body of an exchange, a line of an imported log, or one statement."""

    REQUEST = "request"
    RESPONSE = "response"
    LINE = "line"
    #: What a harness or a tool stated: the payload of one record.
    EVENT = "event"


class Role(enum.StrEnum):
    """Who speaks, in the provider's eyes."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Origin(enum.StrEnum):
    """Whose words a message really holds."""

    USER = "user"
    AGENT = "agent"
    #: The system prompt and other instructions of the client.
    SYSTEM = "system"
    #: What the client wraps around a user's words, or says in a user's name.
    CLIENT = "client"
    #: The context that Blackbird itself gave to the agent.
    PACK = "pack"
    #: What the client made of an earlier part of the conversation, to go on with less.
    SUMMARY = "summary"


class Purpose(enum.StrEnum):
    """What a request was for."""

    TURN = "turn"
    SUBAGENT = "subagent"
    #: A conversation's first words sent ahead, so that the provider has them ready: no answer is wanted.
    WARMUP = "warmup"
    TITLE = "title"
    COUNT = "count"
    MEMORY = "memory"
    COMPACTION = "compaction"
    COMMIT = "commit"
    MODELS = "models"
    TELEMETRY = "telemetry"
    OTHER = "other"


class Outcome(enum.StrEnum):
    """How far the answer to a request came."""

    COMPLETE = "complete"
    #: The stream ended before its end.
    CUT = "cut"
    #: The provider said no, by its status or in the stream.
    ERROR = "error"
    #: It still runs.
    ACTIVE = "active"


class Span(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A stretch of a text and where it stands: characters `first` to `last` are bytes `start` to `end` of a body.

    The bytes are the text itself as the body spells it: the inside of one JSON string, or plain UTF-8.
    """

    first: int
    last: int
    start: int
    end: int


class Evidence(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where something stands in the trace, and what text of it stands where.

    `source` is the request (`req_…`), the imported file (`src_…`) or a statement (`event`). `start` and `end` are
    bytes of the decoded, redacted body, of a WebSocket all messages of that side joined, of an imported log those of
    the one line, of a statement its payload.
    `segment` and `sequence` name the record in which it begins; they are missing for what was left outside of the
    trace. `file` and `offset` say where an imported line stood in the agent's own file.
    """

    source: str
    side: Side
    start: int
    end: int
    segment: int | None = None
    sequence: int | None = None
    file: str | None = None
    offset: int | None = None


class Text(msgspec.Struct, frozen=True, tag="text"):
    """Words."""

    text: str
    spans: tuple[Span, ...] = ()


class Thinking(msgspec.Struct, frozen=True, tag="thinking"):
    """A thought. `signature` is the provider's; an encrypted thought has no text."""

    text: str
    signature: str | None = None
    is_encrypted: bool = False
    spans: tuple[Span, ...] = ()


class Refusal(msgspec.Struct, frozen=True, tag="refusal"):
    """The words in which a model declined."""

    text: str
    spans: tuple[Span, ...] = ()


class Media(msgspec.Struct, frozen=True, tag="media"):
    """A reference to an image, a sound or a document: what it is, how large, and the SHA-256 of what was sent."""

    kind: str
    mime: str | None = None
    size: int | None = None
    sha256: str | None = None
    url: str | None = None
    name: str | None = None


class ToolCall(msgspec.Struct, frozen=True, tag="call"):
    """A tool that the model wants to be used.

    `raw` is what it was given as the model wrote it; `arguments` the same read as a JSON object, if it is one.
    `call_id` is missing where the protocol has none. `is_hosted`: the provider runs the tool itself.
    """

    name: str
    call_id: str | None
    arguments: dict[str, Any] | None
    raw: str = ""
    is_hosted: bool = False
    spans: tuple[Span, ...] = ()


class ToolResult(msgspec.Struct, frozen=True, tag="result"):
    """What came back. `error` is None where the protocol does not say whether it failed."""

    call_id: str | None
    text: str
    error: bool | None = None
    name: str | None = None
    media: tuple[Media, ...] = ()
    #: What is known beside the text: exit code, standard error, a patch. On the wire, the exit code alone.
    details: dict[str, Any] = {}
    spans: tuple[Span, ...] = ()


class Unknown(msgspec.Struct, frozen=True, tag="unknown"):
    """A part of a kind that nobody here knows; its bytes are in the trace."""

    kind: str
    size: int
    start: int = 0
    end: int = 0


Part = Text | Thinking | Refusal | Media | ToolCall | ToolResult | Unknown


class Turn(msgspec.Struct, frozen=True):
    """One message of a history or of an answer: bytes `start` to `end` of its body."""

    role: Role
    parts: tuple[Part, ...]
    start: int = 0
    end: int = 0
    #: The provider's or the client's id of it.
    id: str | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one response. `input` counts what was neither read from a cache nor written to one.

    `output` includes `reasoning`; `cache_write` includes `cache_write_1h`, which is priced by itself.
    """

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        """All that the model read."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """All that the model read and wrote."""
        return self.prompt + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


class Failure(msgspec.Struct, frozen=True):
    """What a provider says went wrong."""

    code: str
    message: str


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What a request asked for besides its history; what was not given is missing."""

    model: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    effort: str | None = None
    stream: bool | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a provider answered, put together again from its stream."""

    parts: tuple[Part, ...] = ()
    outcome: Outcome = Outcome.COMPLETE
    response_id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    #: What the provider says it costs, in US dollars.
    reported_cost: Decimal | None = None
    failure: Failure | None = None


# What a timeline consists of. Each has an id that the same trace always gives it, the thread it belongs to, when it
# happened (nanoseconds since 1970) and where it stands.


class _Item(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    thread: str
    at: int | None = None
    #: If nobody knows that, when what stands before it in its log happened: by this it is put in order.
    near: int | None = None
    #: The item before it in its conversation: two with the same parent are branches.
    parent: str | None = None
    #: The generation that it came out of, if a model said it.
    generation: str | None = None
    evidence: tuple[Evidence, ...] = ()
    #: It was there before: it came in with the history of the first request, or a log has it from another session.
    is_inherited: bool = False
    #: The wire had it and the agent's own log has it, or the other way round.
    is_joined: bool = False
    #: A later attempt took its place.
    is_superseded: bool = False


class Message(_Item, frozen=True, tag="message"):
    """Something that was said: words, thoughts, refusals, references to media."""

    role: Role
    origin: Origin
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Its words."""
        return "\n".join(part.text for part in self.parts if isinstance(part, Text | Refusal))


class Call(_Item, frozen=True, tag="call"):
    """A tool call; `call_id` is made up (`is_made_up`) where no one gave one."""

    call_id: str
    call: ToolCall
    is_made_up: bool = False
    #: Whose it is by the word of who ran the tool, if no request says so.
    run: str | None = None
    task: str | None = None


class Result(_Item, frozen=True, tag="result"):
    """What a tool call led to."""

    call_id: str
    result: ToolResult


class Cost(msgspec.Struct, frozen=True):
    """What a generation cost, and by which price list; `usd` is None where the list does not know the model."""

    usd: Decimal | None
    prices: str


class Generation(_Item, frozen=True, kw_only=True, tag="generation"):
    """One request to a model and its answer: the metadata of what came out of it.

    Of attempts at the same turn, all but the last are superseded; `attempt` counts from 1.
    """

    purpose: Purpose
    outcome: Outcome
    settings: Settings
    attempt: int = 1
    model: str | None = None
    stop_reason: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    reported_cost: Decimal | None = None
    failure: Failure | None = None
    response_id: str | None = None
    #: The recorder's id of the exchange, and the provider's own of the request.
    request_id: str | None = None
    provider_request: str | None = None
    #: The run and the task that the request was made for, by the word of whoever registered them.
    run: str | None = None
    task: str | None = None
    status: int | None = None
    first_byte_us: int | None = None
    duration_us: int | None = None
    #: Names of the tools that were offered, and digests that tell whether they or the system prompt changed.
    tools: tuple[str, ...] = ()
    tools_digest: str | None = None
    system_digest: str | None = None


class Mark(_Item, frozen=True, tag="mark"):
    """Something that happened beside the conversation.

    Kinds: `compact`, `model`, `mode`, `snapshot`, `queue`, `title`, `interrupt`, `error`, `other` (a request that no
    dialect knows), `note` (a line of an agent's log that has no other home).
    """

    kind: str
    text: str = ""
    data: dict[str, Any] = {}


Item = Message | Call | Result | Generation | Mark


class Amend(msgspec.Struct, frozen=True, kw_only=True):
    """What turned out later about an item that was handed out; what is None stays as it was."""

    id: str
    is_superseded: bool | None = None
    is_joined: bool | None = None
    call_id: str | None = None
    generation: str | None = None
    at: int | None = None
    evidence: tuple[Evidence, ...] = ()
    details: dict[str, Any] | None = None
    #: Whether the tool failed, by the word of who ran it.
    error: bool | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    provider_request: str | None = None


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation of a session: the agent's own, or a sub-agent's.

    `id` is `main` or a name made of the client's id. `is_inferred`: its place follows from histories, not from ids.
    """

    id: str
    native: str | None = None
    parent: str | None = None
    #: The tool call that started it, if that is known.
    call_id: str | None = None
    kind: str | None = None
    agent: str | None = None
    is_inferred: bool = False
