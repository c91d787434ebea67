"""A coverage-guided fuzz target over the reader of the trace.

python tests/fuzz/fuzz_wal.py -max_total_time=600

The arguments are libFuzzer's. Without a corpus folder among them a new one is made from fixtures/wal. A crash file is
replayed by naming it.
"""

import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["blackbird"]):
    from tests.blackbird.trace.exercise import MAX_BYTES, exercise, seeds


def main() -> None:
    """Hand over to the fuzzer, with a corpus of our own if the caller names none."""
    arguments = sys.argv
    with tempfile.TemporaryDirectory() as scratch:
        if all(argument.startswith("-") for argument in arguments[1:]):
            for number, seed in enumerate(seeds()):
                (Path(scratch) / f"{number:05}").write_bytes(seed)
            arguments = [arguments[0], f"-max_len={MAX_BYTES}", *arguments[1:], scratch]
        atheris.Setup(arguments, exercise)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
