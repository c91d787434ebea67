"""The results of `make test-clients` as a file: a row a case and way, replaced when that one is flown again."""

import json
from pathlib import Path
from typing import Any

from tests.agents.install import FOLDER

PATH = FOLDER / "results.json"
SCHEMA = "client-results/1"


def read(path: Path = PATH) -> dict[str, Any]:
    """All results so far, by case, way and fault."""
    if not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["results"]
    return found


def enter(key: str, result: dict[str, Any], path: Path = PATH) -> None:
    """Put one result in place of an earlier one."""
    results = {**read(path), key: result}
    text = json.dumps({"schema": SCHEMA, "results": dict(sorted(results.items()))}, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
