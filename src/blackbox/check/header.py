"""Checks on the header."""

import re
from collections.abc import Callable

from blackbox.check.findings import Finding
from blackbox.check.rules import rule_named
from blackbox.syntax.header import LIST_FIELDS, RECOMMENDED, REQUIRED, TOTAL_FIELDS, Header
from blackbox.syntax.values import boolean, integer, money

_KNOWN_FORMATS = ("bbox", "rlog")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_PROBLEMS = {"yaml": "header-yaml", "duplicate-key": "duplicate-key"}


def check_header(header: Header | None, add: Callable[[Finding], None]) -> None:
    """All findings of a header; without one there is a single finding."""
    if header is None:
        add(rule_named("header-missing").finding(1, "the file does not start with `---` and a header"))
        return
    if header.blank_lines_before:
        add(rule_named("header-late").finding(1, f"{len(header.blank_lines_before)} blank line(s) before the header"))
    if not header.closed:
        add(rule_named("header-unclosed").finding(header.first_line, "the header has no closing `---`"))
    for problem in header.problems:
        add(rule_named(_PROBLEMS[problem.name]).finding(problem.line, problem.message))
    _required(header, add)
    _format(header, add)
    _escape(header, add)
    _repo_sha(header, add)
    _types(header, add)
    for key in RECOMMENDED:
        if not header.fields.get(key):
            add(rule_named("recommended-missing").finding(header.first_line, f"`{key}` is not given"))


def _required(header: Header, add: Callable[[Finding], None]) -> None:
    for key in REQUIRED:
        if key not in header.fields:
            add(rule_named("field-missing").finding(header.first_line, f"the required field `{key}` is missing"))
        elif not header.fields[key]:
            add(rule_named("field-empty").finding(header.line_of(key), f"the required field `{key}` is empty"))


def _format(header: Header, add: Callable[[Finding], None]) -> None:
    if not header.format:
        return
    line = header.line_of("format")
    if not header.format.startswith(tuple(f"{name}/" for name in _KNOWN_FORMATS)):
        add(rule_named("format-unknown").finding(line, f"`{header.format}` is neither bbox/1 nor rlog/1"))
    elif header.format_version not in ("1", "1.0"):
        add(rule_named("format-version").finding(line, f"`{header.format}` is not version 1"))


def _escape(header: Header, add: Callable[[Finding], None]) -> None:
    escape = header.text("escape")
    if escape is not None and escape not in ("0", "1"):
        message = f"escape rule `{escape}` is not known"
        add(rule_named("escape-version").finding(header.line_of("escape"), message))


def _repo_sha(header: Header, add: Callable[[Finding], None]) -> None:
    sha = header.repo_sha
    if not sha:
        return
    line = header.line_of("repo_sha")
    if not 6 <= len(sha) <= 40:
        add(rule_named("repo-sha-length").finding(line, f"`{sha}` has {len(sha)} characters, not 6 to 40"))
    if not _HEX.fullmatch(sha):
        add(rule_named("repo-sha-hex").finding(line, f"`{sha}` is not hexadecimal"))


def _types(header: Header, add: Callable[[Finding], None]) -> None:
    def complain(key: str, wanted: str) -> None:
        message = f"`{key}: {header.fields[key]}` is not {wanted}"
        add(rule_named("field-type").finding(header.line_of(key), message))

    for key in REQUIRED:
        if header.fields.get(key) and header.text(key) is None:
            complain(key, "plain text")
    if header.fields.get("dirty") and boolean(header.text("dirty")) is None:
        complain("dirty", "true or false")
    for key in LIST_FIELDS:
        if header.fields.get(key) and not isinstance(header.fields[key], list):
            complain(key, "a list")
    for key in TOTAL_FIELDS:
        if header.fields.get(key) and integer(header.text(key)) is None:
            complain(key, "a whole number")
    if header.fields.get("budget") and money(header.text("budget")) is None:
        complain("budget", "an amount of money")
