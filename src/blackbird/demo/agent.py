"""A scripted agent: asks the model, uses the tools it is told to use, and asks again until the job is done."""

import http.client
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from blackbird.demo.messages import Message, assemble
from blackbird.demo.workshop import TOOLS, Workshop
from blackbird.doors import schema
from blackbird.doors.dispatch import Dispatcher
from blackbird.errors import RecorderFailed

#: Looks like a key, is none: the trace must not have it.
API_KEY = "sk-ant-api03-" + "0123456789abcdef" * 3
_RETRIED = (429, 500, 502, 503, 529)
_ATTEMPTS = 3
_MOST_TURNS = 12
_SECONDS = 60


class Agent:
    """Works in a workshop, over a base URL; tells what it does one line at a time.

    `pack` is what it is told of the tasks before; `memory` answers calls of the memory's tools.
    """

    def __init__(
        self,
        base_url: str,
        workshop: Workshop,
        tell: Callable[[str], None],
        *,
        pack: str = "",
        memory: Dispatcher | None = None,
    ) -> None:
        self._url = urlsplit(base_url)
        self._workshop = workshop
        self._tell = tell
        self._pack = pack
        self._memory = memory
        self._messages: list[dict[str, Any]] = []
        self.requests = 0

    def work(self, task: str) -> str:
        """Do a task; the model's last words."""
        self._messages = [{"role": "user", "content": task}]
        for _ in range(_MOST_TURNS):
            message = self._ask()
            self._tell(message.text.split("\n")[0])
            if not message.calls:
                return message.text
            self._messages.append({"role": "assistant", "content": message.content})
            self._messages.append({"role": "user", "content": [self._use(call) for call in message.calls]})
        raise RecorderFailed(f"the agent was not done after {_MOST_TURNS} turns", "run the demo again")

    def _use(self, call: dict[str, Any]) -> dict[str, Any]:
        if self._memory is not None and schema.find(call["name"]) is not None:
            result = self._memory.call(call["name"], call["input"]).text
        else:
            result = self._workshop.use(call["name"], call["input"])
        shown = " ".join(str(value) for value in call["input"].values()).split("\n")[0]
        self._tell(f"  {call['name']} {shown} → {_last_line(result)}")
        return {"type": "tool_result", "tool_use_id": call["id"], "content": result}

    def _ask(self) -> Message:
        body = json.dumps(
            {
                "model": "scripted-1",
                "max_tokens": 1024,
                "stream": True,
                **({"system": self._pack} if self._pack else {}),
                "tools": [*TOOLS, *(_offered() if self._memory is not None else ())],
                "messages": self._messages,
            }
        )
        for _ in range(_ATTEMPTS):
            answer = self._post(body)
            if isinstance(answer, Message):
                return answer
            self._tell(f"  the provider is busy; asking again in {answer} s")
            time.sleep(answer)
        raise RecorderFailed(f"the provider was busy {_ATTEMPTS} times", "run the demo again")

    def _post(self, body: str) -> Message | int:
        """The message, or how many seconds to wait before asking again."""
        self.requests += 1
        fields = {"content-type": "application/json", "x-api-key": API_KEY, "anthropic-version": "2023-06-01"}
        connection = http.client.HTTPConnection(self._url.hostname or "", self._url.port, timeout=_SECONDS)
        try:
            connection.request("POST", f"{self._url.path}/v1/messages", body, fields)
            with connection.getresponse() as response:
                if response.status in _RETRIED:
                    response.read()  # to leave before the end would be to hang up
                    return int(response.getheader("retry-after", "0"))
                if response.status != http.client.OK:
                    said = response.read().decode(errors="replace")
                    raise RecorderFailed(f"the model's answer was {response.status}: {said}", "run the demo again")
                return assemble(response)
        finally:
            connection.close()


def _offered() -> list[dict[str, Any]]:
    """The memory's tools in the words of this provider."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
        for tool in schema.BY_NAME.values()
    ]


def _last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[2].strip()
