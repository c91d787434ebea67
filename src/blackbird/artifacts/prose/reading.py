"""Reads prose for decisions, constraints and open threads: what the human orders, and what the agent says outright.

Each sentence is held against a table of forms, `forms.toml`. Most count only where a clause begins, so that a
description of code is none: "it never returns null" is no order. Of an agent's words, a few outright forms count.
"""

import functools
import importlib.resources
import re
import tomllib
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from blackbird.artifacts.model import Speaker, ThreadKind, ThreadState, Type
from blackbird.artifacts.prose import replies, subjects
from blackbird.artifacts.prose.hint import Hint, Stretch
from blackbird.artifacts.prose.sentences import Form, Sentence, masked, plain, sentences
from blackbird.artifacts.prose.typed import typed

#: A sentence that is longer is no sentence, and a statement that is longer is cut.
LONGEST_SENTENCE = 1_500
LONGEST_STATEMENT = 400
#: Clauses of a sentence that are looked at.
CLAUSES = 12
#: Sentences of a last paragraph among which the question is looked for.
LAST_SENTENCES = 8

_ENDS = " \t\r\n.!?,;:"
_LETTER = re.compile(r"[^\W\d_]")


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    name: str
    speaker: Speaker
    type: Type
    at: Literal["clause", "sentence"]
    pattern: str
    unless: str | None = None
    must: bool | None = None
    thread: ThreadKind | None = None
    reverts: bool = False
    refuses: bool = False


