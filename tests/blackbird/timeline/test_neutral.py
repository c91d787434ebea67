"""Behind the canonical words nobody knows a provider or a client by name."""

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[3] / "src" / "blackbird"
NAMES = re.compile(r"anthropic|openai|gemini|ollama|claude|codex", re.IGNORECASE)


@pytest.mark.requirement("CANON-14")
@pytest.mark.parametrize("package", ["timeline", "flightlog"])
def test_no_provider_is_named(package: str) -> None:
    files = [path for path in (SOURCES / package).rglob("*") if path.suffix in (".py", ".toml")]
    assert files
    named = [
        f"{path.name}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if NAMES.search(line)
    ]
    assert named == []
