"""What a setting may be, by its type. What it may not is a ValueError that completes `the value …`."""

import ipaddress
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from blackbird.config import units
from blackbird.config.settings import Kind, Setting

_TOKEN = re.compile(r"[A-Za-z0-9._~-]{16,256}")
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\]")
_ADDRESS = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):([0-9]{1,5})")
_PORTS = 1 << 16
_LISTS = frozenset({"hosts", "origins", "words"})


def check(setting: Setting, value: Any) -> Any:
    """The value as the program uses it: sizes in bytes, times in milliseconds, addresses and URLs in one spelling."""
    checked = _CHECKS[setting.type](value)
    if setting.type == "choice" and checked not in setting.choices:
        raise ValueError(f"is none of {', '.join(setting.choices)}")
    least, most = _bound(setting, setting.least), _bound(setting, setting.most)
    if (least is not None and checked < least) or (most is not None and checked > most):
        raise ValueError(f"is not between {setting.least} and {setting.most}")
    return checked


def read_text(setting: Setting, text: str) -> Any:
    """What a file would have in place of the text of a variable or an option."""
    if setting.type in ("patterns", "tables"):
        raise ValueError("cannot be told in a word; set it in a file")
    if setting.type in _LISTS:
        return [item.strip() for item in text.split(",") if item.strip()]
    if setting.type == "switch":
        if text not in ("true", "false"):
            raise ValueError("is neither true nor false")
        return text == "true"
    if setting.type == "count":
        if not re.fullmatch("-?[0-9]{1,18}", text):
            raise ValueError("is no whole number")
        return int(text)
    return text


def show(setting: Setting, value: Any) -> Any:
    """A checked value as a file would have it."""
    if value is None:
        return None
    if setting.type == "size":
        return units.show_size(value)
    if setting.type == "duration":
        return units.show_duration(value)
    return value


def is_loopback(address: str) -> bool:
    """Whether a checked address is one of this machine alone."""
    return ipaddress.ip_address(address.rpartition(":")[0].strip("[]")).is_loopback


def _bound(setting: Setting, bound: int | str | None) -> Any:
    return bound if not isinstance(bound, str) else _CHECKS[setting.type](bound)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("is no text; put it in quotes")  # noqa: TRY004 - callers tell one kind of error
    if not value or not value.isprintable():
        raise ValueError("is empty or has control characters")
    return value


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("is neither true nor false")  # noqa: TRY004 - as above
    return value


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("is no whole number")  # noqa: TRY004 - as above
    return value


def _size(value: Any) -> int:
    return units.parse_size(_quantity(value, "32 MiB"))


def _duration(value: Any) -> int:
    return units.parse_duration(_quantity(value, "20 ms"))


def _quantity(value: Any, example: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f'has no unit; write it as in "{example}"')  # noqa: TRY004 - as above
    return value


def _token(value: Any) -> str:
    if not isinstance(value, str) or not _TOKEN.fullmatch(value):
        raise ValueError("is not 16 to 256 characters of A-Z a-z 0-9 . _ ~ -")
    return value


def _path(value: Any) -> str:
    path = Path(_text(value)).expanduser()
    if not path.is_absolute():
        raise ValueError("is no absolute path; begin it with / or ~")
    return str(path)


def _address(value: Any) -> str:
    match = _ADDRESS.fullmatch(_text(value))
    try:
        host = ipaddress.ip_address((match[1] or match[2]).replace("localhost", "127.0.0.1")) if match else None
    except ValueError:
        host = None
    if match is None or host is None or int(match[3]) >= _PORTS:
        raise ValueError('is no address and port such as "127.0.0.1:4141" or "[::1]:4141"')
    return f"[{host}]:{int(match[3])}" if host.version == 6 else f"{host}:{int(match[3])}"


def _url(value: Any) -> str:
    text = _text(value)
    example = "https://api.example.com"
    try:
        parts = urlsplit(text)
        port_is_good = parts.port is None or parts.port > 0
    except ValueError:
        raise ValueError(f"is no URL such as {example}") from None
    if parts.scheme not in ("http", "https") or not port_is_good or not _HOST.fullmatch(_host_of(parts.netloc)):
        raise ValueError(f"is no URL such as {example}; it must begin with https:// or http://")
    if "?" in text or "#" in text or " " in text or not text.isascii():
        raise ValueError("is a URL with a query, a fragment, a space or characters beyond ASCII")
    return text.rstrip("/")


def _host_of(netloc: str) -> str:
    if "@" in netloc:
        raise ValueError("is a URL with a user or a password; keys belong to the clients, which send them along")
    return re.sub(":[0-9]*$", "", netloc)


def _host(value: Any) -> str:
    if not isinstance(value, str) or not _HOST.fullmatch(value):
        raise ValueError("has an entry that is no host name; leave out scheme and port")
    return value.lower()


def _origin(value: Any) -> str:
    try:
        parts = urlsplit(_url(value))
    except ValueError:
        parts = None
    if parts is None or parts.path:
        raise ValueError("has an entry that is no origin such as https://app.example.com")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValueError("is no list of tables; write [[redaction.rule]] above each rule")
    return value


def _list_of(item: Callable[[Any], str]) -> Callable[[Any], list[str]]:
    def convert(value: Any) -> list[str]:
        if not isinstance(value, list):
            raise ValueError('is no list; write it as in ["one", "two"]')  # noqa: TRY004 - as above
        return [item(entry) for entry in value]

    return convert


_CHECKS: dict[Kind, Callable[[Any], Any]] = {
    "address": _address,
    "choice": _text,
    "count": _count,
    "duration": _duration,
    "hosts": _list_of(_host),
    "origins": _list_of(_origin),
    "path": _path,
    "patterns": _list_of(_text),
    "size": _size,
    "switch": _switch,
    "tables": _tables,
    "text": _text,
    "token": _token,
    "url": _url,
    "words": _list_of(_text),
}
