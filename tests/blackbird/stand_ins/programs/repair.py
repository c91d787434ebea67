"""The job of every stand-in: ask the model, do with its tools what it says, tell of it, until it calls for none."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROMPT = "Make the test of calc.py pass."
_TEXT = {"type": "string"}
_MOST_TURNS = 9


@dataclass
class Call:
    """A tool call in nobody's words."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass
class Turn:
    """What the model said; `content` is what goes into the history, in the words of the dialect."""

    text: str
    calls: list[Call] = field(default_factory=list)
    content: Any = None


def schema(*names: str) -> dict[str, Any]:
    """The arguments of a tool: texts of these names."""
    return {"type": "object", "properties": dict.fromkeys(names, _TEXT), "required": list(names)}


def tell(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def work(ask: Callable[[int], Turn], report: Callable[[Turn, list[tuple[Call, str]]], None]) -> int:
    """Ask and do in turn; the history is kept by `report`, which is given each turn with the results of its calls."""
    for number in range(1, _MOST_TURNS):
        turn = ask(number)
        tell(turn.text)
        if not turn.calls:
            return 0
        results = [(call, use(call.arguments)) for call in turn.calls]
        for call, result in results:
            tell(f"  {call.name} {json.dumps(call.arguments)} → {result.rstrip().rpartition(chr(10))[2]}")
        report(turn, results)
    return 1


def use(arguments: Mapping[str, Any]) -> str:
    """Do what a call asks for, whatever the client calls the arguments."""
    values = {name.lower().replace("_", ""): value for name, value in arguments.items()}
    command = values.get("command") or values.get("cmd")
    if command is not None:
        return _run(command)
    path = Path(values.get("path") or values.get("filepath") or "")
    text = path.read_text(encoding="utf-8")
    if "oldstring" not in values:
        return text
    path.write_text(text.replace(values["oldstring"], values["newstring"]), encoding="utf-8")
    return f"{path} was changed"


def _run(command: str) -> str:
    """What a command says, but for how long it took and in which folder."""
    words = re.sub("^python3 ", f"{sys.executable} -B ", command)
    done = subprocess.run(["sh", "-c", words], capture_output=True, text=True, timeout=60, check=False)
    said = re.sub(r"in \d+\.\d+s", "in 0.000s", done.stdout + done.stderr).replace(str(Path.cwd()), ".")
    return f"exit code {done.returncode}\n{said}"
