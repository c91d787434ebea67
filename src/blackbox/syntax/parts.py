"""One physical line taken apart: name, arguments, metadata, result and trailing comment, with columns."""

import re

from blackbox.syntax import metadata, quick
from blackbox.syntax.escape import unescape
from blackbox.syntax.kinds import MESSAGES, NAMED, PREFIX_LENGTHS, PROSE, Kind
from blackbox.syntax.tokens import Token, find_arrow, lex

_NAME = re.compile(r"[ \t]*([^ \t\r→]*)")
_WORD = re.compile(r"[^ \t\r]++(?=[ \t])")
_LIFECYCLE_NAME = re.compile(r"([\w-]*)")
_QUOTED_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*+("?)|(?<=[ \t])#(?=[ \t]|\Z)')
_COMMENT = re.compile(r"(?<=[ \t])#(?=[ \t]|\Z)")
_ESCAPED_QUOTED_OR_COMMENT = re.compile(r'(\\.)|"(?:[^"\\]|\\.)*+("?)|(?<=[ \t])#(?=[ \t]|\Z)')
_INLINE_METRICS = re.compile(r"(?<=[ \t])# metrics[ \t]+(?=[\w.\-]+=)")
_METRIC_PAIRS = re.compile(r"(?:[ \t\r]*[\w.\-]+=(?:@blob[ \t]+)?[^ \t\r]*)++[ \t\r]*")
_AGENT, _LIFECYCLE, _OBSERVATION, _REMARK = Kind.AGENT, Kind.LIFECYCLE, Kind.OBSERVATION, Kind.COMMENT
_COMMENTED = frozenset({Kind.MODE, Kind.LIFECYCLE, Kind.PHASE})


class Parts:
    """The first physical line of an entry, split. Columns count characters from 0; `source` is never copied.

    `start` and `end` bound the prose or the call part, `result_start` and `result_end` the result; the metadata
    behind either is cut off. A bound is -1 where the line has no such part. Where the metadata stands is looked up
    on first use, since a scan over a long log asks few lines for it.
    """

    # Defaults on the class: most lines have few of these parts, and a line is split a million times.
    name = ""
    name_start = 0
    result_start = -1
    comment_start = -1
    metrics_start = -1
    _run_start = -1
    _tokens: list[Token] | None = None
    _raw_meta: dict[str, str] | None = None

    def __init__(self, kind: Kind, source: str, escaped: bool) -> None:
        self.kind = kind
        self.source = source
        self.escaped = escaped
        self.start = start = PREFIX_LENGTHS.get(kind, 0) + (source[:1] == " ")
        self._end = len(source) - (source[-1:] == "\r")
        if kind in PREFIX_LENGTHS and kind not in PROSE:
            self._split_call()
            return
        if kind is _AGENT and "# metrics" in source:
            self._cut_metrics()
        while start < self._end and source[start] in " \t":
            start += 1
        self.start = start

    def _split_call(self) -> None:
        source, kind = self.source, self.kind
        if kind in NAMED:
            self._take_name(_NAME)
        elif kind is _LIFECYCLE:
            self._take_name(_LIFECYCLE_NAME)
        if kind in _COMMENTED and "#" in source:
            self._cut_comment()
        if kind is _OBSERVATION and not self.escaped:
            # Results of reads quote line numbers as `1→`: the very first arrow splits.
            arrow = source.find("→", self.start)
        else:
            arrow = find_arrow(source, self.start, escaped=self.escaped)
        if 0 <= arrow < self._end:
            self._end, self._result_limit = arrow, self._end
            start = arrow + 1
            while start < self._result_limit and source[start] in " \t":
                start += 1
            self.result_start = start

    def _take_name(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.source, self.start, self._end)
        if match is not None:
            self.name = match[1]
            self.name_start, self.start = match.span(1)

    def _cut_metrics(self) -> None:
        for match in _INLINE_METRICS.finditer(self.source, self.start, self._end):
            if _METRIC_PAIRS.fullmatch(self.source, match.end(), self._end):
                self.metrics_start = match.end()
                self._end = match.start()
                return

    def _cut_comment(self) -> None:
        pattern = _ESCAPED_QUOTED_OR_COMMENT if self.escaped else _QUOTED_OR_COMMENT
        match = pattern.search(self.source, self.start, self._end)
        while match is not None and match[match.lastindex or 0] not in ("", "#"):
            match = pattern.search(self.source, match.end(), self._end)
        if match is not None and match.lastindex:
            # A quote that never closes quotes nothing, and no later one can close either.
            match = _COMMENT.search(self.source, match.start(), self._end)
        if match is not None:
            self.comment_start = match.end()
            self._end = match.start()

    @property
    def end(self) -> int:
        """Where the prose or the call part ends, without the spaces behind it."""
        end = self._end
        if self.kind in MESSAGES and self.run_start >= 0:
            end = self.run_start
        return metadata.rstrip_end(self.source, self.start, end)

    @property
    def result_end(self) -> int:
        """Where the result ends, without the metadata behind it."""
        if self.result_start < 0:
            return -1
        end = self.run_start if self.run_start >= 0 else self._result_limit
        return metadata.rstrip_end(self.source, self.result_start, end)

    @property
    def run_start(self) -> int:
        """Where the metadata behind the result or the prose begins, or -1."""
        if self._raw_meta is None:
            self._read_metadata()
        return self._run_start

    @property
    def raw_meta(self) -> dict[str, str]:
        """The metadata as text: of the call part, and behind the result or the prose."""
        return self._read_metadata() if self._raw_meta is None else self._raw_meta

    def _read_metadata(self) -> dict[str, str]:
        if self.kind in MESSAGES:
            found = self._read_run(self.start, self._end)
        elif self.kind is _REMARK or self.kind not in PREFIX_LENGTHS:
            found = {}
        else:
            found = self._read_call()
            if self.result_start >= 0:
                # Metadata behind a result follows at least one word of it: `→ id=5` alone is a result.
                word = _WORD.match(self.source, self.result_start, self._result_limit)
                if word is not None:
                    found = self._read_run(word.end(), self._result_limit) | found
        self._raw_meta = found
        return found

    def _read_call(self) -> dict[str, str]:
        if self.source.find("=", self.start, self._end) < 0:
            return {}
        found = quick.call_metadata(self.source[self.start : self._end])
        return metadata.split_tokens(self.tokens)[1] if found is None else found

    def _read_run(self, start: int, end: int) -> dict[str, str]:
        source = self.source
        if source.find("=", start, end) < 0:
            return {}
        plain = quick.trailing_metadata(source, start, end)
        if plain is not None:
            run, found = plain
            if run < end:
                self._run_start, self._run_end = run, end
            return found
        run = metadata.run_start(source, start, end, escaped=self.escaped)
        if run >= end:
            return {}
        self._run_start, self._run_end = run, end
        return metadata.split_tokens(self._lex_run())[1]

    def _lex_run(self) -> list[Token]:
        return lex(self.source, self._run_start, self._run_end, escaped=self.escaped)

    @property
    def tokens(self) -> list[Token]:
        """The words of the call part: arguments and metadata, in order."""
        if self._tokens is None:
            self._tokens = lex(self.source, self.start, self._end, escaped=self.escaped)
        return self._tokens

    @property
    def arguments(self) -> list[Token]:
        """The words of the call part that are not metadata."""
        return metadata.split_tokens(self.tokens)[0]

    @property
    def run_tokens(self) -> list[Token]:
        """The words of the metadata behind the result or the prose."""
        return self._lex_run() if self.run_start >= 0 else []

    @property
    def text(self) -> str:
        """The prose or the call part as it stands, metadata behind prose left out."""
        return self.source[self.start : self.end]

    @property
    def result(self) -> str | None:
        """What follows the arrow on this physical line, or None without an arrow."""
        return None if self.result_start < 0 else self.source[self.result_start : self.result_end]

    @property
    def comment(self) -> str | None:
        """The trailing `# …` of a mode or lifecycle line."""
        if self.comment_start < 0:
            return None
        text = self.source[self.comment_start :].strip(" \t\r")
        return unescape(text) if self.escaped else text

    @property
    def metrics(self) -> list[Token]:
        """The words of an inline `# metrics …`."""
        if self.metrics_start < 0:
            return []
        return lex(self.source, self.metrics_start, len(self.source), escaped=self.escaped)
