"""`python -m tests.agents`: the real clients, in a world of their own, and the page that tells how they fared."""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.agents.harness import report, world


def main(arguments: Sequence[str]) -> int:
    """Run the tests of this folder in a fresh world; arguments are pytest's."""
    here = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-n", "0", "--durations=0", str(here), *arguments]
    folder = Path(tempfile.mkdtemp(prefix="bbw"))
    try:
        code = world.enter(folder, command)
    except world.NoWorld as error:
        sys.stderr.write(f"make test-clients: {error}\n")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report.main()
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
