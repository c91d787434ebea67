"""Decides what is answered: by the end of the path, whatever stands before it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from blackbird.provider import encoding
from blackbird.provider.dialects import anthropic, chat, gemini, ollama, responses
from blackbird.provider.dialects.reply import Ask, Dialect, Reply, compact
from blackbird.provider.manner import Manner
from blackbird.provider.script import Ids, step
from blackbird.provider.sending import Answer
from blackbird.provider.wire import Received

DIALECTS: Sequence[Dialect] = (anthropic, chat, responses, gemini, ollama)
_MODEL = "scripted-1"
#: The account that a made-up ChatGPT login has to name.
ACCOUNT = "00000000-0000-4000-8000-000000000001"
_LISTS: dict[str, Any] = {
    "/models": {"object": "list", "data": [{"id": _MODEL, "object": "model"}], "models": []},
    "/accounts/check": {
        "accounts": [
            {
                "id": ACCOUNT,
                "name": None,
                "structure": "personal",
                "plan_type": "plus",
                "is_deactivated": False,
                "can_access_with_session": True,
                "workspace_backend_origin": "https://chatgpt.com",
                "account_routing_override": "us",
            }
        ],
        "default_account_id": ACCOUNT,
        "account_ordering": [ACCOUNT],
    },
    "/api/tags": {"models": [{"name": _MODEL, "model": _MODEL}]},
    "/api/version": {"version": "0.0.0"},
}


@dataclass(frozen=True, slots=True)
class Question:
    """A request as far as its answer depends on it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    upgrade: bool
    body: Any
    ids: Ids
    folder: str

    @classmethod
    def of(cls, request: Received, folder: str) -> "Question":
        """Read the body of a request; one that is no JSON counts as missing."""
        return cls(
            method=request.request_line[0],
            path=request.path,
            query=tuple(request.query),
            upgrade=bool(request.get("upgrade")),
            body=_json_of(request),
            ids=Ids(hashlib.sha256(request.body).digest()),
            folder=folder,
        )


def step_of(question: Question) -> int:
    """The step of the job that a request asks for; 0 if it is none of its requests."""
    dialect = _dialect(question.path)
    asks = dialect is not None and question.method == "POST" and isinstance(question.body, dict)
    return step(dialect.prompt(question.body)) if asks and dialect is not None else 0


def answer(question: Question, manner: Manner) -> Answer:
    """The answer in the words of the dialect that the path belongs to."""
    fields = [("request-id", question.ids.new("req"))]
    if manner.status >= 400:
        fields.append(("retry-after", str(manner.retry_after)))
        return _plain(_error(question.path, manner.status), manner.status, fields)
    if manner.status != 200:
        return _plain({}, manner.status, fields)
    if question.upgrade:
        return _plain(_problem("upgrade_required", "this provider speaks HTTP alone"), 426, fields)
    if question.method in ("GET", "HEAD"):
        ending = next((end for end in _LISTS if question.path.endswith(end)), None)
        return _missing(question, fields) if ending is None else _plain(_LISTS[ending], 200, fields)
    dialect = _dialect(question.path)
    if dialect is None or question.method != "POST":
        return _missing(question, fields)
    if not isinstance(question.body, dict):
        return _plain(dialect.error(400, "the body is no JSON object"), 400, fields)
    asked = Ask(question.path, dict(question.query), question.body, question.ids, question.folder)
    return _from_reply(dialect.reply(asked), fields)


def _from_reply(reply: Reply, fields: list[tuple[str, str]]) -> Answer:
    return Answer(reply.media_type, reply.pieces, reply.streamed, reply.failure, fields=tuple(fields))


def _plain(value: Any, status: int, fields: list[tuple[str, str]]) -> Answer:
    return Answer("application/json", (compact(value),), status=status, fields=tuple(fields))


def _problem(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"type": kind, "message": message}}


def _missing(question: Question, fields: list[tuple[str, str]]) -> Answer:
    return _plain(_problem("not_found_error", f"no route {question.method} {question.path}"), 404, fields)


def _error(path: str, status: int) -> dict[str, Any]:
    message = f"scripted {status}"
    dialect = _dialect(path)
    return _problem("scripted_error", message) if dialect is None else dialect.error(status, message)


def _dialect(path: str) -> Dialect | None:
    return next((entry for entry in DIALECTS if entry.matches(path)), None)


def _json_of(request: Received) -> Any:
    coding = request.get("content-encoding", "identity").lower()
    try:
        return json.loads(encoding.decode(request.body, coding)) if request.body else None
    except ValueError:
        return None
