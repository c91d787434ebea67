"""Serves one client connection: a request, its answer, and the next."""

import json
import socket
import ssl
import threading
from collections.abc import Callable
from typing import NamedTuple

from blackbird.provider import encoding
from blackbird.provider.manner import Continue, Manner, ScriptError, ask
from blackbird.provider.pace import Pace
from blackbird.provider.routes import Question, answer, step_of
from blackbird.provider.sending import Answer, Sender
from blackbird.provider.websocket import talk
from blackbird.provider.websocket.talk import Talk
from blackbird.provider.wire import Gone, Malformed, Reader, Received

_HINT = (("link", "</style.css>; rel=preload"),)
_PREFIX = "script-"


class Manners(NamedTuple):
    """How a request is answered, as far as its head tells, and then by the step of the job that it asks for."""

    of: Callable[[Received], Manner]
    of_step: Callable[[int, Manner], Manner]


class Connection:
    """One client; `manners` tell how its next request is answered, `keep` is given all that came."""

    def __init__(
        self,
        connection: socket.socket,
        number: int,
        stopping: threading.Event,
        manners: Manners,
        keep: Callable[[Received], None],
        folder: str,
    ) -> None:
        self._connection = connection
        self._reader = Reader(connection, number)
        self._sender = Sender(connection, Pace(connection, stopping))
        self._manners = manners
        self._keep = keep
        self._folder = folder

    def serve(self) -> None:
        """Answer until one side wants no more."""
        with self._connection:
            try:
                while self._sender.keep and (request := self._reader.head()) is not None:
                    self._keep(request)
                    self._exchange(request)
            except (Gone, ConnectionError, TimeoutError, ssl.SSLError):
                return
            except Malformed as error:
                self._sender.send(_refusal(error), Manner(), method="", version="HTTP/1.1")

    def _exchange(self, request: Received) -> None:
        try:
            request.outcome = self._answer(request)
        except (Gone, ConnectionError, ssl.SSLError):
            request.outcome = "client gone"
            raise
        finally:
            request.over.set()

    def _answer(self, request: Received) -> str:
        method, _, version = request.request_line
        try:
            manner = ask(self._manners.of(request), _wishes(request))
            if manner.encoding == "accepted":
                manner = ask(manner, [("encoding", encoding.accepted(request.get("accept-encoding")))])
            encoding.encoder(manner.encoding)
            if manner.status == 200 and manner.upgrade and talk.is_asked_for(request):
                self._sender.keep = False
                return self._talk(manner).serve(request)
            waiting = request.get("expect").lower() == "100-continue"
            refused = waiting and manner.expect is Continue.FINAL
            if waiting and manner.expect is Continue.SEND and not manner.early:
                self._sender.inform(100)
            if not (manner.early or refused):
                self._reader.body(request)
            if manner.hints:
                self._sender.inform(103, _HINT)
            question = Question.of(request, self._folder)
            manner = self._manners.of_step(step_of(question), manner)
            said = answer(question, manner)
        except (ScriptError, encoding.UnknownCoding) as error:
            said, manner, refused = _refusal(error), Manner(), True
        if request.get("connection").lower() == "close":
            self._sender.keep = False
        outcome = self._sender.send(said, manner, method=method, version=version)
        if refused:
            self._sender.keep = False
        elif manner.early:
            self._reader.body(request)
        return outcome

    def _talk(self, manner: Manner) -> Talk:
        return Talk(self._connection, self._reader, self._sender.pace, manner, self._folder, self._manners.of_step)


def _wishes(request: Received) -> list[tuple[str, str]]:
    """What the request asks of the manner of its answer: the query first, then the fields, which win."""
    named = [(name, value) for name, value in request.query if name.startswith(_PREFIX)]
    named += [(name.lower()[2:], value) for name, value in request.fields if name.lower().startswith("x-" + _PREFIX)]
    return [(name.removeprefix(_PREFIX), value) for name, value in named]


def _refusal(error: Exception) -> Answer:
    body = json.dumps({"error": {"type": "invalid_request_error", "message": str(error)}}).encode()
    return Answer("application/json", (body,), status=400)
