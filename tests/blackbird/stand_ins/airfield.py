"""Stand-ins sent on their way, with a recorder or without, and what is left of each flight for comparison."""

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from blackbird.demo.workshop import PLANTED, Workshop
from blackbird.provider import Provider, Received, encoding
from blackbird.provider.routes import ACCOUNT
from tests.blackbird.launch.cockpit import BLACKBIRD, Cockpit
from tests.blackbird.stand_ins.programs import claude, wire
from tests.recorder.trace_view import Exchange

_ROOT = Path(__file__).parents[3]
_PROGRAM = """#!{python}
import sys
sys.path.insert(0, {root!r})
from tests.blackbird.stand_ins.programs import {name}
sys.exit({name}.main(sys.argv[1:]))
"""
#: What looks like a key and is none; the recorder's home must have none of them.
SECRETS = {
    "ANTHROPIC_API_KEY": "sk-ant-api03-" + "3Kd8sQ0aPz71" * 4,
    "OPENAI_API_KEY": "sk-proj-" + "9fTz27LmQa4x" * 4,
    "CODEX_API_KEY": "sk-proj-" + "Wq51bNc08Rty" * 4,
    "GEMINI_API_KEY": "AIzaSy" + "D4m7Kx92Lp0Tq8Vw3Zr6Bn1Hc5Jf" + "ABCDE",
}
TOKEN = "eyJhbGciOiJub25lIn0." + "eyJzdWIiOiJub2JvZHkifQ" * 2 + ".c2lnbmF0dXJlLW9mLW5vYm9keQ"
#: What stands in the trace in place of secrets that are in bodies.
_MASKED = {b"[redacted:github_token]": PLANTED.encode(), b"[redacted:device_id]": claude.DEVICE.encode()}
#: Ids that a client or the provider makes up; the provider's follow from the whole request.
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\bses_[0-9a-f]{26}|\b(?:msg|req|toolu|call|fc|rs|resp|gen|chatcmpl)_[0-9a-f]{20}"
)


@dataclass(frozen=True)
class Client:
    """A stand-in, and how it is told of a base URL without a recorder: arguments and variables."""

    name: str
    upstream: str
    told: Callable[[str], tuple[list[str], dict[str, str]]]


def _as_argument(url: str) -> tuple[list[str], dict[str, str]]:
    return ["-c", f'openai_base_url="{url}/v1"'], {}


def _as_account_argument(url: str) -> tuple[list[str], dict[str, str]]:
    return ["-c", f'openai_base_url="{url}/backend-api/codex"'], {}


def _as_content(url: str) -> tuple[list[str], dict[str, str]]:
    content = {"provider": {"openai": {"options": {"baseURL": f"{url}/v1"}}}}
    return [], {"OPENCODE_CONFIG_CONTENT": json.dumps(content)}


CLAUDE = Client("claude", "anthropic", lambda url: ([], {"ANTHROPIC_BASE_URL": url}))
CODEX = Client("codex", "openai", _as_argument)
CODEX_ACCOUNT = Client("codex", "chatgpt", _as_account_argument)
GEMINI = Client("gemini", "gemini", lambda url: ([], {"GOOGLE_GEMINI_BASE_URL": url}))
OPENCODE = Client("opencode", "openai", _as_content)


@dataclass
class Flight:
    """What came of it: for the user, for the client and for the provider."""

    exit_code: int
    stdout: str
    stderr: str
    repaired: str
    #: What the client was answered, in the order of what it asked for.
    seen: list[dict[str, Any]]
    received: list[Received]
    told: dict[str, Any] | None = None

    @property
    def answers(self) -> list[str]:
        """What was seen, but for ids."""
        return [settle(json.dumps(entry)) for entry in self.seen]

    @property
    def result(self) -> tuple[int, str, str]:
        return self.exit_code, self.stdout, self.repaired


