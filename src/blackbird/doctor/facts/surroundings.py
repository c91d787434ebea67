"""What the user's variables and agents' own settings say of base URLs, proxies and how long logs are kept."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from blackbird.doctor.facts.logs import client_folder
from blackbird.doctor.native import Client

BASE_URLS = (
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "GOOGLE_GEMINI_BASE_URL",
    "GEMINI_BASE_URL",
    "OLLAMA_HOST",
    "OLLAMA_API_BASE",
    "LM_STUDIO_API_BASE",
    "COPILOT_PROVIDER_BASE_URL",
)
PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
_LONGEST_FILE = 4 << 20


class Pointer(msgspec.Struct, frozen=True):
    """A base URL or a proxy that somebody set: where, under which name, and to which host; never the whole URL."""

    place: str
    name: str
    host: str


class Retention(msgspec.Struct, frozen=True):
    """How long an agent keeps its own logs, as it was set; `is_default` if nobody set it."""

    client: Client
    text: str
    file: str
    is_default: bool = False
    is_off: bool = False


class Surroundings(msgspec.Struct, frozen=True):
    """Everything around the recorder that could lead past it."""

    variables: list[Pointer] = []
    settings: list[Pointer] = []
    proxies: list[Pointer] = []
    retentions: list[Retention] = []
    unreadable: list[str] = []


def gather(environ: Mapping[str, str], user_home: Path, folder: Path) -> Surroundings:
    """What is set now, for agents that are started in a folder."""
    unreadable: list[str] = []
    claude = client_folder(Client.CLAUDE, environ, user_home) / "settings.json"
    codex = client_folder(Client.CODEX, environ, user_home) / "config.toml"
    gemini = client_folder(Client.GEMINI, environ, user_home) / "settings.json"
    settings = _json(claude, unreadable)
    project = [folder / ".claude" / name for name in ("settings.local.json", "settings.json")]
    own = [(_json(path, unreadable), path) for path in project if path != claude]
    table = _toml(codex, unreadable)
    return Surroundings(
        variables=[_pointer("the environment", name, environ[name]) for name in BASE_URLS if environ.get(name)],
        settings=[
            *(
                pointer
                for content, path in [*own, (settings, claude)]
                for pointer in _claude_pointers(content, str(path))
            ),
            *_codex_pointers(table, str(codex)),
        ],
        proxies=[_pointer("the environment", name, environ[name]) for name in PROXIES if environ.get(name)],
        retentions=[
            *_claude_retention(settings, claude),
            *_codex_retention(table, codex),
            *_gemini_retention(_json(gemini, unreadable), gemini),
        ],
        unreadable=unreadable,
    )


def host_of(url: str) -> str:
    """Host and port of a URL, without user, password and path; a URL that is none is not shown at all."""
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        port = parts.port
    except ValueError:
        return "something that is no URL"
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return (f"{shown}:{port}" if port is not None else shown) or "something that is no URL"


def _pointer(place: str, name: str, url: str) -> Pointer:
    return Pointer(place, name, host_of(url))


def _claude_pointers(settings: dict[str, Any], file: str) -> Iterator[Pointer]:
    variables = settings.get("env")
    for name, value in variables.items() if isinstance(variables, dict) else ():
        if name in (*BASE_URLS, *PROXIES) and isinstance(value, str) and value:
            yield _pointer(file, f"env.{name}", value)


def _codex_pointers(table: dict[str, Any], file: str) -> Iterator[Pointer]:
    for key in ("openai_base_url", "chatgpt_base_url"):
        if isinstance(table.get(key), str):
            yield _pointer(file, key, table[key])
    providers = table.get("model_providers")
    for name, provider in providers.items() if isinstance(providers, dict) else ():
        url = provider.get("base_url") if isinstance(provider, dict) else None
        if isinstance(url, str):
            yield _pointer(file, f"model_providers.{name}.base_url", url)


def _claude_retention(settings: dict[str, Any], file: Path) -> Iterator[Retention]:
    if not file.parent.is_dir():
        return
    days = settings.get("cleanupPeriodDays")
    if isinstance(days, int) and not isinstance(days, bool):
        yield Retention(Client.CLAUDE, f"{days} days", str(file), is_off=days >= 3650)
    else:
        yield Retention(Client.CLAUDE, "30 days", str(file), is_default=True)


def _gemini_retention(settings: dict[str, Any], file: Path) -> Iterator[Retention]:
    if not file.parent.is_dir():
        return
    general = settings.get("general")
    chosen = general.get("sessionRetention") if isinstance(general, dict) else None
    given = chosen if isinstance(chosen, dict) else {}
    age, count = given.get("maxAge"), given.get("maxCount")
    limits = [str(age)] if isinstance(age, str) else []
    limits += [f"{count} sessions"] if isinstance(count, int) and not isinstance(count, bool) else []
    text = " or ".join(limits) or "30d"
    yield Retention(Client.GEMINI, text, str(file), is_default=not given, is_off=given.get("enabled") is False)


def _codex_retention(table: dict[str, Any], file: Path) -> Iterator[Retention]:
    history = table.get("history")
    if isinstance(history, dict) and history.get("persistence") == "none":
        yield Retention(Client.CODEX, "none at all", str(file))


def _json(path: Path, unreadable: list[str]) -> dict[str, Any]:
    text = _read(path, unreadable)
    try:
        value = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        unreadable.append(f"{path} is no JSON: {error}")
        return {}
    return value if isinstance(value, dict) else {}


def _toml(path: Path, unreadable: list[str]) -> dict[str, Any]:
    try:
        return tomllib.loads(_read(path, unreadable).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        unreadable.append(f"{path} is no TOML")
        return {}


def _read(path: Path, unreadable: list[str]) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            data = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        unreadable.append(f"{path}: {error.strerror or error}")
        return b""
    if len(data) > _LONGEST_FILE:
        unreadable.append(f"{path} is longer than any settings are")
        return b""
    return data
