"""Everything that reads traffic and agents' logs, on any bytes: what the fuzzer runs, and a test on its seeds.

The first byte chooses the reader; the rest is a request and its answer, or a log.
"""

import json
from collections.abc import Iterator

from blackbird.canon import natives
from blackbird.canon.model import Amend, Call, Evidence, Item, Message, Part, Result, Side, Text, Thinking, ToolCall
from blackbird.canon.reading import read
from blackbird.exchange.exchange import Body, Chunk, Exchange, Head, Provenance, Source, State
from blackbird.timeline.order import settle
from blackbird.timeline.weaver import Weaver
from tests.blackbird.flights import Flight, repair
from tests.fuzz.exercise import Broken

PATHS = (
    "/v1/messages",
    "/v1/chat/completions",
    "/v1/responses",
    "/v1beta/models/m:streamGenerateContent",
    "/api/chat",
    "/elsewhere",
)
_BETWEEN = b"\x00\xff\x00"
_DIALECTS = ("messages", "chat", "responses", "gemini", "ollama")


def exercise(data: bytes) -> None:
    """Read, weave and settle; nothing may raise, no id may be there twice, and each text stands where it says."""
    if not data:
        return
    choice, rest = data[0], data[1:]
    formats = sorted(natives.READERS)
    if choice < len(PATHS):
        _traffic(PATHS[choice], rest)
    else:
        _log(formats[choice % len(formats)], rest)


def _traffic(path: str, data: bytes) -> None:
    request, _, response = data.partition(_BETWEEN)
    weaver, news = Weaver(), []
    for number in range(2):
        exchange = Exchange(
            request_id=f"req_{number:026}",
            state=State.COMPLETE,
            provenance=Provenance([Source(1, "0" * 26)], 1, 3),
            method="POST",
            path=path,
            response=Head(200, "", "HTTP/1.1", []),
            request_body=Body([Chunk(0, len(request), request, 1, 1)], complete=True),
            response_body=Body([Chunk(0, len(response), response, 1, 2)], complete=True),
        )
        for seen in read(exchange, str):
            news += weaver.exchange(seen)
    bodies = {Side.REQUEST: request, Side.RESPONSE: response}
    _check(news, bodies)


def _log(name: str, data: bytes) -> None:
    reader = natives.READERS[name]("src_" + "0" * 26, "/logs/session.jsonl")
    weaver, news = Weaver(), []
    text = data.decode(errors="replace")
    for offset, line in enumerate([text] if name == "specstory" else text.split("\n")):
        evidence = Evidence(source="src_0", side=Side.LINE, start=0, end=len(line.encode()), offset=offset)
        for entry in reader.line(line, evidence):
            news += weaver.entry(entry)
    for entry in reader.end():
        news += weaver.entry(entry)
    _check(news, {})


def _check(news: list[Item | Amend], bodies: dict[Side, bytes]) -> None:
    items = settle(news)
    if len({item.id for item in items}) != len(items):
        raise Broken("two items have the same id")
    for item in items:
        body = bodies.get(item.evidence[0].side) if item.evidence else None
        for part in _parts(item) if body is not None else ():
            _check_places(part, body or b"")


def _parts(item: Item) -> tuple[Part, ...]:
    match item:
        case Message():
            return item.parts
        case Call():
            return (item.call,)
        case Result():
            return (item.result,)
        case _:
            return ()


def _check_places(part: Part, body: bytes) -> None:
    if not isinstance(part, Text | Thinking | ToolCall):
        return
    text = part.raw if isinstance(part, ToolCall) else part.text
    if "\ufffd" in text or "?" in text:
        # What no text can hold was replaced; it does not stand there as it is read.
        return
    for span in part.spans:
        there, said = body[span.start : span.end], text[span.first : span.last]
        if b"\n" in there:
            # An event whose data are cut within a string is none that JSON allows.
            continue
        if said not in (there.decode(errors="replace"), _unquoted(there)):
            raise Broken(f"the text {said!r} is not at its place: {there!r}")


def _unquoted(spelled: bytes) -> str | None:
    try:
        return str(json.loads(b'"' + spelled + b'"', strict=False))
    except ValueError:
        return None


def seeds() -> Iterator[bytes]:
    """Each dialect's requests and answers, and a log of each client."""
    for number, dialect in enumerate(_DIALECTS):
        for exchange in repair(Flight(dialect)):
            yield bytes([number]) + exchange.request_body.data + _BETWEEN + exchange.response_body.data
    first = len(PATHS)
    line = {
        "type": "assistant",
        "uuid": "a",
        "parentUuid": None,
        "sessionId": "s",
        "timestamp": "2026-11-16T10:00:00Z",
        "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "words"}], "usage": {}},
        "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "words"}]},
    }
    for number in range(first, first + len(natives.READERS)):
        yield bytes([number]) + json.dumps(line).encode() + b"\nu: words step=1\n_**User**_\n\nwords\n"
