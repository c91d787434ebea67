"""A coverage-guided fuzz target over the MCP server and the calls of its tools.

python tests/fuzz/fuzz_mcp.py -max_total_time=600

The arguments are libFuzzer's. Without a corpus folder among them a new one is made from messages of each kind. A
crash file is replayed by naming it.
"""

import sys
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

with atheris.instrument_imports(include=["blackbird.doors"]):
    from tests.fuzz.doors import MAX_BYTES, exercise, seeds
    from tests.fuzz.drive import fuzz

if __name__ == "__main__":
    fuzz(exercise, seeds, f"-max_len={MAX_BYTES}")
