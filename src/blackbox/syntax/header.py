"""The header: a YAML block whose scalars stay text and whose lines stay as they were written."""

import re
from collections.abc import Sequence

import msgspec
import yaml

from blackbox.syntax import values

FENCE = "---"
REQUIRED = ("format", "id", "repo_sha")
RECOMMENDED = ("runner", "sandbox_id", "branch")
LIST_FIELDS = ("skills", "mcp")
TOTAL_FIELDS = ("tokens_total_in", "tokens_total_out", "tokens_cached", "tokens_cache_create")
#: Above this a missing closing fence is assumed, so that a stream is never held back without bound.
MAX_LINES = 10_000
_MAX_DEPTH = 50
_MAX_NODES = 100_000
#: PyYAML reads about half a megabyte a second; no header comes near this.
_MAX_CHARACTERS = 1 << 18
#: YAML breaks lines at these too, a log at LF alone: they pass through YAML under other names.
_BREAKS = {"\r": "\ue00d", "\x85": "\ue085", "\u2028": "\ue028", "\u2029": "\ue029"}
_HIDE_BREAKS = str.maketrans(_BREAKS)
_SHOW_BREAKS = str.maketrans({hidden: shown for shown, hidden in _BREAKS.items()})

HeaderValue = str | list["HeaderValue"] | dict[str, "HeaderValue"]

_FORMAT = re.compile(r"([A-Za-z][\w-]*)/(\d+(?:\.\d+)*)")
_SIMPLE = re.compile(r"([A-Za-z_][\w.\-]*):(?: +([\w$/~.+][\w$/~.+@%=-]*(?: [\w$/~.+(][\w$/~.+@%=()-]*)*))? *\r?")
_LOOSE = re.compile(r"([A-Za-z_][\w.\-]*)[ \t]*:(?:[ \t](.*)|\r?)", re.DOTALL)


class Field(msgspec.Struct, frozen=True):
    """One top-level header field and where its key stands (line counts from 1, column from 0)."""

    key: str
    value: HeaderValue
    line: int
    column: int = 0


class Problem(msgspec.Struct, frozen=True):
    """What is wrong with the header's own syntax; `check` turns it into a finding."""

    name: str
    line: int
    message: str


