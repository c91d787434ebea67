"""`blackbox explain`: the page of a rule, or the list of all."""

import difflib
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from blackbox.check.rules import Rule, all_rules, look_up
from blackbox.errors import UsageError
from blackbox.terminal import output

SCHEMA = "blackbox.rule/1"


def command(
    rule: Annotated[
        str | None, typer.Argument(help="A rule's id or name; without one, all rules are listed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a rule (schema blackbox.rule/1).")] = False,
) -> None:
    """Explain a rule of `validate`: what it means, why it matters, what to do.

    Examples:

      blackbox explain C003

      blackbox explain never-answered
    """
    rules = list(all_rules().values()) if rule is None else [_find(rule)]
    if as_json:
        for each in rules:
            output.write_json({"schema": SCHEMA, **msgspec.to_builtins(each)})
    elif rule is None:
        _show_list(rules)
    else:
        _show_page(rules[0])


def _find(word: str) -> Rule:
    rule = look_up(word)
    if rule is None:
        known = [name for each in all_rules().values() for name in (each.id, each.name)]
        near = difflib.get_close_matches(word.lower(), [name.lower() for name in known], 1)
        hint = f"did you mean {near[0].upper() if near[0][1:].isdigit() else near[0]}? " if near else ""
        raise UsageError(f"there is no rule `{output.printable(word)}`", f"{hint}blackbox explain lists all rules")
    return rule


def _show_list(rules: list[Rule]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("rule", "severity", "name", "summary"):
        table.add_column(column, no_wrap=column != "summary")
    for rule in rules:
        table.add_row(rule.id, rule.severity.value, rule.name, rule.summary)
    console = output.stdout()
    if console.is_terminal:
        console.soft_wrap = False
        console.print(table)
    else:
        for rule in rules:
            console.print(f"{rule.id}  {rule.severity.value:8} {rule.name:24} {rule.summary}")


def _show_page(rule: Rule) -> None:
    console = output.stdout()
    console.print(f"{rule.id} {rule.name} ({rule.severity.value})\n")
    console.print(f"{rule.summary}\n")
    console.print(f"Why it matters: {rule.why}\n")
    console.print(f"What to do: {rule.remedy}\n")
    for title, example in (("Breaks the rule", rule.bad), ("Follows the rule", rule.good)):
        console.print(f"{title}:")
        for line in example.split("\n")[: -1 if example.endswith("\n") else None]:
            console.print(f"    {output.printable(line)}")
        console.print()
