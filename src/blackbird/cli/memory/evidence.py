"""`blackbird evidence`: the very bytes that an artifact comes from, and whether they are what was written."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from blackbird.artifacts.proof import Proof
from blackbird.cli.memory.answering import recalled
from blackbird.cli.memory.showing import PROOFS
from blackbird.errors import NotFound
from blackbird.recall import Piece, Whole, view
from blackbox.errors import IntegrityError, UsageError
from blackbox.terminal import output

#: How much of a piece a terminal shows; a pipe gets all of it.
_SHOWN_LINES = 40
_SHOWN_COLUMNS = 400


def command(
    name: Annotated[str, typer.Argument(metavar="ID", help="An artifact, by its id or the start of it.")],
    number: Annotated[
        int | None, typer.Option("--piece", min=1, metavar="N", help="Only the piece of this number.")
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="The bytes and nothing else; a line feed between pieces.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a piece (schema evidence/1).")] = False,
) -> None:
    """Show the very bytes of the trace that an artifact comes from, and check them.

    For each piece: the request, line or statement that it stands in, the bytes of that body, the segment, and each
    record with its bytes in the segment's file. Records are checked against their checksums, segments against the
    root that the seal or the next segment has of them, quoted words against the bytes. A secret that a rule of today
    finds, and those of the recording did not, is masked, and that is said.

    Examples:

      blackbird evidence art_4ucdv2hlmbo2tyhx

      blackbird evidence 4ucdv2hl --piece 1 --raw | jq .
    """
    if raw and as_json:
        raise UsageError("--raw and --json are two things", "leave one of them out")
    with recalled() as recall:
        whole = recall.get(name, most=None)
        pieces = list(enumerate(recall.evidence(whole.artifact.id), 1))
    chosen = [(at, piece) for at, piece in pieces if number in (None, at)]
    if not chosen:
        raise UsageError(f"there is no piece {number}", f"{whole.artifact.id} has {len(pieces)}")
    if raw:
        output.write(b"\n".join(piece.data for _, piece in chosen if piece.data is not None))
    elif as_json:
        for _, piece in chosen:
            output.write_json(view.describe_piece(whole.artifact.id, piece))
    else:
        _show(output.stdout(), whole, chosen)
    _judge(whole.artifact.id, [piece for _, piece in chosen], is_raw=raw)


def _judge(identifier: str, pieces: list[Piece], *, is_raw: bool) -> None:
    """End as what was found deserves it."""
    masked = sum(piece.masked for piece in pieces)
    if is_raw and masked:
        output.stderr().print(output.marked("!", _masked(masked)))
    wrong = [problem for piece in pieces for problem in (*piece.problems, *_mismatch(piece))]
    if wrong:
        raise IntegrityError(
            f"{identifier}: what is there is not what was written: {'; '.join(dict.fromkeys(wrong))}",
            "blackbird trace verify tells more",
        )
    if all(piece.data is None for piece in pieces):
        raise NotFound(f"{identifier}: its evidence is no longer in the trace", "retention, or its owner, removed it")


def _mismatch(piece: Piece) -> list[str]:
    return ["the quoted words do not stand there"] if piece.proof is Proof.OTHER else []


def _masked(count: int) -> str:
    many = "1 secret" if count == 1 else f"{count} secrets"
    return f"{many} that the recording has kept: masked here by the rules of today"


def _show(console: Console, whole: Whole, pieces: list[tuple[int, Piece]]) -> None:
    artifact = whole.artifact
    console.print(Text(output.printable(artifact.title), "bold"))
    about = f"  {artifact.id}, {artifact.type}, {output.printable(artifact.session)}"
    console.print(Text(about, "bright_black"))
    for at, piece in pieces:
        console.print()
        _show_piece(console, at, piece)


def _show_piece(console: Console, number: int, piece: Piece) -> None:
    found = piece.evidence
    mark, words = PROOFS[piece.proof] if piece.quote or piece.proof is not Proof.FOUND else ("✓", "is there")
    mark = mark if piece.is_sound else "✗"
    place = f"{found.source} {found.side}, bytes {found.start}–{found.end}"
    console.print(output.marked(mark, f"{number}  {place}: {words}"))
    for record in piece.records:
        where = f"segment {record.segment}, record {record.sequence}, bytes {record.offset}–{record.end} of its file"
        console.print(Text(f"    {where}", "bright_black"))
    if found.file is not None:
        console.print(Text(f"    from {output.printable(found.file)} at {found.offset}", "bright_black"))
    for problem in piece.problems:
        console.print(Text(f"    {problem}", "red"))
    if piece.masked:
        console.print(Text(f"    {_masked(piece.masked)}", "yellow"))
    if piece.data is not None:
        _show_bytes(console, piece.data)


def _show_bytes(console: Console, data: bytes) -> None:
    lines = data.decode("utf-8", "backslashreplace").split("\n")
    is_short = sys.stdout.isatty()
    for line in lines[:_SHOWN_LINES] if is_short else lines:
        text = output.printable(line)
        cut = text[:_SHOWN_COLUMNS] + " …" if is_short and len(text) > _SHOWN_COLUMNS else text
        console.print(Text("    │ ", "bright_black").append(cut, ""))
    if is_short and (len(lines) > _SHOWN_LINES or any(len(line) > _SHOWN_COLUMNS for line in lines)):
        console.print(Text("    │ … --raw has all of it", "bright_black"))
