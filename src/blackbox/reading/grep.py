"""`blackbox grep`: entries by text, type, tool, step, time and outcome."""

import collections
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from blackbox.document.files import EXTENSIONS, open_log, scan
from blackbox.document.line import Line
from blackbox.errors import UsageError
from blackbox.reading import entries
from blackbox.reading.contents import checked
from blackbox.report.search import (
    Query,
    Search,
    Side,
    compile_pattern,
    parse_moment,
    parse_steps,
    parse_types,
)
from blackbox.syntax.kinds import Kind
from blackbox.terminal import inputs, output

SCHEMA = "blackbox.grep/1"
EXIT_NO_MATCH = 1


#: Shows the entries of one log, each with whether it matches, and counts those that do.
_Show = Callable[[str, Iterator[tuple[Line, bool]]], int]

_Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATTERN LOGS",
        help="A regular expression, then logs, folders or patterns of names; `-` is standard input.",
    ),
]
_Expression = Annotated[str | None, typer.Option("--regexp", "-e", help="The pattern; every argument is a log then.")]
_Types = Annotated[
    list[str] | None, typer.Option("--type", "-t", help="Only these lines: u,a,t,c,@ … or user,agent,tool …")
]
_Tools = Annotated[
    list[str] | None, typer.Option("--tool", help="Only calls of these tools and their answers: edit, forge.*")
]
_Step = Annotated[str | None, typer.Option("--step", help="Only these steps: 12, 1-50, 100-, -20.")]
_Since = Annotated[
    str | None, typer.Option("--since", help="From here: 2025-11-06T05:00:00Z, or 05:00:00, 2h after the start.")
]
_Until = Annotated[str | None, typer.Option("--until", help="Up to here, written like --since.")]
_Errors = Annotated[bool, typer.Option("--errors", help="Only lines that report an error.")]
_Call = Annotated[bool, typer.Option("--call", help="Look only before the arrow.")]
_Result = Annotated[bool, typer.Option("--result", help="Look only behind the arrow.")]
_Fixed = Annotated[bool, typer.Option("--fixed-strings", "-F", help="The pattern is plain text.")]
_IgnoreCase = Annotated[bool, typer.Option("--ignore-case", "-i", help="Upper and lower case are one.")]
_Invert = Annotated[bool, typer.Option("--invert-match", "-v", help="Entries without the pattern.")]
_After = Annotated[int | None, typer.Option("--after-context", "-A", min=0, help="Entries shown after.")]
_Before = Annotated[int | None, typer.Option("--before-context", "-B", min=0, help="Entries shown before.")]
_Around = Annotated[int, typer.Option("--context", "-C", min=0, help="Entries shown before and after.")]
_Numbers = Annotated[bool, typer.Option("--line-number", "-n", help="Line numbers, for one log too.")]
_Count = Annotated[bool, typer.Option("--count", "-c", help="Only how many entries of each log match.")]
_NamesOnly = Annotated[bool, typer.Option("--files-with-matches", "-l", help="Only the logs that match.")]
_AsJson = Annotated[bool, typer.Option("--json", help="One JSON object an entry (schema blackbox.grep/1).")]


def command(  # noqa: PLR0913, PLR0917 - one argument an option
    arguments: _Arguments = None,
    expression: _Expression = None,
    types: _Types = None,
    tools: _Tools = None,
    step: _Step = None,
    since: _Since = None,
    until: _Until = None,
    errors: _Errors = False,
    call: _Call = False,
    result: _Result = False,
    fixed: _Fixed = False,
    ignore_case: _IgnoreCase = False,
    invert: _Invert = False,
    after: _After = None,
    before: _Before = None,
    around: _Around = 0,
    numbers: _Numbers = False,
    count: _Count = False,
    names_only: _NamesOnly = False,
    as_json: _AsJson = False,
) -> None:
    """Find entries of logs. Whole entries are shown, with the indented lines that belong to them.

    Without logs, all logs below this folder. With a filter the pattern may be left out: a first argument that is a
    log, `-`, or a folder written with a slash is then what is searched.

    A line without ts= has the time of the last one above it. Time since the start is read from the `# t=` marks, or
    counted from the first ts= in a log without marks.

    Exit codes: 0 found, 1 not found, 2 wrong usage, 3 a log could not be read.

    Examples:

      blackbox grep "token" session.bbox -C 2

      blackbox grep --tool edit --errors logs/

      blackbox grep FAILED session.bbox --type t,o --since 2h --until 04:30:00
    """
    moments = (parse_moment("--since", since), parse_moment("--until", until, is_end=True))
    steps, side = parse_steps(step), _side(call=call, result=result)
    filters = Query(None, parse_types(types or ()), tuple(tools or ()), steps, *moments, side, errors, invert)
    text, logs = _split(arguments or [], expression, has_filter=filters.has_filter)
    pattern = compile_pattern(text, fixed=fixed, ignore_case=ignore_case)
    names = inputs.find_logs(logs)
    context = (around if before is None else before, around if after is None else after)
    shown = _Shown(*context, several=len(names) > 1, numbers=numbers, pattern=None if invert else pattern)
    show = shown.choose(as_json=as_json, names_only=names_only, count=count)
    _search(names, msgspec.structs.replace(filters, pattern=pattern), show, text=text, as_json=as_json)


def _side(*, call: bool, result: bool) -> Side:
    if call and result:
        raise UsageError("--call and --result exclude each other", "leave both out to look everywhere")
    return Side.CALL if call else Side.RESULT if result else Side.ALL


