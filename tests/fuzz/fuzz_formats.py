"""A coverage-guided fuzz target over the forms of a session.

python tests/fuzz/fuzz_formats.py -max_total_time=600

The arguments are libFuzzer's. Without a corpus folder among them a new one is made from the examples in every form. A
crash file is replayed by naming it.
"""

import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(include=["blackbox"]):
    from tests.fuzz.drive import fuzz
    from tests.fuzz.forms import exercise, seeds

MAX_BYTES = 4096


if __name__ == "__main__":
    fuzz(exercise, seeds, f"-max_len={MAX_BYTES}")
