"""The cases of cases.toml: how each client is driven through the repair."""

import base64
import functools
import json
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from blackbird.provider.routes import ACCOUNT

HERE = Path(__file__).resolve().parents[1]
#: The variable that names the folder of the test world; set only inside it.
INSIDE = "BLACKBIRD_TEST_WORLD"
PROMPT = "Make the test in test_calc.py pass."
#: What is said to a client that is started again.
MORE = "Say once more what you did."
#: Looks like the key of a provider, is none, and must be nowhere in a recording.
KEY = "sk-ant-" + "api03-notakey0123456789" + "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Case:
    """A client and how it is driven."""

    name: str
    title: str
    agent: str
    package: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    logs: tuple[str, ...] = ()
    manner: Mapping[str, str] = field(default_factory=dict)
    websocket: str = "relay"
    differs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)
    unfit: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    step: int = 2
    streams: bool = True
    overload: int = 500
    gives_up: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    views: Mapping[str, Mapping[str, Any]] | None = None

    def allowed(self, way: str) -> Mapping[str, str]:
        """What a way is known to change, by the part of the verdict, and why."""
        return self.differs.get(way, {})

    @staticmethod
    def fill(text: str, names: Mapping[str, object]) -> str:
        """A text with the folders and the rest in place of their names."""
        for name, value in names.items():
            text = text.replace("{" + name + "}", str(value))
        return text


@functools.cache
def login() -> str:
    """A token as a ChatGPT login has it, unsigned, for the account that the scripted provider knows."""
    about = {"chatgpt_plan_type": "plus", "chatgpt_account_id": ACCOUNT, "chatgpt_user_id": "user-1"}
    claims = {"exp": int(time.time()) + 864000, "email": "a@example.org", "https://api.openai.com/auth": about}
    parts = (json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims))
    return ".".join((*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), "c2ln"))


def cases() -> dict[str, Case]:
    """Every case, by its name."""
    tables = tomllib.loads((HERE / "cases.toml").read_text(encoding="utf-8"))
    return {name: Case(name, **table) for name, table in tables.items()}
