"""The module map of ARCHITECTURE.md."""

import ast
from pathlib import Path

from _generator.places import ROOT


def module_map() -> str:
    """Every room with its purpose, and every module in it with its own sentence."""
    rooms: list[str] = []
    for package in ("blackbox", "blackbird"):
        top = ROOT / "src" / package
        rooms.append(_room(top, sorted(p for p in top.glob("*.py") if p.name != "__init__.py")))
        rooms += [
            _room(folder, sorted(p for p in folder.glob("*.py") if p.name != "__init__.py"))
            for folder in sorted(path.parent for path in top.glob("**/__init__.py") if path.parent != top)
        ]
    rooms += [_crate(folder) for folder in sorted((ROOT / "crates").iterdir()) if (folder / "Cargo.toml").is_file()]
    return "\n\n".join(rooms)


def _room(folder: Path, modules: list[Path]) -> str:
    rows = [f"| `{module.name}` | {_purpose(module)} |" for module in modules]
    name = folder.relative_to(ROOT).as_posix()
    return "\n".join(
        [f"### `{name}/`", "", _purpose(folder / "__init__.py"), "", "| module | purpose |", "|---|---|", *rows]
    )


def _purpose(module: Path) -> str:
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    return text.partition("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _crate(folder: Path) -> str:
    rows = [f"| `{name}` | {_rust_purpose(path)} |" for name, path in _rust_modules(folder / "src")]
    root = next(path for path in (folder / "src").glob("*.rs") if path.name in ("lib.rs", "main.rs"))
    name = folder.relative_to(ROOT).as_posix()
    return "\n".join([f"### `{name}/`", "", _rust_purpose(root), "", "| module | purpose |", "|---|---|", *rows])


def _rust_modules(sources: Path) -> list[tuple[str, Path]]:
    """The modules of a crate by their names on the page; a folder stands for its `mod.rs`, and comes first in it."""
    found = {}
    for path in sources.rglob("*.rs"):
        if path.name not in ("lib.rs", "main.rs", "tests.rs"):
            name = path.relative_to(sources).as_posix()
            found[name.removesuffix("mod.rs") if path.name == "mod.rs" else name] = path
    return sorted(found.items())


def _rust_purpose(path: Path) -> str:
    """The first paragraph of a module's own comment."""
    lines = path.read_text(encoding="utf-8").split("\n")
    said = [line.removeprefix("//!").strip() for line in lines if line.startswith("//!")]
    return " ".join(said[: said.index("")] if "" in said else said).replace("|", "\\|")
