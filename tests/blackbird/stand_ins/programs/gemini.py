"""A stand-in for Gemini CLI: streamed content, no id of a session anywhere, no second try after a cut."""

import json
import os
from typing import Any

from tests.blackbird.stand_ins.programs.repair import PROMPT, Call, Turn, schema, work
from tests.blackbird.stand_ins.programs.wire import Line, Seen, persist

_PATH = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
_TOOLS = {
    "functionDeclarations": [
        {"name": "read_file", "parametersJsonSchema": schema("file_path")},
        {"name": "run_shell_command", "parametersJsonSchema": schema("command")},
        {"name": "replace", "parametersJsonSchema": schema("file_path", "old_string", "new_string")},
    ]
}


class Gemini:
    """One conversation."""

    def __init__(self) -> None:
        base = os.environ.get("GOOGLE_GEMINI_BASE_URL") or "https://generativelanguage.googleapis.com"
        self._line = Line(base.rstrip("/"), "NODE_EXTRA_CA_CERTS")
        self._fields = {
            "accept": "*/*",
            "accept-encoding": "gzip, deflate",
            "content-type": "application/json",
            "user-agent": "GeminiCLI/0.61.0/gemini-2.5-flash (linux; x64; terminal)",
            "x-gemini-api-privileged-user-id": "installation",
            "x-goog-api-key": os.environ["GEMINI_API_KEY"],
        }
        self._contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": PROMPT}]}]

    def ask(self, number: int) -> Turn:
        """The next turn. Calls come without ids, and the client makes some up."""
        body = {"contents": self._contents, "tools": [_TOOLS], "generationConfig": {"temperature": 0}}
        sent = json.dumps(body).encode()

        def attempt(_: bool) -> Seen:
            return self._line.post(f"turn {number}", _PATH, self._fields, sent)

        events = persist(attempt, survives_a_cut=False).events()
        parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
        text = "".join(part["text"] for part in parts if "text" in part)
        asked = [part["functionCall"] for part in parts if "functionCall" in part]
        calls = [Call(f"{call['name']}_{number}_{at}", call["name"], call["args"]) for at, call in enumerate(asked)]
        return Turn(text, calls)

    def report(self, turn: Turn, results: list[tuple[Call, str]]) -> None:
        called = [{"id": call.id, "name": call.name, "args": call.arguments} for call in turn.calls]
        said = [{"text": turn.text}, *({"functionCall": call} for call in called)]
        given = [{"id": call.id, "name": call.name, "response": {"output": text}} for call, text in results]
        self._contents.append({"role": "model", "parts": said})
        self._contents.append({"role": "user", "parts": [{"functionResponse": result} for result in given]})


def main(_: list[str]) -> int:
    gemini = Gemini()
    return work(gemini.ask, gemini.report)
