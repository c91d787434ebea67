"""How a stand-in reaches its provider, and a note of all that it was answered.

A base URL is used as it is. Without one the provider's own host is asked over TLS, through the proxy and with the
certificates that the environment names, as the real client would; a stand-in never goes there by itself.
"""

import base64
import http.client
import json
import os
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

#: Where a stand-in notes what it saw.
NOTES = "STAND_IN_NOTES"
_SECONDS = 30
_ATTEMPTS = 4
_LONGEST_WAIT = 0.05


@dataclass
class Seen:
    """An answer as the client got it; `trouble` is how it ended before its time, if it did."""

    status: int | None = None
    fields: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    trouble: str = ""

    def get(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    def events(self) -> list[Any]:
        """The data of server-sent events."""
        lines = [line[6:] for line in self.body.split(b"\n") if line.startswith(b"data: ")]
        return [json.loads(line) for line in lines if line != b"[DONE]"]


class _Frank(ssl.SSLContext):
    """Does not call a connection that was broken off ended in good order."""

    def wrap_socket(self, *arguments: Any, **options: Any) -> ssl.SSLSocket:
        return super().wrap_socket(*arguments, **{**options, "suppress_ragged_eofs": False})


def kind_of(error: Exception) -> str:
    """How a connection ended before its time. Under TLS some versions of Python call a reset a missing end."""
    is_reset = isinstance(error, ssl.SSLEOFError | ConnectionResetError)
    return "reset" if is_reset and not isinstance(error, http.client.RemoteDisconnected) else "cut"


def way_to(url: SplitResult, trust: str) -> http.client.HTTPConnection:
    """A connection that leads to a URL; `trust` is the one variable for certificates that this client reads."""
    if url.scheme == "http":
        return http.client.HTTPConnection(url.hostname or "", url.port, timeout=_SECONDS)
    if "HTTPS_PROXY" not in os.environ:
        raise SystemExit(f"{url.hostname} cannot be reached: no base URL and no proxy")
    context = _Frank(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(os.environ[trust])
    proxy = urlsplit(os.environ["HTTPS_PROXY"])
    connection = http.client.HTTPSConnection(proxy.hostname or "", proxy.port, timeout=_SECONDS, context=context)
    login = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
    connection.set_tunnel(url.hostname or "", url.port or 443, {"Proxy-Authorization": f"Basic {login}"})
    return connection


class Line:
    """A connection that is kept for the next request as long as it lasts."""

    def __init__(self, base: str, trust: str) -> None:
        self.url = urlsplit(base)
        self.connection = way_to(self.url, trust)

    def post(self, what: str, path: str, fields: Mapping[str, str], body: bytes) -> Seen:
        """The answer, as far as it came; `what` is asked for is noted with it."""
        seen = Seen()
        try:
            self._send(path, fields, body)
            self._receive(seen)
        except (http.client.HTTPException, OSError) as error:
            seen.trouble = kind_of(error)
            self.connection.close()
        note(what, seen)
        return seen

    def _send(self, path: str, fields: Mapping[str, str], body: bytes) -> None:
        self.connection.putrequest("POST", self.url.path + path, skip_accept_encoding=True)
        for name, value in fields.items():
            self.connection.putheader(name, value)
        self.connection.putheader("content-length", str(len(body)))
        self.connection.endheaders(body)

    def _receive(self, seen: Seen) -> None:
        with self.connection.getresponse() as response:
            seen.status, seen.fields = response.status, response.getheaders()
            while piece := response.read1():
                seen.body += piece


def note(what: str, seen: Seen) -> None:
    """Write down what was seen, but for the clock."""
    fields = [[name, value] for name, value in seen.fields if name.lower() != "date"]
    said = {"what": what, "status": seen.status, "fields": fields, "trouble": seen.trouble}
    with Path(os.environ[NOTES]).open("a", encoding="utf-8") as notes:
        notes.write(json.dumps({**said, "body": seen.body.decode("latin-1")}) + "\n")


def persist(attempt: Callable[[bool], Seen], *, survives_a_cut: bool = True) -> Seen:
    """Ask until there is a whole answer; an attempt is told whether the one before was cut."""
    was_cut = False
    for _ in range(_ATTEMPTS):
        seen = attempt(was_cut)
        if seen.status == 200 and not seen.trouble:
            return seen
        if seen.status == 200 and not survives_a_cut:
            raise SystemExit("the answer was cut")
        was_cut = seen.status == 200
        if seen.status not in (None, 200, 429) and seen.status < 500:
            raise SystemExit(f"the answer was {seen.status}")
        time.sleep(min(float(seen.get("retry-after") or _LONGEST_WAIT), _LONGEST_WAIT))
    raise SystemExit(f"no answer in {_ATTEMPTS} attempts")
