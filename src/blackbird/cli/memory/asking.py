"""`blackbird mem search`, `get` and `related`, as typer reads them."""

from typing import Annotated

import typer

from blackbird.artifacts.model import Type
from blackbird.cli.memory import questions, showing
from blackbird.cli.memory.answering import recalled
from blackbird.cli.memory.questions import Search, Told
from blackbird.recall import view
from blackbox.terminal import output

_Many = Annotated[
    int | None,
    typer.Option("-k", min=1, max=100, metavar="N", help="How many cards; else as retrieval.k_default says."),
]
_Id = Annotated[str, typer.Argument(metavar="ID", help="An artifact, by its id or the start of it.")]


def search(
    words: Annotated[list[str], typer.Argument(metavar="QUERY", help="What to look for, in words.")],
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="SESSION", help="Only this one. Else that of the run, or the folder's project."
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", metavar="TASK", help="What is of it goes first. Without --session: in the last that has it."
        ),
    ] = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="All sessions; one's own and the project's go first.")
    ] = False,
    kinds: Annotated[
        list[Type] | None, typer.Option("--type", help="Only these; can be given several times.")
    ] = None,
    k: _Many = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say of each card why it stands where it does.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a card (card/1), and one of the search (search/1).")
    ] = False,
) -> None:
    """Search the memory: the best cards first, each with its id, and how many tokens they are in all.

    Takes in what is new first. Names of files, symbols and errors are found by their parts. If nothing has all of the
    words, what has some of them is found. Without a session the folder's project is searched, and all sessions if
    none of it is known; the last line says which. An empty answer says what was searched and what was left out.

    Examples:

      blackbird mem search "how are retries counted" --session harbour

      blackbird mem search parse_header --everywhere --type decision --explain
    """
    asked = Search(
        text=" ".join(words),
        session=session,
        task=task,
        k=k,
        types=tuple(kinds or ()),
        everywhere=everywhere,
        explain=explain,
        as_json=as_json,
    )
    _tell(questions.search(asked))


def get(
    name: _Id,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object (schema artifact/1).")] = False,
) -> None:
    """Show one artifact whole, with its provenance, each quote looked up in the trace.

    One that is very long is cut where it is longest, and what was cut is said: `blackbird artifacts ID` has all of
    it, and `blackbird evidence ID` the bytes that it comes from.

    Examples:

      blackbird mem get art_4ucdv2hlmbo2tyhx

      blackbird mem get 4ucdv2hl --json | jq .content
    """
    with recalled() as recall:
        whole = recall.get(name, proved=True)
    if as_json:
        output.write_json(view.describe_whole(whole))
    else:
        showing.show(output.stdout(), whole)
        showing.show_size(output.stdout(), whole)


def related(
    name: _Id,
    k: _Many = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a card (schema neighbour/1).")] = False,
) -> None:
    """List what has to do with an artifact: by replacing it, or by its task, its files, its symbols, its time.

    Examples:

      blackbird mem related art_4ucdv2hlmbo2tyhx
    """
    _tell(questions.related(name, k, as_json=as_json))


def _tell(told: Told) -> None:
    output.write(told.data)
    if told.code:
        raise typer.Exit(told.code)