class Header:
    """The header of a log. `sources` are its physical lines, both fences included, so that emitting is exact."""

    def __init__(self, sources: Sequence[str], *, first_line: int = 1, closed: bool = True) -> None:
        self.sources = tuple(sources)
        self.first_line = first_line
        self.closed = closed
        self.blank_lines_before: tuple[str, ...] = ()
        self.problems: list[Problem] = []
        self.items: list[Field] = self._read()
        self.fields: dict[str, HeaderValue] = {}
        first_lines: dict[str, int] = {}
        for field in self.items:
            first = first_lines.setdefault(field.key, field.line)
            if field.key in self.fields:
                message = f"the key `{field.key}` occurs twice, first in line {first}; the last one counts"
                self.problems.append(Problem("duplicate-key", field.line, message))
            self.fields[field.key] = field.value

    def __repr__(self) -> str:
        return f"Header({self.fields!r})"

    @property
    def last_line(self) -> int:
        """The number of the header's last physical line."""
        return self.first_line + len(self.sources) - 1

    def text(self, key: str) -> str | None:
        """A field's value if it is a plain scalar."""
        value = self.fields.get(key)
        return value if isinstance(value, str) else None

    def line_of(self, key: str) -> int:
        """The line a field stands on; the header's first line if it is not there."""
        return next((field.line for field in self.items if field.key == key), self.first_line)

    @property
    def format(self) -> str | None:
        """`bbox/1`, `rlog/1`."""
        return self.text("format")

    @property
    def format_name(self) -> str | None:
        """`bbox` or `rlog`; None if the format field is missing or has another shape."""
        match = _FORMAT.fullmatch(self.format or "")
        return match[1] if match else None

    @property
    def format_version(self) -> str | None:
        """The version behind the slash."""
        match = _FORMAT.fullmatch(self.format or "")
        return match[2] if match else None

    @property
    def id(self) -> str | None:
        """The session's id."""
        return self.text("id")

    @property
    def repo_sha(self) -> str | None:
        """The commit the session started from."""
        return self.text("repo_sha")

    @property
    def mode(self) -> str | None:
        """The mode the session starts in."""
        return self.text("mode")

    @property
    def model(self) -> str | None:
        """The session's model."""
        return self.text("model")

    @property
    def budget(self) -> str | None:
        """The budget as written; `values.money` reads it."""
        return self.text("budget")

    @property
    def duration(self) -> str | None:
        """The length of time allotted, as written; `values.duration` reads it."""
        return self.text("duration")

    @property
    def dirty(self) -> bool | None:
        """Whether the working copy had changes; None if the field is missing or neither true nor false."""
        return values.boolean(self.text("dirty"))

    @property
    def notes(self) -> str | None:
        """The session's note."""
        return self.text("notes")

    @property
    def totals(self) -> dict[str, int | None]:
        """The token totals of a converted session, by field; None where a value is no number."""
        return {key: values.integer(self.text(key)) for key in TOTAL_FIELDS if key in self.fields}

    @property
    def escaped(self) -> bool:
        """Whether the body uses the escape rule."""
        return self.text("escape") == "1"

    @property
    def extra(self) -> dict[str, HeaderValue]:
        """The `extra.*` fields, without their prefix."""
        return {key[6:]: value for key, value in self.fields.items() if key.startswith("extra.")}

    def _read(self) -> list[Field]:
        body = self.sources[1:-1] if self.closed else self.sources[1:]
        return self._read_simple(body) or self._read_yaml(body)

    def _read_simple(self, body: Sequence[str]) -> list[Field] | None:
        """Headers of plain `key: word` lines, read without the YAML parser (30 times as fast, same fields)."""
        fields: list[Field] = []
        for number, source in enumerate(body, self.first_line + 1):
            if not source.strip(" \r") or source.startswith("#"):
                continue
            match = _SIMPLE.fullmatch(source)
            if match is None:
                return None
            fields.append(Field(match[1], match[2] or "", number))
        return fields

    def _read_yaml(self, body: Sequence[str]) -> list[Field]:
        text = "\n".join(source.removesuffix("\r").translate(_HIDE_BREAKS) for source in body)
        try:
            if len(text) > _MAX_CHARACTERS:
                raise yaml.YAMLError(f"longer than {_MAX_CHARACTERS} characters")
            if _too_deep(text):
                raise yaml.YAMLError(f"nested more than {_MAX_DEPTH} levels")
            root = yaml.compose(text, Loader=yaml.BaseLoader)
            if root is None:
                return []
            if not isinstance(root, yaml.MappingNode):
                raise yaml.YAMLError("the header is not a list of `key: value` fields")
            plainer = _Plainer()
            return [
                Field(str(plainer.plain(key)), plainer.plain(value), self._line(key), key.start_mark.column)
                for key, value in root.value
            ]
        except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
            # PyYAML lets the last three through for numbers and nesting beyond its means.
            self.problems.append(Problem("yaml", self._error_line(error), _explain(error)))
            return self._read_loosely(body)

    def _read_loosely(self, body: Sequence[str]) -> list[Field]:
        """The fields that stand on lines of their own, for a header that is no valid YAML."""
        found = []
        for number, source in enumerate(body, self.first_line + 1):
            match = _LOOSE.fullmatch(source)
            if match is not None:
                found.append(Field(match[1], (match[2] or "").strip(" \t\r").strip("\"'"), number))
        return found

    def _line(self, node: yaml.Node) -> int:
        return self.first_line + 1 + int(node.start_mark.line)

    def _error_line(self, error: Exception) -> int:
        mark = getattr(error, "problem_mark", None)
        return self.first_line + 1 + (mark.line if mark else 0)


def _too_deep(text: str) -> bool:
    """Whether collections nest deeper than any header does: PyYAML recurses once or twice a level."""
    depth = deepest = 0
    for character in text:
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    dashes = max((len(line) - len(line.lstrip(" -?:")) for line in text.split("\n")), default=0)
    return deepest > _MAX_DEPTH or dashes > 2 * _MAX_DEPTH


class _Plainer:
    """YAML nodes as text, lists and dicts. Counts what aliases expand to, since they may expand without end."""

    def __init__(self) -> None:
        self.left = _MAX_NODES

    def plain(self, node: yaml.Node, depth: int = 0) -> HeaderValue:
        self.left -= 1
        if self.left < 0:
            raise yaml.YAMLError("aliases expand to too many values")
        if depth > _MAX_DEPTH:
            raise yaml.YAMLError(f"nested more than {_MAX_DEPTH} levels")
        if isinstance(node, yaml.MappingNode):
            pairs = ((self.plain(key, depth + 1), self.plain(value, depth + 1)) for key, value in node.value)
            return {str(key): value for key, value in pairs}
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(item, depth + 1) for item in node.value]
        return str(node.value).translate(_SHOW_BREAKS)


def _explain(error: Exception) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    return str(problem).split("\n")[0]
