"""The page docs/clients.md out of the results of `make test-clients`: its text stays, its table is written anew."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.agents.harness import ledger
from tests.agents.harness.cases import Case, cases
from tests.agents.install import entries

PAGE = Path(__file__).resolve().parents[3] / "docs" / "clients.md"
_BEGIN, _END = "<!-- begin: results -->\n", "<!-- end: results -->\n"
_MEMORY_BEGIN, _MEMORY_END = "<!-- begin: memory -->\n", "<!-- end: memory -->\n"
_WAYS = ("reverse", "forward")
_FAULTS = ("429", "5xx", "cut", "reset")
_HEAD = ("Client", "Version", "`run` takes", "Base URL", "Proxy", "429", "5xx", "Cut", "Reset")


def page(text: str, results: Mapping[str, Any]) -> str:
    """The page with a table of these results."""
    before, rest = text.split(_BEGIN)
    after = rest.split(_END)[1]
    middle, rest = after.split(_MEMORY_BEGIN)
    last = rest.split(_MEMORY_END)[1]
    told = _MEMORY_BEGIN + memory_table(results) + _MEMORY_END
    return before + _BEGIN + table(results) + _END + middle + told + last


def memory_table(results: Mapping[str, Any]) -> str:
    """What each client did again that the task before it had done, with the pack and without."""
    found = [(case, results.get(f"{case.name}/memory")) for case in cases().values()]
    rows = [[case.title, str(each["with"]), str(each["without"])] for case, each in found if each is not None]
    head = ["Client", "With the pack", "Without"]
    return "\n".join(map(_line, [head, ["---"] * len(head), *rows])) + "\n"


def table(results: Mapping[str, Any]) -> str:
    """Client by capability, and notes below it."""
    notes: list[str] = []
    rows = [_row(case, results, notes) for case in cases().values()]
    lines = [_line(_HEAD), _line(["---"] * len(_HEAD)), *map(_line, rows), ""]
    lines += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _row(case: Case, results: Mapping[str, Any], notes: list[str]) -> list[str]:
    ways = {way: results.get(f"{case.name}/{way}") for way in _WAYS}
    taken = next((way for way, result in ways.items() if result and result.get("chosen")), "—")
    flown = [_way(result, notes) for result in ways.values()]
    return [case.title, _version(case), taken, *flown, *(_fault(case, fault, results, notes) for fault in _FAULTS)]


def _version(case: Case) -> str:
    packages = entries()[case.agent].packages
    found = next(each for each in packages if each.startswith((f"{case.package}@", f"{case.package}==")))
    return found.removeprefix(case.package).lstrip("@=")


def _way(result: Mapping[str, Any] | None, notes: list[str]) -> str:
    """One flight in a word: the same, known to differ, refused, or failed."""
    if result is None:
        return "not tried"
    if "refused" in result:
        return "no" + _note(result["refused"] + ".", notes)
    if not result["passed"]:
        return f"**differs**{_note(_told(result['unexpected']), notes)}"
    known = "".join(_note(why, notes) for why in dict.fromkeys(result["known"].values()))
    passing = _note(_PAST, notes) if result["past"] else ""
    return f"{'works' if known else 'same'}{known}{passing}"


_PAST = (
    "Calls of the client that are not for the model (settings, telemetry, lists of models) do not follow the base "
    "URL, and are not recorded this way."
)


def _fault(case: Case, fault: str, results: Mapping[str, Any], notes: list[str]) -> str:
    found = [results.get(f"{case.name}/{way}/{fault}") for way in case.faults]
    if not found or not all(found):
        return "not tried"
    wrong = [result["unexpected"] for result in found if result and not result["passed"]]
    if wrong:
        return f"**differs**{_note(_told(wrong[0]), notes)}"
    return "retried" if all(result["retried"] for result in found if result) else "given up"


def _told(unexpected: Mapping[str, list[str]]) -> str:
    parts = ", ".join(sorted(unexpected)) or "the end"
    return f"The test failed: not as without the recorder: {parts}."


def _note(text: str, notes: list[str]) -> str:
    if text not in notes:
        notes.append(text)
    return f" [{notes.index(text) + 1}]"


def main() -> int:
    """Write the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(page(text, ledger.read()), encoding="utf-8")
    sys.stderr.write(f"wrote {PAGE.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
