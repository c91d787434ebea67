"""`blackbird pack`, and `blackbird mem context`, which is the same: what a task should know of those before it."""

from typing import Annotated

import typer

from blackbird.cli.memory import lines, packs
from blackbird.cli.memory.answering import recalled
from blackbird.home import working_folder
from blackbird.pack import rendering
from blackbox.terminal import output

EXIT_NOTHING = 1


def command(
    task: Annotated[
        str | None, typer.Option("--task", metavar="TASK", help="The task ahead; else that of the run, if any.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="SESSION", help="Its session; else that of the run, or the task's last."),
    ] = None,
    describe: Annotated[
        str | None, typer.Option("--describe", metavar="TEXT", help="What is to be done, to choose by.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", min=100, max=100_000, metavar="N", help="Tokens; else context.budget_tokens."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Why each line is in it, what is not and why, and tokens by section.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema pack/1).")] = False,
) -> None:
    """Print what a task should know of those before it: the context pack that its agent is given.

    It has the goal, what is known of the project, decisions and constraints that hold, what earlier tasks did, what
    failed, what is open, and ids that lead to more. Without a session, what was done before in this folder. The same
    state gives the same bytes, and no pack is longer than its budget.

    Examples:

      blackbird pack --session harbour --task tide --describe "Read the tide tables"

      blackbird mem context --task crane --budget 800

      blackbird pack --explain
    """
    with recalled() as recall:
        pack = recall.context(
            session=session, task=task, description=describe, folder=working_folder(), budget=budget
        )
        is_known = session is None or recall.knows(session)
    if not is_known:
        told = f"Nothing is known of a session {output.printable(session or '')}: this is what its project left"
        output.stderr().print(output.marked("!", told))
    if as_json:
        output.write_json(rendering.describe(pack))
    elif explain:
        lines.show(packs.explained(pack))
    elif pack.text:
        output.write_text(rendering.markdown(pack))
    else:
        more = ". blackbird pack --explain says why" if pack.left_out else ""
        output.stderr().print(output.marked("!", packs.nothing(pack) + more))
    raise typer.Exit(0 if pack.text else EXIT_NOTHING)
