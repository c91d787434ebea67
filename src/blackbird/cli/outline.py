"""What the commands say of themselves, read from their sources: help on all of them need not load one."""

import ast
import functools
import importlib.util
from pathlib import Path

import typer

#: What a group of commands is called in its module, and the function there that says what it is about.
_GROUP, _OVERVIEW = "app", "overview"


def add(app: typer.Typer, name: str, place: str, attribute: str) -> None:
    """A command, or a group of them, that has its help and does nothing."""
    told = _said(place).get(_OVERVIEW if attribute == _GROUP else attribute)
    if attribute == _GROUP:
        app.add_typer(typer.Typer(rich_markup_mode=None, callback=_nothing), name=name, help=told)
    else:
        app.command(name, help=told)(_nothing)


def _nothing() -> None:
    return


@functools.cache
def _said(place: str) -> dict[str, str | None]:
    """What each function of a module says of itself."""
    spec = importlib.util.find_spec(place)
    if spec is None or spec.origin is None:
        return {}
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    return {each.name: ast.get_docstring(each) for each in tree.body if isinstance(each, ast.FunctionDef)}