def _split(arguments: list[str], expression: str | None, *, has_filter: bool) -> tuple[str | None, list[str]]:
    if expression is not None:
        return expression, arguments
    if arguments and not (has_filter and _is_log(arguments[0])):
        return arguments[0], arguments[1:]
    if not has_filter:
        raise UsageError("there is nothing to look for", "give a pattern, or a filter such as --type or --errors")
    return None, arguments


def _is_log(argument: str) -> bool:
    path = Path(argument)
    if argument in (inputs.STDIN, ".", ".."):
        return True
    return (argument.endswith(EXTENSIONS) and path.is_file()) or ("/" in argument and path.exists())


def _search(
    names: list[str],
    query: Query,
    show: _Show,
    *,
    text: str | None,
    as_json: bool,
) -> None:
    searches: list[Search] = []
    found = 0

    def look(name: str) -> None:
        nonlocal found
        search = Search(query)
        searches.append(search)
        found += show(name, ((line, search.matches(line)) for line in _read(name) if line.kind is not Kind.BLANK))

    inputs.each_log(names, look, as_json=as_json)
    if not found:
        output.stderr().print(output.printable(_explain(searches, query, text)), style="bright_black")
        raise typer.Exit(EXIT_NO_MATCH)


def _read(name: str) -> Iterator[Line]:
    if name == inputs.STDIN:
        yield from checked(name, scan(sys.stdin.buffer))
        return
    with open_log(name) as source:
        yield from checked(name, scan(source))


def _explain(searches: list[Search], query: Query, text: str | None) -> str:
    """Why there is nothing: what was searched, and what of it could not have matched."""
    entries_seen = sum(search.entries for search in searches)
    what = "no entry" if text is None else f"no entry {'without' if query.invert else 'with'} {text!r}"
    logs = f"{len(searches):,} log{'' if len(searches) == 1 else 's'}"
    told = f"{what} in {logs}, {entries_seen:,} entr{'y' if entries_seen == 1 else 'ies'} (searched {query})"
    if query.steps is not None and not any(search.stepped for search in searches):
        told += "; none that was looked at has a step="
    if query.is_timed and not any(search.timed for search in searches):
        told += "; none has a ts= or a `# t=` mark above it"
    return told


class _Shown:
    """How found entries are shown. Each method takes a log's entries with whether they match, and counts those."""

    def __init__(
        self, before: int, after: int, *, several: bool, numbers: bool, pattern: re.Pattern[str] | None
    ) -> None:
        self._before, self._after = before, after
        self._several, self._numbers, self._pattern = several, numbers, pattern
        self._console = output.stdout()
        self._has_shown = False

    def choose(self, *, as_json: bool, names_only: bool, count: bool) -> "_Show":
        """The way that was asked for."""
        if as_json:
            return self.as_json
        if names_only:
            return self.name
        return self.count if count else self.entries

    def count(self, name: str, looked_at: Iterator[tuple[Line, bool]]) -> int:
        """How many match."""
        found = sum(matches for _, matches in looked_at)
        output.write(f"{self._file(name)}:{found}\n".encode() if self._several else f"{found}\n".encode())
        return found

    def name(self, name: str, looked_at: Iterator[tuple[Line, bool]]) -> int:
        """The log's name, if one matches; the rest of it is not read."""
        found = any(matches for _, matches in looked_at)
        if found:
            output.write(f"{self._file(name)}\n".encode())
        return found

    def as_json(self, name: str, looked_at: Iterator[tuple[Line, bool]]) -> int:
        """Objects, those of the context marked."""
        found = 0
        for line, matches, _ in self._in_context(looked_at):
            found += matches
            output.write_json({**entries.as_object(SCHEMA, name, line), "context": not matches})
        return found

    def entries(self, name: str, looked_at: Iterator[tuple[Line, bool]]) -> int:
        """Whole entries; `--` stands where some in between are left out."""
        found = 0
        for line, matches, is_apart in self._in_context(looked_at):
            found += matches
            if is_apart and self._has_shown and (self._before or self._after):
                self._print([Text("--", style="bright_black")], b"--\n")
            self._has_shown = True
            self._entry(name, line, matches=matches)
        return found

    def _in_context(self, looked_at: Iterator[tuple[Line, bool]]) -> Iterator[tuple[Line, bool, bool]]:
        """The entries to show, whether each matches, and whether some before it were left out."""
        held: collections.deque[Line] = collections.deque(maxlen=self._before)
        owed = 0
        is_apart = True
        for line, matches in looked_at:
            if matches:
                for earlier in held:
                    yield earlier, False, is_apart
                    is_apart = False
                held.clear()
                yield line, True, is_apart
                is_apart, owed = False, self._after
            elif owed:
                owed -= 1
                yield line, False, False
            else:
                is_apart = is_apart or len(held) == self._before
                held.append(line)

    def _entry(self, name: str, line: Line, *, matches: bool) -> None:
        mark = ":" if matches else "-"
        places = [self._place(name, number, mark) for number in range(line.number, line.last_number + 1)]
        if not self._console.is_terminal:
            sources = (place + source for place, source in zip(places, line.physical_lines, strict=True))
            output.write(("\n".join(sources) + "\n").encode(errors="surrogateescape"))
            return
        for place, text in zip(places, entries.styled(line), strict=True):
            shown = entries.highlight(text, self._pattern) if matches else text
            self._console.print(Text.assemble((output.printable(place), "bright_black"), shown))

    def _print(self, texts: list[Text], data: bytes) -> None:
        if self._console.is_terminal:
            for text in texts:
                self._console.print(text)
        else:
            output.write(data)

    def _place(self, name: str, number: int, mark: str) -> str:
        if self._several:
            return f"{self._file(name)}{mark}{number}{mark}"
        return f"{number}{mark}" if self._numbers else ""

    def _file(self, name: str) -> str:
        return "(standard input)" if name == inputs.STDIN else name
