"""Bytes that are nearly HTTP/1: seeds that are sound, and what chance makes of them. Pure: a die in, bytes out."""

import random
from collections.abc import Callable

Dice = random.Random

_CRLF = b"\r\n"
_BODY = b"gull=tern&crane=heron"
_CHUNKS = b"5\r\ngulls\r\n4;x=y\r\nTern\r\n0\r\n\r\n"
_TRAILED = b"3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"

#: Requests as clients send them.
REQUESTS = (
    b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/models?limit=2 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nX-Empty:\r\n\r\n",
    b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY,
    b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + _CHUNKS,
    b"POST /v1/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n" + _TRAILED,
    b"PUT /v1/f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n\r\na",
    b"DELETE /v1/files/1 HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n",
    b"HEAD /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET https://localhost/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n",
)

#: Responses as upstreams send them.
RESPONSES = (
    b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_BODY) + _BODY,
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" + _CHUNKS,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + _TRAILED,
    b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    b"HTTP/1.1 500 Oh\r\nContent-Length: 2\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n\r\nno",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
)

#: What makes two parsers disagree.
FIELDS = (
    b"Content-Length: 0",
    b"Content-Length: 3",
    b"Content-Length: +3",
    b"Content-Length: 3, 3",
    b"Content-Length: 0x3",
    b"Content-Length : 3",
    b"Content-Length: 99999999999999999999",
    b"content-length:3",
    b"Content-Length:\t3",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: chunked, identity",
    b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding:\x0bchunked",
    b"Transfer-Encoding : chunked",
    b"transfer-encoding: CHUNKED",
    b"Transfer_Encoding: chunked",
    b"Host: localhost",
    b"Host: 127.0.0.1",
    b"Connection: Content-Length",
    b"Connection: Transfer-Encoding, Host",
    b"Connection: close",
    b"Connection: keep-alive",
    b"Expect: 100-continue",
    b"Upgrade: h2c",
    b"TE: trailers",
    b" folded: yes",
    b"\tfolded",
    b"X: a\x00b",
    b"X: \xff\xfe",
    b"X: " + b"y" * 3000,
    b": nameless",
    b"no colon",
    b"X\x20: space",
    b"X-Blackbird-Run: r1",
)

#: Words that mean something to a parser of chunks, heads or targets.
TOKENS = (
    b"\r\n",
    b"\n",
    b"\r",
    b"\r\n\r\n",
    b"\n\n",
    b"\x00",
    b" ",
    b"\t",
    b":",
    b";",
    b"0\r\n\r\n",
    b"0",
    b"-1",
    b"ffffffffffffffff1",
    b'5;a="b"',
    b"5;\n",
    b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"HTTP/1.1",
    b"HTTP/1.0",
    b"HTTP/2.0",
    b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"/bb/s/t/r/",
    b"//",
    b"/../",
    b"%2f%00",
    b"\xc3\xa9",
)


def _insert(dice: Dice, data: bytes, piece: bytes) -> bytes:
    at = dice.randint(0, len(data))
    return data[:at] + piece + data[at:]


def _add_field(dice: Dice, data: bytes) -> bytes:
    """A field of the list, somewhere in the head."""
    lines = data.partition(b"\r\n\r\n")[0].split(_CRLF)
    rest = data[len(_CRLF.join(lines)) :]
    lines.insert(dice.randint(1, len(lines)), dice.choice(FIELDS))
    return _CRLF.join(lines) + rest


def _drop_line(dice: Dice, data: bytes) -> bytes:
    lines = data.split(_CRLF)
    del lines[dice.randrange(len(lines))]
    return _CRLF.join(lines)


def _repeat_line(dice: Dice, data: bytes) -> bytes:
    lines = data.split(_CRLF)
    at = dice.randrange(len(lines))
    return _CRLF.join(lines[: at + 1] + lines[at:])


def _token(dice: Dice, data: bytes) -> bytes:
    return _insert(dice, data, dice.choice(TOKENS))


def _flip(dice: Dice, data: bytes) -> bytes:
    if not data:
        return data
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def _cut(dice: Dice, data: bytes) -> bytes:
    return data[: dice.randint(0, len(data))]


def _remove(dice: Dice, data: bytes) -> bytes:
    at = dice.randint(0, len(data))
    return data[:at] + data[at + dice.randint(1, 8) :]


def _bare_ends(dice: Dice, data: bytes) -> bytes:
    return data.replace(_CRLF, dice.choice((b"\n", b"\r", b"\r\r\n")), dice.randint(1, 3))


#: What happens to a case, the likelier ones more than once.
MUTATIONS: tuple[Callable[[Dice, bytes], bytes], ...] = (
    _add_field,
    _add_field,
    _add_field,
    _token,
    _token,
    _flip,
    _drop_line,
    _repeat_line,
    _remove,
    _cut,
    _bare_ends,
)


def case(dice: Dice, seeds: tuple[bytes, ...]) -> bytes:
    """One to three messages, most of them with something wrong."""
    data = b"".join(dice.choice(seeds) for _ in range(dice.choice((1, 1, 2, 3))))
    for _ in range(dice.choice((0, 1, 1, 2, 3, 5))):
        data = dice.choice(MUTATIONS)(dice, data)
    return data


def pieces(dice: Dice, data: bytes) -> list[bytes]:
    """The same bytes, as they may arrive."""
    cuts = sorted(dice.randint(0, len(data)) for _ in range(dice.choice((0, 0, 1, 3))))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True) if start < end]
