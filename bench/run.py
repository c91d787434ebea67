"""Run the benchmarks: `make bench`, or `python bench/run.py --rounds 7 --logs FOLDER --readme`."""

import argparse
import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import log  # noqa: E402 - the project's root has to be on the path first

START, END = "<!-- bench:log -->", "<!-- /bench -->"


def main() -> None:
    """Measure, print the tables, and on request put them into the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default: 5)")
    parser.add_argument(
        "--logs", type=Path, action="append", default=[], help="a folder of real logs to measure on too"
    )
    parser.add_argument("--json", action="store_true", help="print the raw figures as JSON")
    parser.add_argument("--readme", action="store_true", help="write the tables into README.md")
    options = parser.parse_args()
    report = log.measure(options.rounds, options.logs)
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print(log.as_markdown(report))
    if options.readme:
        _update_readme(log.as_markdown(report))


def _update_readme(tables: str) -> None:
    path = ROOT / "README.md"
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{START}\n{tables}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
