"""From an exchange to what was asked and answered, in canonical words and with its places in the trace."""

import bisect
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from blackbird.canon import dialects, purposes, streams
from blackbird.canon.dialects import Dialect, parts, rounds
from blackbird.canon.model import (
    Evidence,
    Failure,
    Outcome,
    Part,
    Purpose,
    Refusal,
    Reply,
    Role,
    Settings,
    Side,
    Span,
    Text,
    Thinking,
    ToolCall,
    Turn,
)
from blackbird.canon.seen import Ask, Exchanged, Locate, Slice
from blackbird.exchange import payloads
from blackbird.exchange.exchange import Body, Exchange, State
from blackbird.sessions.links import Links, sender
from blackbox.redaction.config import load_redactor
from blackbox.redaction.redactor import Redactor

Redact = Callable[[str], str]

_PROVIDER_IDS = ("request-id", "x-request-id")
#: The modes in which no bodies are recorded.
_BODILESS = ("privacy", "passthrough")
#: The methods that ask no model anything, as where a WebSocket is offered and refused.
_READING = ("GET", "HEAD", "OPTIONS")
#: How many messages are looked at for the words that tell what a request is for.
_NEAR = 8
#: Longer messages are read again each time.
_REMEMBERED = 1 << 16


def read(exchange: Exchange, redact: Redact | None = None) -> list[Exchanged]:
    """What one exchange says: one question and its answer, of a WebSocket as many as there were.

    Text that came in several stretches is redacted by `redact` (the user's rules for traffic, if it is not given),
    since a secret may stand across them.
    """
    clean = functools.partial(_redacted, redact=redact or _by_user_rules)
    frame = _frame(exchange)
    if exchange.websocket is not None:
        found = [_round(exchange, frame, each, number, clean) for number, each in enumerate(rounds.rounds(exchange))]
        return found or [_plain(exchange, frame)]
    return [_single(exchange, frame, clean)]


def _by_user_rules(text: str) -> str:
    return _user_rules().redact(text).text


@functools.cache
def _user_rules() -> Redactor:
    return load_redactor().for_profile("wire")


def _frame(exchange: Exchange) -> Exchanged:
    """What is known of an exchange without its bodies."""
    who = sender(exchange.headers, exchange.client)
    first, last = _times(exchange)
    return Exchanged(
        request_id=exchange.request_id,
        at=exchange.started_ns,
        ended=_after(exchange.started_ns, last),
        purpose=Purpose.OTHER,
        dialect=None,
        ask=None,
        reply=None,
        turns=_no_turns,
        locate=_locator(exchange),
        asked=(0, exchange.request_body.stored),
        answered=(0, exchange.response_body.stored),
        run=exchange.run,
        task=exchange.task,
        links=who.links,
        agent=who.agent,
        method=exchange.method,
        path=exchange.path,
        status=exchange.status,
        provider_request=provider_request(exchange.response.headers if exchange.response is not None else ()),
        first_byte_us=first,
        duration_us=last,
    )


def _plain(exchange: Exchange, frame: Exchanged) -> Exchanged:
    """An exchange that no dialect knows: its path may tell what it was for."""
    return msgspec.structs.replace(frame, purpose=_purpose(exchange, None, None, frame.links))


def _times(exchange: Exchange) -> tuple[int | None, int | None]:
    """When the answer began and when it ended; of one without an end, when the last was heard of it."""
    chunks = exchange.response_body.chunks
    first, last = exchange.timings.first_byte_us, exchange.timings.total_us
    if chunks and first is None:
        first = chunks[0].at_us
    if chunks and last is None and exchange.state is not State.ACTIVE:
        last = chunks[-1].at_us
    return first, last


def _after(start: int | None, microseconds: int | None) -> int | None:
    return start + microseconds * 1000 if start is not None and microseconds is not None else None


def provider_request(headers: Sequence[tuple[str, str]]) -> str | None:
    """The provider's id of a request, which stands in the head of its answer."""
    found = {name.lower(): value for name, value in reversed(headers)}
    return next((found[name] for name in _PROVIDER_IDS if found.get(name)), None)


def _no_turns(message: Slice) -> tuple[Turn, ...]:  # noqa: ARG001 - what no dialect knows has no turns
    return ()


