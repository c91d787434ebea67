"""A real tool that sums up Claude Code's logs reads our companions, and comes to the same totals."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from blackbird.canon.model import Usage
from tests.agents.install import FOLDER
from tests.blackbird.flightlog.spenders import CACHED, export, spender

CCUSAGE = FOLDER / "ccusage" / "node_modules" / ".bin" / "ccusage"
NODE = FOLDER / "node" / "node_modules" / ".bin"


def totals(folder: Path) -> Usage:
    """What it counts in a folder like `~/.claude`."""
    environment = {
        "CLAUDE_CONFIG_DIR": str(folder),
        "HOME": str(folder),
        "PATH": f"{NODE}:{os.environ['PATH']}",
    }
    command = [str(CCUSAGE), "session", "--json", "--offline"]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["totals"]
    return Usage(
        input=found["inputTokens"],
        output=found["outputTokens"],
        cache_read=found["cacheReadTokens"],
        cache_write=found["cacheCreationTokens"],
    )


@pytest.mark.parametrize("dialect", CACHED)
def test_ccusage_counts_what_we_count(dialect: str, tmp_path: Path) -> None:
    project = tmp_path / "claude" / "projects" / "harbour"
    project.mkdir(parents=True)
    timeline = spender(dialect)
    for path in export(timeline, tmp_path):
        shutil.copy(path, project)
    spent = timeline.spent.usage
    counted = Usage(
        input=spent.input, output=spent.output, cache_read=spent.cache_read, cache_write=spent.cache_write
    )
    assert totals(tmp_path / "claude") == counted != Usage()
