"""Links in pages lead somewhere, and no file tells where on whose machine it was made."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Folders that tools fill.
_NOT_OURS = {
    ".git",
    ".hypothesis",
    ".import_linter_cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    "target",
}
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[[^\]]*\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def our_files() -> Iterator[Path]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in _NOT_OURS and not name.endswith(".egg-info")]
        yield from (Path(folder, name) for name in names if not name.startswith(".coverage"))


PAGES = sorted(path for path in our_files() if path.suffix == ".md")


def anchors(page: Path) -> set[str]:
    """The fragments that a page's headings give, as GitHub makes them."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in _HEADING.findall(text):
        plain = _LINK.sub("", heading) if heading.startswith("[") else heading
        slug = re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        repeated = sum(name == slug or re.fullmatch(rf"{re.escape(slug)}-\d+", name) is not None for name in found)
        found.add(f"{slug}-{repeated}" if repeated else slug)
    return found


def shown_in(page: Path) -> Path:
    """The folder from which the links of a page are followed: of a part, the one that its page is written to."""
    parts = ROOT / "docs" / "cli" / "_parts"
    if not page.is_relative_to(parts):
        return page.parent
    if page.name in ("library.md", "rules.md", "settings.md"):
        return ROOT / "docs"
    return ROOT / "docs" / "cli" / page.parent.relative_to(parts)


@pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])
def test_relative_links_lead_somewhere(page: Path) -> None:
    base = shown_in(page)
    text = _CODE.sub("", _FENCE.sub("", page.read_text(encoding="utf-8")))
    broken = []
    for target in _LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        path = base / unquote(name) if name else (base / page.name)
        if not path.exists() or (fragment and path.suffix == ".md" and fragment not in anchors(path)):
            broken.append(target)
    assert broken == []


def test_no_file_tells_of_the_machine_it_was_made_on() -> None:
    # Put together here, or this file would be one of them.
    words = ["../" + "shared", "/work/" + "shared", "/work/" + "main"]
    telling = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in our_files()
        for word in words
        if word.encode() in path.read_bytes()
    ]
    assert telling == []
