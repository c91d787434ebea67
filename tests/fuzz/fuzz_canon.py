"""Fuzzes what reads traffic and agents' logs: `python tests/fuzz/fuzz_canon.py -max_total_time=600`."""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["blackbird.canon", "blackbird.timeline"]):
    from tests.fuzz.conversations import exercise, seeds
from tests.fuzz.drive import fuzz

if __name__ == "__main__":
    fuzz(exercise, seeds, "-max_len=8192")
