"""The rules of `blackbox validate`, as a table and as pages."""

from blackbox.check.rules import Rule, all_rules

_FAMILIES = {
    "H": "The header",
    "T": "The text itself",
    "L": "Single lines",
    "C": "Calls and answers",
    "S": "Steps, times and metadata",
    "F": "The course of a session",
    "P": "Plan mode",
    "B": "Budget and totals",
    "K": "What is kept",
}


def rule_table() -> str:
    """Every rule in one line, linked to its page."""
    rows = [
        f"| [{rule.id}](#{rule.id.lower()}-{rule.name}) | {rule.severity.value} | {rule.name} | {rule.summary} |"
        for rule in all_rules().values()
    ]
    return "\n".join(["| rule | severity | name | summary |", "|---|---|---|---|", *rows])


def rule_pages() -> str:
    """The page of every rule, by family."""
    pages = []
    for letter, title in _FAMILIES.items():
        pages.append(f"## {letter}: {title}")
        pages += [_rule_page(rule) for rule in all_rules().values() if rule.id[0] == letter]
    if sum(page.startswith("### ") for page in pages) != len(all_rules()):
        raise SystemExit("a rule's first letter has no family in docs/generate.py")
    return "\n\n".join(pages)


def _rule_page(rule: Rule) -> str:
    examples = [("Breaks it", rule.bad), ("Follows it", rule.good)]
    shown = [f"{title}:\n\n```text\n{_visible(text)}\n```" for title, text in examples]
    head = f"### {rule.id} {rule.name}\n\n*{rule.severity.value}* · {rule.summary}"
    return "\n\n".join([head, f"Why it matters: {rule.why}", f"What to do: {rule.remedy}", *shown])


def _visible(text: str) -> str:
    """An example as a page can show it: carriage returns and a missing last line feed are spelled out."""
    if not text:
        return "(no bytes at all)"
    tail = "" if text.endswith(("\n", "}")) else "{no line feed}"
    return text.removesuffix("\n").replace("\r", "{0x0D}") + tail