class _List(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    speaker: Speaker
    type: Type
    lead: str
    thread: ThreadKind | None = None


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    opener: str
    opening_phrase: str
    clause_break: str = msgspec.field(name="break")
    veto: tuple[str, ...]
    cues: tuple[str, ...]
    tag_question: str
    local: str
    standing: str
    rationale: str
    returning: str
    fragment: dict[str, str]
    form: tuple[_Form, ...]
    list: tuple[_List, ...]


class _Ready(NamedTuple):
    """A form, ready to be looked for."""

    form: _Form
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None


class _Rules(NamedTuple):
    opener: re.Pattern[str]
    clause_break: re.Pattern[str]
    veto: re.Pattern[str]
    cues: re.Pattern[str]
    tag_question: re.Pattern[str]
    local: re.Pattern[str]
    standing: re.Pattern[str]
    rationale: re.Pattern[str]
    returning: re.Pattern[str]
    forms: dict[Speaker, tuple[_Ready, ...]]
    lists: tuple[tuple[_List, re.Pattern[str]], ...]


def read(text: str, speaker: Speaker, before: str = "") -> tuple[Hint, ...]:
    """What a message settles, demands and leaves open, in order. `before` is what the agent said last before it."""
    if speaker is Speaker.AGENT:
        if not _has_cue(text):
            return ()
        found = list(sentences(text))
        hints = [hint for one in found if (hint := _hint(text, one, speaker)) is not None]
        asked = _asked(text, found)
        if asked is not None:
            hints = [hint for hint in hints if hint.first < asked.first] + [asked]
        return tuple(hints)
    stretches = typed(text)
    found = [one for stretch in stretches for one in sentences(text, *stretch)]
    hints = [hint for one in found if (hint := _hint(text, one, speaker)) is not None]
    return tuple(_with_answer(text, stretches, hints, before))


def _has_cue(words: str) -> bool:
    """Whether an agent's words can be anything at all; said quickly, since most are nothing."""
    return _rules().cues.search(words.replace("\u2019", "'").lower()) is not None


def _hint(text: str, sentence: Sentence, speaker: Speaker) -> Hint | None:
    """What one sentence is, if it is anything."""
    words = text[sentence.first : sentence.last].replace("\u2019", "'")
    if len(words) > LONGEST_SENTENCE or sentence.form in (Form.HEADING, Form.TICKED_BOX):
        return None
    rules = _rules()
    if (form := _listed(sentence, speaker, rules)) is None:
        if speaker is Speaker.AGENT and not _has_cue(words):
            return None
        readable = masked(words)
        form = _fitting(readable, speaker, rules)
    return None if form is None else _made(sentence, words, form)


def _listed(sentence: Sentence, speaker: Speaker, rules: _Rules) -> _Form | None:
    """The form that a list item has by its box or by the line above the list."""
    if sentence.form is Form.OPEN_BOX:
        thread = ThreadKind.TODO
        return _Form(name="box", speaker=speaker, type=Type.THREAD, at="sentence", pattern="", thread=thread)
    if sentence.form is not Form.ITEM or not sentence.lead:
        return None
    for listed, lead in rules.lists:
        if listed.speaker is speaker and lead.search(sentence.lead):
            return _Form(
                name="list", speaker=speaker, type=listed.type, at="sentence", pattern="", thread=listed.thread
            )
    return None


def _fitting(words: str, speaker: Speaker, rules: _Rules) -> _Form | None:
    """The first form of the table that a sentence has."""
    is_question = words.rstrip("\"')*_ ").endswith("?") and not rules.tag_question.search(words)
    if is_question or not _LETTER.search(words):
        return None
    clauses = list(_clauses(words, rules))
    for form, pattern, unless in rules.forms[speaker]:
        if form.at == "clause":
            is_there = any(pattern.match(words, at) for at in clauses)
        else:
            is_there = pattern.search(words) is not None
        if is_there and (unless is None or not unless.search(words)):
            return None if rules.veto.search(words) else form
    return None


def _clauses(words: str, rules: _Rules) -> Iterator[int]:
    """Where clauses begin, each without and with the words that open it."""
    starts = [0, *(found.end() for found in rules.clause_break.finditer(words))][:CLAUSES]
    for start in starts:
        at = start
        while at < len(words) and not words[at].isalnum():
            at += 1
        yield at
        for _ in range(3):
            opener = rules.opener.match(words, at)
            if opener is None:
                break
            at = opener.end()
            yield at


def _made(sentence: Sentence, words: str, form: _Form) -> Hint:
    rules = _rules()
    constraint = form.type is Type.CONSTRAINT
    slots = subjects.Slots()
    if form.type is not Type.THREAD:
        slots = subjects.slots(_without_label(plain(words)), is_refusal=form.refuses or form.must is False)
    is_thread = form.type is Type.THREAD
    return Hint(
        kind=form.type,
        first=sentence.first,
        last=sentence.last,
        statement=_statement(words),
        subject=slots.subject,
        choice=slots.choice,
        rejected=slots.rejected,
        rationale=None if is_thread else _rationale(words, sentence.first, rules),
        must=form.must,
        is_local=constraint and bool(rules.local.search(words)) and not rules.standing.search(words),
        thread=form.thread,
        state=ThreadState.OPEN if is_thread else None,
        reverts=form.reverts or (slots.choice is not None and rules.returning.search(words) is not None),
    )


def _rationale(words: str, first: int, rules: _Rules) -> tuple[int, int] | None:
    """Where a sentence gives its reason: up to its end, or up to the comma if it begins with it."""
    found = rules.rationale.search(masked(words))
    if found is None:
        return None
    comma = words.find(",", found.end()) if found.start() < 3 else -1
    last = comma if comma > 0 else len(words.rstrip(_ENDS + "*_)"))
    return (first + found.start(), first + last) if last > found.end() else None


def _statement(words: str) -> str:
    """A sentence as one line that stands by itself: no marks, no words that only open it."""
    line = plain(words)
    opener = re.match(
        r"(?:(?:ok(?:ay)?|so|and|but|also|well|hmm?|ah|oh|umm?|yes|yep|yup|yeah)\b[,.…!]*\s+)+", line, re.IGNORECASE
    )
    line = _without_label(line[opener.end() :] if opener and opener.end() < len(line) else line)
    # A name of a file, a function or a command is spelled as it is.
    line = line[:1].upper() + line[1:] if _WORD.match(line) else line
    return line if len(line) <= LONGEST_STATEMENT else line[: LONGEST_STATEMENT - 1].rstrip() + "…"


def _without_label(line: str) -> str:
    """A line without the word that says what it is: the artifact's type says it."""
    label = _LABEL.match(line)
    return line[label.end() :] if label is not None else line


def _with_answer(text: str, stretches: tuple[Stretch, ...], hints: list[Hint], before: str) -> list[Hint]:
    """The hints with what a short message settles about the agent's last question."""
    if not before or len(stretches) != 1:
        return hints
    first, last = stretches[0]
    reply = replies.settles(text[first:last], before)
    if reply is None or (hints and not reply.is_answer) or any(map(_is_standing, hints)):
        return hints
    return [
        Hint(
            kind=Type.DECISION,
            first=first,
            last=last,
            statement=reply.statement,
            choice=reply.choice,
            rejected=reply.rejected,
            reverts=any(hint.reverts for hint in hints),
        )
    ]


def _is_standing(hint: Hint) -> bool:
    """Whether a constraint says that it is for good: no answer to one question."""
    return hint.kind is Type.CONSTRAINT and _rules().standing.search(hint.statement) is not None


_LABEL = re.compile(
    r"(?:decision|decided|constraint|requirement|invariant|to-?do|fixme|blocker|open (?:question|thread|item))s?"
    r"\s*:\s*(?=\S)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?![\w./:\\(-])")
_TO_THE_USER = re.compile(r"\b(?:you|your|i|me|we|shall|prefer)\b|^\W*(?:which|what|how|should)\b", re.IGNORECASE)
_OFFERS = re.compile(
    r"\b(?:would you (?:like|prefer)|do you want|should i|shall i|want me to|which|prefer|you'd like|like me to)\b",
    re.IGNORECASE,
)


def _asked(text: str, found: list[Sentence]) -> Hint | None:
    """The question that an agent's message ends with: in its last paragraph, or right above the options."""
    above = len(found)
    while above and found[above - 1].form in (Form.ITEM, Form.OPEN_BOX):
        above -= 1
    has_options = above < len(found)
    first: int | None = None
    for at in range(above - 1, max(above - 1 - LAST_SENTENCES, -1), -1):
        one = found[at]
        if one.form is not Form.PLAIN or "\n\n" in text[one.last : found[above - 1].first]:
            break
        words = text[one.first : one.last].rstrip("\"')*_ ")
        is_last = at == len(found) - 1
        is_question = words.endswith("?") and (_TO_THE_USER if is_last else _OFFERS).search(words)
        if is_question or (has_options and words.endswith(":") and _OFFERS.search(words)):
            first = one.first
    return None if first is None else _question(text, first, found[-1].last)


def _question(text: str, first: int, last: int) -> Hint:
    return Hint(
        kind=Type.THREAD,
        first=first,
        last=last,
        statement=_statement(text[first:last].replace("\u2019", "'")),
        thread=ThreadKind.QUESTION,
        state=ThreadState.OPEN,
    )


@functools.cache
def _rules() -> _Rules:
    data = importlib.resources.files("blackbird.artifacts.prose").joinpath("forms.toml").read_text("utf-8")
    table = msgspec.convert(tomllib.loads(data), _Table)
    compiled = functools.partial(_compiled, fragments=table.fragment)
    forms: dict[Speaker, tuple[_Ready, ...]] = {}
    for speaker in Speaker:
        forms[speaker] = tuple(
            _Ready(form, compiled(form.pattern), compiled(form.unless) if form.unless else None)
            for form in table.form
            if form.speaker is speaker
        )
    return _Rules(
        opener=compiled(f"(?:\n{table.opener}" + rf"\b[,.…!:]*|{table.opening_phrase})\s+"),
        clause_break=compiled(table.clause_break),
        veto=compiled("|\n".join(table.veto)),
        cues=re.compile("|".join(map(re.escape, table.cues))),
        tag_question=compiled(table.tag_question),
        local=compiled(table.local),
        standing=compiled(table.standing),
        rationale=compiled(table.rationale),
        returning=compiled(table.returning),
        forms=forms,
        lists=tuple((listed, compiled(listed.lead)) for listed in table.list),
    )


def _compiled(pattern: str, fragments: dict[str, str]) -> re.Pattern[str]:
    """A pattern of the table, in one piece. A fragment may have others in it."""
    for _ in range(2):
        pattern = re.sub(r"%(\w+)%", lambda found: f"\n{fragments[found[1]]}", pattern)
    return re.compile(re.sub(r"\n\s*", "", f"\n{pattern}"), re.IGNORECASE)
