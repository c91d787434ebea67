"""A coverage-guided fuzz target over the library's whole reading side.

python tests/fuzz/fuzz_parse.py -max_total_time=600

The arguments are libFuzzer's. Without a corpus folder among them a new one is made from the logs of this repository.
A crash file is replayed by naming it. What was found is kept in test_exercise.py.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["blackbox"]):
    from tests.fuzz.drive import fuzz
    from tests.fuzz.exercise import MAX_BYTES, ROOT, exercise, seeds


if __name__ == "__main__":
    dictionary = ROOT / "tests" / "fuzz" / "bbox.dict"
    fuzz(exercise, seeds, f"-max_len={MAX_BYTES}", f"-dict={dictionary}")
