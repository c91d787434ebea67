"""ARCHITECTURE.md names the modules, layers and I/O modules that are really there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
BLACKBOX = ROOT / "src" / "blackbox"
BLACKBIRD = ROOT / "src" / "blackbird"

_ROOM = re.compile(r"^### `([\w/-]+)/`$")
_MODULE = re.compile(r"^\| `([\w./]+)` \| (.+) \|$")
_LAYER = re.compile(r"^(\d+)\. `(\w+)`: .+$", re.MULTILINE)
#: What a recorder makes when it runs.
_OF_A_HOME = {"run/recorder.json"}
_NAMED_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
#: Names that mean a module asks the operating system for something.
_OUTSIDE = {
    "exists",
    "fdopen",
    "fstat",
    "fsync",
    "is_dir",
    "is_file",
    "mkstemp",
    "open",
    "read_bytes",
    "read_text",
    "resolve",
    "sleep",
    "stat",
    "unlink",
    "walk",
    "write_bytes",
    "write_text",
}


def section(title: str) -> str:
    """The text below a heading of the page."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None, f"ARCHITECTURE.md has no `## {title}`"
    return found[1]


def rooms_on_the_page() -> dict[str, list[str]]:
    rooms: dict[str, list[str]] = {}
    room = ""
    for line in section("Rooms").split("\n"):
        heading, module = _ROOM.match(line), _MODULE.match(line)
        if heading is not None:
            room = heading[1]
            rooms[room] = []
        elif module is not None:
            rooms[room].append(module[1])
    return rooms


def rooms_in_the_tree() -> dict[str, list[str]]:
    packages = [path.parent for path in (ROOT / "src").rglob("__init__.py")]
    rooms = {
        package.relative_to(ROOT).as_posix(): sorted(
            path.name for path in package.glob("*.py") if path.name != "__init__.py"
        )
        for package in packages
    }
    for manifest in (ROOT / "crates").glob("*/Cargo.toml"):
        sources = manifest.parent / "src"
        rooms[manifest.parent.relative_to(ROOT).as_posix()] = sorted(
            # A folder stands for its mod.rs.
            path.relative_to(sources).as_posix().removesuffix("mod.rs")
            for path in sources.rglob("*.rs")
            if path.name not in ("lib.rs", "main.rs", "tests.rs")
        )
    return rooms


@pytest.mark.requirement("GROUND-05")
def test_it_names_every_module_and_crate_and_no_other() -> None:
    assert rooms_on_the_page() == rooms_in_the_tree()


@pytest.mark.requirement("GROUND-05")
def test_its_layers_are_those_of_the_import_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = {contract["containers"][0]: contract["layers"] for contract in contracts if contract["type"] == "layers"}
    # Rooms that stand side by side in the contract ("a | b") stand below each other on the page.
    expected = [
        (str(at), name)
        for package in ("blackbox", "blackbird")
        for at, name in enumerate((name for layer in layers[package] for name in layer.split(" | ")), start=1)
    ]
    assert _LAYER.findall(section("Layers")) == expected


@pytest.mark.requirement("GROUND-05")
def test_every_path_it_names_is_there() -> None:
    tables = (BLACKBOX / "check", BLACKBIRD / "agents", BLACKBIRD / "config", ROOT / "docs" / "cli" / "_parts")
    bases = (ROOT, BLACKBOX, BLACKBIRD, *tables)
    paths = {name for name in _NAMED_PATH.findall(PAGE) if "/" in name or name.endswith((".py", ".toml"))}
    rooms = {f"{room}/" for room in rooms_in_the_tree()}
    modules = {name for names in rooms_in_the_tree().values() for name in names}
    named = paths - rooms - modules - _OF_A_HOME
    missing = [name for name in named if not any(base.joinpath(name).exists() for base in bases)]
    assert missing == []


def test_only_the_modules_it_names_touch_the_outside() -> None:
    text = section("Where input and output happen").partition("In `blackbird`:")[0]
    text += section("Where input and output happen").partition("Some look")[2]
    in_table = re.findall(r"^\| `(\w+)` \| (.+?) \|", text, re.MULTILINE)
    named = {f"{room}/{module}" for room, modules in in_table for module in re.findall(r"`(\w+\.py)`", modules)}
    named |= {name for name in re.findall(r"`((?:\w+/)?\w+\.py)`", text) if BLACKBOX.joinpath(name).is_file()}
    touching = {
        path.relative_to(BLACKBOX).as_posix() for path in BLACKBOX.rglob("*.py") if _touches_the_outside(path)
    }
    # A command is there to read and show; below it, nothing else may.
    commands = ("cli/", "keeping/", "reading/", "terminal/")
    assert {name for name in touching if not name.startswith(commands)} == {
        name for name in named if not name.startswith(commands)
    }


def test_only_the_modules_of_blackbird_it_names_touch_the_outside() -> None:
    text = section("Where input and output happen").partition("In `blackbird`:")[2]
    in_table = re.findall(r"^\| `([\w/]+)` \| (.+?) \|", text, re.MULTILINE)
    named = {f"{room}/{module}" for room, modules in in_table for module in re.findall(r"`(\w+\.py)`", modules)}
    assert [name for name in named if not BLACKBIRD.joinpath(name).is_file()] == []
    named |= {"agents/table.py", "config/settings.py"}  # named below the table
    named |= {"canon/purposes.py", "canon/wrappers.py", "deeds/roles.py"}  # likewise
    named |= {"artifacts/commands.py", "artifacts/prose/reading.py", "artifacts/prose/typed.py"}  # likewise
    named |= {"usage.py"}  # likewise; a room of one module
    named |= {"config/layers.py"}  # asks for the meaning of a text by `read_text`, and reads no file
    touching = {
        path.relative_to(BLACKBIRD).as_posix() for path in BLACKBIRD.rglob("*.py") if _touches_the_outside(path)
    }
    assert {name for name in touching if not name.startswith("cli/")} - named == set()


def _touches_the_outside(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in _OUTSIDE:
                return True
    return False
