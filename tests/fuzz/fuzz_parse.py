"""A coverage-guided fuzz target over the library's whole reading side.

python tests/fuzz/fuzz_parse.py -max_total_time=600

The arguments are libFuzzer's. Without a corpus folder among them a new one is made from the logs of this repository.
A crash file is replayed by naming it. What was found is kept in test_exercise.py.
"""

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["blackbox"]):
    from tests.fuzz.exercise import MAX_BYTES, ROOT, exercise, seeds


def main() -> None:
    """Hand over to the fuzzer, with a corpus of our own if the caller names none."""
    arguments = sys.argv
    with tempfile.TemporaryDirectory() as scratch:
        if all(argument.startswith("-") for argument in arguments[1:]):
            for number, data in enumerate(seeds()):
                (Path(scratch) / f"{number:05}").write_bytes(data)
            dictionary = ROOT / "tests" / "fuzz" / "bbox.dict"
            arguments = [arguments[0], f"-max_len={MAX_BYTES}", f"-dict={dictionary}", *arguments[1:], scratch]
        atheris.Setup(arguments, exercise)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
