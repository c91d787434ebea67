"""Base URLs: what a user had set, taken apart into an upstream and what a client puts behind it."""

from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

_PORTS = {"http": 80, "https": 443}
#: Addresses to listen on that are none to connect to.
ANY = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "[::1]"}  # noqa: S104 - compared with, not bound
_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})


class Target(NamedTuple):
    """Where an upstream is, and what of the base URL belongs behind its name."""

    url: str
    path: str


def connectable(listen: str) -> str:
    """The URL by which a recorder that listens there is reached from here."""
    host, _, port = listen.rpartition(":")
    return f"http://{ANY.get(host, host)}:{port}"


def take_apart(text: str, path: str, port: int | None) -> Target:
    """A base URL as an upstream and a path behind it: the usual one if the URL ends with it, else none."""
    url = complete(text, port)
    if path and url.endswith(path):
        return Target(url.removesuffix(path), path)
    return Target(url, "")


def complete(text: str, port: int | None) -> str:
    """A URL with its scheme, host and port; some variables may hold a host, a port or `:port` alone."""
    url = text.strip().rstrip("/")
    if "://" in url:
        return url
    parts = _split(f"//{url}")
    host = parts.hostname or "127.0.0.1"
    host = ANY.get(host, host)
    spelled = f"[{host}]" if ":" in host else host
    chosen = _port(parts) or port
    return f"http://{spelled}" + (f":{chosen}" if chosen else "") + parts.path


def leads_to(url: str, address: str) -> bool:
    """Whether a base URL points at the recorder itself, under any name of this machine."""
    there, here = _split(url), _split(address)
    if _port(there) != _port(here) or there.hostname is None:
        return False
    names = {ANY.get(each.hostname or "", each.hostname or "") for each in (there, here)}
    return len(names) == 1 or names <= _LOCAL


def host_of(url: str) -> str:
    """The host of a URL, for people; never its user or password."""
    parts = _split(url)
    port = _port(parts)
    usual = port is None or port == _PORTS.get(parts.scheme)
    return (parts.hostname or url) + ("" if usual else f":{port}")


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