def _locator(exchange: Exchange) -> Locate:
    """Where bytes of this exchange stand; it keeps where its records are, not what they hold."""
    sides = {
        Side.REQUEST: _Records(exchange.request_body),
        Side.RESPONSE: _Records(exchange.response_body),
    }

    source, provenance = exchange.request_id, exchange.provenance
    # What has no body stands where the request begins.
    first = (provenance.segments[0].number, provenance.first_sequence) if provenance.segments else (None, None)

    def locate(side: Side, start: int, end: int) -> Evidence:
        segment, sequence = sides[side].holding(start) or first
        return Evidence(source=source, side=side, start=start, end=end, segment=segment, sequence=sequence)

    return locate


class _Records:
    """In which record each byte of a body stands."""

    def __init__(self, body: Body) -> None:
        self._ends = list(itertools.accumulate(chunk.length for chunk in body.chunks))
        self._records = [(chunk.segment, chunk.sequence) for chunk in body.chunks]

    def holding(self, offset: int) -> tuple[int, int] | None:
        if not self._records:
            return None
        return self._records[min(bisect.bisect_right(self._ends, offset), len(self._records) - 1)]


def _single(exchange: Exchange, frame: Exchanged, clean: Callable[[Reply], Reply]) -> Exchanged:
    """An exchange of one request and one response."""
    body = exchange.request_body.data
    content_type = _content_type(exchange)
    answer = streams.split(exchange.response_body.data, content_type)
    dialect, ask = _asked(exchange, body, answer)
    if dialect is None:
        return _plain(exchange, frame)
    reply = _reply(exchange, dialect, answer)
    return msgspec.structs.replace(
        frame,
        purpose=_purpose(exchange, dialect, ask, frame.links),
        dialect=dialect.NAME,
        ask=ask,
        reply=clean(reply) if reply is not None else None,
        turns=dialect.turns,
    )


def _asked(exchange: Exchange, body: bytes, answer: streams.Pieces) -> tuple[Dialect | None, Ask | None]:
    """The dialect of a request and what it asks; nothing is asked by what is not there, or not whole."""
    if exchange.method in _READING:
        return None, None
    dialect = dialects.by_path(exchange.path)
    ask = dialect.ask(body, exchange.path or "") if dialect is not None and body else None
    if ask is not None:
        return dialect, ask
    if dialect is not None and not body and _is_bodiless(exchange):
        return dialect, Ask(settings=_kept_settings(exchange))
    if dialect is None or (body and not streams.split(body, None).is_cut):
        dialect = dialects.by_shape(answer.pieces)
        ask = dialect.ask(body, exchange.path or "") if dialect is not None else None
        return (dialect, ask) if ask is not None else (None, None)
    return dialect, None


def _is_bodiless(exchange: Exchange) -> bool:
    return exchange.mode in _BODILESS


def _content_type(exchange: Exchange) -> str | None:
    headers = exchange.response.headers if exchange.response is not None else []
    return next((value for name, value in headers if name.lower() == "content-type"), None)


def _reply(exchange: Exchange, dialect: Dialect, answer: streams.Pieces) -> Reply | None:
    """What came back; nothing is known of an answer that was let pass without being recorded."""
    is_refused = exchange.status is not None and exchange.status >= parts.FIRST_ERROR
    if not answer.pieces and _is_bodiless(exchange) and not is_refused:
        return _kept_reply(exchange, dialect)
    return _settled(exchange, dialect.reply(answer.pieces, status=exchange.status, is_cut=answer.is_cut))


def _kept_settings(exchange: Exchange) -> Settings:
    """What passthrough mode keeps of a request."""
    kept = exchange.kept.get(Side.REQUEST, {})
    longest = (payloads.number(kept, key) for key in ("max_tokens", "max_completion_tokens", "max_output_tokens"))
    stream = kept.get("stream")
    return Settings(
        model=payloads.text(kept, "model"),
        max_tokens=next((number for number in longest if number is not None), None),
        stream=stream if isinstance(stream, bool) else None,
    )


def _kept_reply(exchange: Exchange, dialect: Dialect) -> Reply | None:
    """What passthrough mode keeps of an answer: its model, why it stopped, and what it took."""
    kept = exchange.kept.get(Side.RESPONSE)
    if not kept:
        return None
    piece = Slice(msgspec.json.encode(dialect.envelope(kept)), 0)
    reply = dialect.reply([piece], status=exchange.status, is_cut=False)
    return _settled(exchange, msgspec.structs.replace(reply, parts=()))