class Airfield:
    """The stand-ins as programs of a user who has a recorder."""

    def __init__(self, cockpit: Cockpit) -> None:
        self.cockpit = cockpit
        for name in ("claude", "codex", "gemini", "opencode", "sdks"):
            cockpit.program(name, _PROGRAM.format(python=sys.executable, root=str(_ROOT), name=name))

    def sign_in(self, *, account: bool) -> None:
        """Whether the user of Codex has an account, or only a key."""
        path = self.cockpit.user / ".codex" / "auth.json"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        if account:
            path.write_text(json.dumps({"tokens": {"access_token": TOKEN, "account_id": ACCOUNT}}))

    def direct(self, client: Client, provider: Provider) -> Flight:
        """Without a recorder, straight to the provider."""
        words, variables = client.told(provider.url)
        return self.fly([client.name, *words, "exec"], variables, [provider])

    def through(self, client: Client, provider: Provider, *options: str) -> Flight:
        """The same by `blackbird run`."""
        upstream = ["--upstream", f"{client.upstream}={provider.url}"]
        own = upstream if provider is not self.cockpit.provider else []
        words = [str(BLACKBIRD), "run", "--json", *own, *options, "--", client.name, "exec"]
        return self.fly(words, {}, [provider])

    def fly(self, words: Sequence[str], variables: Mapping[str, str], providers: Sequence[Provider]) -> Flight:
        """Any command, with the files to be repaired before it."""
        Workshop(self.cockpit.work).furnish()
        notes = self.cockpit.folder / "notes"
        notes.unlink(missing_ok=True)
        before = [len(provider.received) for provider in providers]
        environ = {**SECRETS, **variables, wire.NOTES: str(notes)}
        done = self.cockpit.direct(*words, environ=environ)
        lines = notes.read_text().splitlines() if notes.exists() else []
        stderr = done.stderr.decode()
        return Flight(
            done.returncode,
            done.stdout.decode(),
            stderr,
            (self.cockpit.work / "calc.py").read_text(),
            sorted(map(json.loads, lines), key=lambda entry: entry["what"]),
            [request for at, provider in enumerate(providers) for request in provider.received[before[at] :]],
            json.loads(stderr.splitlines()[-1]) if words[0] == str(BLACKBIRD) else None,
        )

    def exchanges(self, flight: Flight) -> list[Exchange]:
        """What was recorded of a flight."""
        assert flight.told is not None
        return self.cockpit.exchanges(flight.told["run"])

    def session(self, flight: Flight) -> dict[str, Any]:
        """The session of a flight as it is shown."""
        assert flight.told is not None
        done = self.cockpit.direct(str(BLACKBIRD), "session", "show", flight.told["session"], "--json")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def leaks(self) -> list[tuple[str, str]]:
        """The files of the recorder that hold a secret."""
        secrets = [*SECRETS.values(), TOKEN, PLANTED, claude.DEVICE]
        files = [path for path in self.cockpit.home.path.rglob("*") if path.is_file()]
        found = [(path, data) for path in files for data in (path.read_bytes(),)]
        return [(path.name, secret) for path, data in found for secret in secrets if secret.encode() in data]


def settle(text: str) -> str:
    """A text in which ids are numbered in their order, so that it tells the same of any flight."""
    names: dict[str, str] = {}
    return _ID.sub(lambda found: names.setdefault(found[0], f"‹{len(names)}›"), text)


#: The host is another by nature, the key of a WebSocket random, and with its ids a packed body has another length.
_OF_ONE_CONNECTION = ("host", "sec-websocket-key")
_OF_ONE_PACKING = (*_OF_ONE_CONNECTION, "content-length")


def requests(flight: Flight) -> list[tuple[str, str, list[str], str]]:
    """What the provider saw, but for host and ids; what has no tools may run beside the rest, and comes last."""
    said = [(request, b"\n".join(sent(request)).decode()) for request in flight.received]
    found = []
    for request, body in sorted(said, key=lambda entry: '"tools"' not in entry[1]):
        method, target, _ = request.request_line
        left_out = _OF_ONE_PACKING if request.get("content-encoding") else _OF_ONE_CONNECTION
        fields = [f"{name}: {value}" for name, value in request.fields if name.lower() not in left_out]
        settled = settle("\n".join([target, *fields, body])).split("\n", len(fields) + 1)
        found.append((method, settled[0], settled[1:-1], settled[-1]))
    return found


def sent(request: Received) -> list[bytes]:
    """The body of a request without its coding, and the messages of a WebSocket."""
    return [encoding.decode(request.body, request.get("content-encoding", "identity")), *request.messages]


def kept(exchange: Exchange) -> list[bytes]:
    """The same as it was recorded, with the secrets in their places again."""
    found = [exchange.request, *exchange.sent_by("client")]
    for mask, secret in _MASKED.items():
        found = [part.replace(mask, secret) for part in found]
    return found
