"""A stand-in for Codex: Responses, over a WebSocket or else by HTTP, and a sub-agent with a thread of its own."""

import json
import os
import tomllib
import uuid
from pathlib import Path
from typing import Any

import zstandard

from tests.blackbird.stand_ins.programs.codex_socket import Socket, upgrade
from tests.blackbird.stand_ins.programs.repair import PROMPT, Call, Turn, schema, tell, work
from tests.blackbird.stand_ins.programs.wire import Line, Seen, persist

_TRUST = "CODEX_CA_CERTIFICATE"
_ATTEMPTS = 4
_TOOL = {"type": "function", "name": "exec_command", "strict": False, "parameters": schema("cmd")}


class Login:
    """A key of the environment, or an account whose tokens are in a file; each has a host of its own."""

    def __init__(self, words: list[str]) -> None:
        self.is_account = (Path.home() / ".codex" / "auth.json").exists()
        usual = "https://chatgpt.com/backend-api/codex" if self.is_account else "https://api.openai.com/v1"
        given = tomllib.loads("\n".join(words[at + 1] for at, word in enumerate(words) if word == "-c"))
        self.base: str = given.get("openai_base_url", usual)
        if self.is_account:
            tokens = json.loads((Path.home() / ".codex" / "auth.json").read_text())["tokens"]
            bearer = tokens["access_token"]
            account = {"chatgpt-account-id": tokens["account_id"]}
        else:
            bearer, account = os.environ["CODEX_API_KEY"], {}
        self.fields = {"authorization": f"Bearer {bearer}", **account}


class Thread:
    """The user's thread of a session, or a sub-agent's below it."""

    def __init__(self, login: Login, session: str, parent: str | None = None) -> None:
        self._login, self._session = login, session
        self._id = session if parent is None else str(uuid.uuid4())
        told = {"session_id": session, "thread_id": self._id, "turn_id": str(uuid.uuid4()), "request_kind": "turn"}
        below: dict[str, str] = {}
        if parent is not None:
            told |= {"parent_thread_id": parent, "subagent_kind": "thread_spawn"}
            below = {"x-codex-parent-thread-id": parent, "x-openai-subagent": "collab_spawn"}
        self._fields = {
            **login.fields,
            "user-agent": "codex_exec/0.166.0 (Debian 12.0.0; x86_64) unknown",
            "originator": "codex_exec",
            "session-id": session,
            "thread-id": self._id,
            "x-client-request-id": self._id,
            "x-codex-turn-metadata": json.dumps(told),
            **below,
        }
        self._tools = [_TOOL] if parent is None else []
        said = PROMPT if parent is None else "Name the fault in calc.py."
        self._input: list[dict[str, Any]] = [{"type": "message", "role": "user", "content": said}]
        self._new: list[dict[str, Any]] = []
        self._socket: Socket | None = None
        self._declined = False
        self._last = ""

    def ask(self, number: int) -> Turn:
        """The next turn; a sub-agent is asked after the first."""
        if number == 2:
            below = Thread(self._login, self._session, self._id)
            tell(f"sub-agent: {below.ask(1).text}")
            below.close()
        what = f"turn {number} of {'the' if self._tools else 'another'} thread"
        output = self._by_socket(what) or self._by_http(what)
        text = "".join(part["text"] for item in output if item["type"] == "message" for part in item["content"])
        asked = [item for item in output if item["type"] == "function_call"]
        calls = [Call(item["call_id"], item["name"], json.loads(item["arguments"])) for item in asked]
        return Turn(text, calls, output)

    def _body(self) -> dict[str, Any]:
        return {
            "model": "gpt-5.5",
            "instructions": "You are Codex.",
            "input": self._input,
            "tools": self._tools,
            "store": False,
            "stream": True,
            "prompt_cache_key": self._id,
        }

    def _by_http(self, what: str) -> list[dict[str, Any]]:
        sent = json.dumps(self._body()).encode()
        fields = {**self._fields, "accept": "text/event-stream", "content-type": "application/json"}
        if self._login.is_account:
            sent = zstandard.ZstdCompressor().compress(sent)
            fields["content-encoding"] = "zstd"

        def attempt(_: bool) -> Seen:
            return Line(self._login.base, _TRUST).post(what, "/responses", fields, sent)

        output: list[dict[str, Any]] = persist(attempt).events()[-1]["response"]["output"]
        return output

    def _by_socket(self, what: str) -> list[dict[str, Any]]:
        """Each time only what is new since the last response; nothing if there is no WebSocket to be had."""
        for _ in range(_ATTEMPTS):
            if self._declined or not (self._socket or self._open(what)):
                return []
            assert self._socket is not None
            asked = {**self._body(), "previous_response_id": self._last, "input": self._new}
            response = self._socket.create(what, asked)
            if response is not None:
                self._last = response["id"]
                output: list[dict[str, Any]] = response["output"]
                return output
            if not self._socket.is_open:
                self._socket = None
        raise SystemExit(f"no answer in {_ATTEMPTS} attempts")

    def _open(self, what: str) -> bool:
        """A new WebSocket, warmed up; on it all is new."""
        self._socket = upgrade(self._login.base, _TRUST, self._fields)
        self._declined = self._socket is None
        if self._socket is None:
            return False
        warm = self._socket.create(f"{what}, warm-up", {**self._body(), "generate": False, "input": []})
        self._last, self._new = warm["id"], list(self._input)
        return True

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        given = [{"type": "function_call_output", "call_id": call.id, "output": text} for call, text in results]
        self._input += [*turn.content, *given]
        self._new = given

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def main(words: list[str]) -> int:
    if "--version" in words:
        tell("codex-cli 0.166.0")
        return 0
    thread = Thread(Login(words), str(uuid.uuid4()))
    code = work(thread.ask, thread.report)
    thread.close()
    return code
