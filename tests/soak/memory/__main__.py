"""`python -m tests.soak.memory`: hammer one memory for minutes, and tell how it went."""

import argparse
import tempfile
from pathlib import Path

from tests.soak.memory.hammer import hammer


def main() -> int:
    """Hammer for as long as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--writers", type=int, default=3)
    parser.add_argument("--readers", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bb") as folder:
        done = hammer(Path(folder), asked.minutes * 60, writers=asked.writers, readers=asked.readers, seed=asked.seed)
    told = f"{done.kills} kills, {done.versions} versions written, {done.looks} looks, {done.checks + 1} checks"
    print(  # noqa: T201 - it is what was asked for
        "\n".join([told, *(done.trouble or ["nothing lost, nothing damaged, no reader refused"])])
    )
    return 1 if done.trouble else 0


if __name__ == "__main__":
    raise SystemExit(main())
