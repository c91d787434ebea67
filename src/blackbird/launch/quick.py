"""The arguments of `run`, read without the machinery of the other commands; what is not plain is left to that."""

from typing import Any

from blackbird.launch.orders import Words

_TEXTS = {"--session": "session", "--task": "task", "--describe": "describe", "--goal": "goal"}
_FLAGS = {
    "--forward": "forward",
    "--reverse": "reverse",
    "--no-hooks": "no_hooks",
    "--no-pack": "no_pack",
    "--no-mcp": "no_mcp",
    "--dry-run": "dry_run",
    "--quiet": "quiet",
    "-q": "quiet",
    "--json": "as_json",
}
_UPSTREAM = "--upstream"


def read(arguments: list[str]) -> Words | None:
    """What the arguments say, or nothing: then they are to be read, or refused, the long way."""
    given: dict[str, Any] = {}
    upstreams: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        if word in _FLAGS:
            given[_FLAGS[word]] = True
        elif rest and word in _TEXTS:
            given[_TEXTS[word]] = rest.pop(0)
        elif rest and word == _UPSTREAM:
            upstreams.append(rest.pop(0))
        else:
            return None
    return Words(rest, upstream=upstreams, **given) if rest else None
