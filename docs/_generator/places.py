"""Where the pages are, and what they are made from."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLI = ROOT / "docs" / "cli"
PARTS = CLI / "_parts"
