"""What kind of content a result is: a diff, JSON, a file of a known kind, or plain text."""

import re
from pathlib import PurePosixPath

import msgspec

from blackbox.events import calls, tools
from blackbox.events.tools import Access

PLAIN = "text/plain"

_DIFF = re.compile(r"(?:diff --git |Index: |--- \S.*\n\+\+\+ \S)")
#: Text alone: what a tool returns as a result has been decoded. Not the system's table, so that logs compare.
_BY_SUFFIX = {
    **dict.fromkeys((".c", ".h"), "text/x-c"),
    **dict.fromkeys((".cc", ".cpp", ".hpp"), "text/x-c++"),
    **dict.fromkeys((".htm", ".html"), "text/html"),
    **dict.fromkeys((".cjs", ".js", ".mjs"), "text/javascript"),
    **dict.fromkeys((".md", ".markdown"), "text/markdown"),
    **dict.fromkeys((".diff", ".patch"), "text/x-diff"),
    **dict.fromkeys((".bash", ".sh"), "text/x-shellscript"),
    **dict.fromkeys((".yaml", ".yml"), "application/yaml"),
    ".css": "text/css",
    ".csv": "text/csv",
    ".go": "text/x-go",
    ".java": "text/x-java",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".py": "text/x-python",
    ".rb": "text/x-ruby",
    ".rs": "text/x-rust",
    ".sql": "application/sql",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".ts": "text/x-typescript",
    ".xml": "application/xml",
}


def media_type(content: str, event: object) -> str:
    """The media type of what came back from a call."""
    if _DIFF.match(content):
        return "text/x-diff"
    if isinstance(event, calls.ToolCall) and tools.access_of(event.name) is Access.READ:
        named = _BY_SUFFIX.get(PurePosixPath(_path(event.arguments)).suffix.lower())
        if named is not None:
            return named
    return "application/json" if _is_json(content) else PLAIN


def _path(arguments: calls.Arguments) -> str:
    """The file that was read; none if there were several."""
    found = tools.paths_in(arguments.keyword) or list(tools.paths_of(next(iter(arguments.positional), ())))
    return found[0] if len(found) == 1 else ""


def _is_json(content: str) -> bool:
    if content.lstrip()[:1] not in ("{", "["):
        return False
    try:
        msgspec.json.decode(content, type=dict | list)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True
