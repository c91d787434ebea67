"""Run the benchmarks: `make bench`, or `python bench/run.py size redaction --rounds 7 --logs FOLDER --readme`."""

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

#: Each is a module beside this one: what it measures, and a page of Markdown from that.
SUBJECTS: dict[str, Callable[[Any, argparse.Namespace], Any]] = {
    "canon": lambda module, options: module.measure(options.rounds),
    "derive": lambda module, options: module.measure(options.rounds),
    "extraction": lambda module, options: module.measure(options.transcripts),
    "hook": lambda module, options: module.measure(options.rounds),
    "imports": lambda module, options: module.measure(options.rounds, large=options.large),
    "latency": lambda module, options: module.measure(options.rounds),
    "launch": lambda module, options: module.measure(options.rounds),
    "log": lambda module, options: module.measure(options.rounds, options.logs),
    "redaction": lambda module, options: module.measure(options.rounds, options.logs),
    "retrieval": lambda module, options: module.measure(options.locomo),
    "recorder": lambda module, options: module.measure(options.rounds),
    "seal": lambda module, options: module.measure(options.logs),
    "size": lambda module, options: module.measure(options.logs),
}


def main() -> None:
    """Measure, print the tables, and on request put them into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    # argparse checks the empty list of a missing argument against the choices, too.
    parser.add_argument("subjects", nargs="*", choices=[*SUBJECTS, []], help="what to measure (default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default: 5)")
    parser.add_argument(
        "--logs", type=Path, action="append", default=[], help="a folder of real logs to measure on too"
    )
    parser.add_argument(
        "--transcripts",
        type=Path,
        action="append",
        default=[],
        help="a folder of the labelled transcripts (extraction)",
    )
    parser.add_argument(
        "--locomo", type=Path, action="append", default=[], help="a file of LoCoMo conversations (retrieval)"
    )
    parser.add_argument("--large", action="store_true", help="also import a log of a gigabyte, which takes minutes")
    parser.add_argument("--json", action="store_true", help="print the raw figures as JSON")
    parser.add_argument("--readme", action="store_true", help="write the tables into README.md")
    options = parser.parse_args()
    for subject in options.subjects or SUBJECTS:
        # Imported when asked for: each needs other peers to be installed.
        module = importlib.import_module(f"bench.{subject}")
        report = SUBJECTS[subject](module, options)
        if options.json:
            print(msgspec.json.format(msgspec.json.encode(report)).decode())
        else:
            print(module.as_markdown(report))
        if options.readme:
            _update_readme(subject, module.as_markdown(report))


def _update_readme(subject: str, tables: str) -> None:
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    before, start, rest = text.partition(f"<!-- bench:{subject} -->")
    _, end, after = rest.partition("<!-- /bench -->")
    if not (start and end):
        raise SystemExit(f"README.md has no place for bench:{subject}")
    path.write_text(f"{before}{start}\n{tables}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
