"""`blackbird config`: what is set, and where it was set."""

from typing import Annotated, Any

import msgspec
import typer

from blackbird import home as homes
from blackbird.cli.arguments import Json
from blackbird.config import settings as table
from blackbird.config import values
from blackbird.config.layers import Assignment
from blackbird.config.load import load, nearest_project
from blackbird.errors import ConfigError
from blackbox.terminal import output

_MASK = "(set, not shown)"

app = typer.Typer(rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def overview(context: typer.Context) -> None:
    """The configuration: what is set, and where.

    Without a command: all settings.

    Examples:

      blackbird config show proxy.listen

      blackbird config path
    """
    if context.invoked_subcommand is None:
        show()


@app.command("show")
def show(
    key: Annotated[str | None, typer.Argument(help="A setting, or a table of them; without one, all.")] = None,
    as_json: Json = False,
) -> None:
    """Show each value and where it was set: an option, a variable, a file with its line, or nowhere.

    Examples:

      blackbird config show

      blackbird config show trace

      BLACKBIRD_PROXY_MODE=privacy blackbird config show proxy.mode
    """
    config = load(homes.find())
    chosen = [each for name, each in config.assignments.items() if key in (None, name, each.setting.section)]
    if not chosen and key is not None:
        raise ConfigError(f"there is no setting {output.printable(key)}", table.suggest(key))
    if as_json:
        output.write_json({"schema": "config/1", "settings": [_describe(each) for each in chosen]})
        return
    width = max(len(each.setting.name) for each in chosen)
    console = output.stdout()
    for each in chosen:
        planned = "  (not read yet)" if each.setting.is_planned else ""
        text = f"{each.setting.name:<{width}} = {_text(each)}  # {each.origin}{planned}"
        console.print(output.printable(text))


@app.command("path")
def path(as_json: Json = False) -> None:
    """Print where your own file is, whether or not it is there yet.

    Example:

      blackbird config path
    """
    home = homes.find()
    project = nearest_project()
    if as_json:
        body = {"user": str(home.config_file), "project": None if project is None else str(project)}
        output.write_json({"schema": "config-path/1", **body})
        return
    output.write_text(f"{home.config_file}\n")
    if project is not None:
        output.stderr().print(f"Here {output.printable(str(project))} is read, too.")


def _describe(each: Assignment) -> dict[str, Any]:
    return {
        "name": each.setting.name,
        "value": _shown(each),
        "origin": each.origin.level,
        "where": each.origin.where or None,
        "read_by": each.setting.read_by,
        "help": each.setting.help,
    }


def _shown(each: Assignment) -> Any:
    if each.setting.secret and each.value is not None:
        return _MASK
    return values.show(each.setting, each.value)


def _text(each: Assignment) -> str:
    shown = _shown(each)
    return "(off)" if shown is None else msgspec.json.encode(shown).decode()