def _settled(exchange: Exchange, reply: Reply) -> Reply:
    """An answer without its end: it may still come, or the recorder knows why it did not."""
    if reply.outcome is not Outcome.CUT:
        return reply
    if exchange.state is State.ACTIVE:
        return msgspec.structs.replace(reply, outcome=Outcome.ACTIVE)
    if exchange.error is not None and reply.failure is None:
        return msgspec.structs.replace(reply, failure=Failure(exchange.error.code, exchange.error.message))
    return reply


def _round(
    exchange: Exchange, frame: Exchanged, found: rounds.Round, number: int, clean: Callable[[Reply], Reply]
) -> Exchanged:
    """One question over a WebSocket, and its answer."""
    dialect = dialects.by_path(exchange.path) or dialects.by_shape(found.pieces)
    if dialect is None:
        return msgspec.structs.replace(_plain(exchange, frame), round=number)
    ask = dialect.ask(found.request.data, exchange.path or "")
    ask = _moved(ask, found.request.start) if ask is not None else None
    reply = dialect.reply(found.pieces, status=None, is_cut=found.is_cut)
    last = found.last_us if found.last_us is not None else found.at_us
    return msgspec.structs.replace(
        frame,
        round=number,
        at=_after(exchange.started_ns, found.at_us),
        ended=_after(exchange.started_ns, last),
        purpose=_purpose(exchange, dialect, ask, frame.links),
        dialect=dialect.NAME,
        ask=ask,
        reply=clean(_settled(exchange, reply)),
        turns=dialect.turns,
        asked=(found.request.start, found.request.end),
        answered=(found.pieces[0].start, found.pieces[-1].end) if found.pieces else (0, 0),
        first_byte_us=found.first_us - found.at_us if found.first_us is not None else None,
        duration_us=last - found.at_us,
    )


def _moved(ask: Ask, by: int) -> Ask:
    """The same with its places counted from the start of all that the client sent."""

    def moved(slices: tuple[Slice, ...]) -> tuple[Slice, ...]:
        return tuple(Slice(each.data, each.start + by) for each in slices)

    return msgspec.structs.replace(ask, history=moved(ask.history), system=moved(ask.system))


def _purpose(exchange: Exchange, dialect: Dialect | None, ask: Ask | None, links: Links) -> Purpose:
    """What a request was for; of one that is not whole its path tells."""
    first = last = system = ""
    if dialect is not None:
        ask = ask or Ask(settings=Settings())
        first = "\n".join(next(_said(dialect, ask.history[:_NEAR], Role.USER), ()))
        last = "".join(next(_said(dialect, ask.history[: -_NEAR - 1 : -1], Role.USER), ())[-1:])
        system = "\n".join(itertools.chain(*_said(dialect, ask.system[:_NEAR], Role.SYSTEM)))
    return purposes.classify(
        method=exchange.method,
        path=exchange.path,
        ask=ask,
        first_words=first,
        last_words=last,
        system_words=system,
        links=links,
    )


def _said(dialect: Dialect, messages: Iterable[Slice], role: Role) -> Iterator[tuple[str, ...]]:
    """The texts of each message of a role."""
    for message in messages:
        texts = _texts if len(message.data) < _REMEMBERED else _texts.__wrapped__
        yield from (said for speaker, said in texts(dialect.turns, message.data) if speaker is role)


@functools.lru_cache(maxsize=16)
def _texts(turns: Callable[[Slice], tuple[Turn, ...]], message: bytes) -> list[tuple[Role, tuple[str, ...]]]:
    """The texts of a message; the first of a history and the system prompt come again with each request."""
    read_turns = turns(Slice(message, 0))
    return [(turn.role, tuple(part.text for part in turn.parts if isinstance(part, Text))) for turn in read_turns]


def _redacted(reply: Reply, redact: Redact) -> Reply:
    """An answer without the secrets that no single stretch of it showed."""
    return msgspec.structs.replace(reply, parts=tuple(_clean(part, redact) for part in reply.parts))


def _clean(part: Part, redact: Redact) -> Part:
    if not isinstance(part, Text | Thinking | Refusal | ToolCall) or len(part.spans) < 2:
        return part
    text = part.raw if isinstance(part, ToolCall) else part.text
    cleaned = redact(text)
    if cleaned == text:
        return part
    spans = (Span(0, len(cleaned), part.spans[0].start, part.spans[-1].end),)
    if isinstance(part, ToolCall):
        return msgspec.structs.replace(part, raw=cleaned, arguments=parts.read_arguments(cleaned), spans=spans)
    return msgspec.structs.replace(part, text=cleaned, spans=spans)
