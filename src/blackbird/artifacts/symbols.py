"""The name that a line of code defines: a function, a class, a type."""

import re

#: No language needs more of a line to say what it defines.
_CLIP = 300

_NOT_NAMES = frozenset(
    (
        "if",
        "for",
        "while",
        "switch",
        "catch",
        "return",
        "function",
        "else",
        "do",
        "try",
        "with",
        "await",
        "sizeof",
        "new",
    )
)
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|synchronized|override|async|virtual|suspend|open"
    r"|inline|sealed|data|readonly|default|export|declare|native|partial|extern|get|set|companion|inner|fileprivate"
    r"|mutating|const|unsafe|lateinit|actual|expect|tailrec|operator|infix|value|case|implicit|lazy|required"
    r"|convenience) ){0,6}"
)
_TYPES = (
    r"(?:class|interface|enum class|enum|record|struct|trait|object|namespace|protocol|extension|union|module|type)"
)

#: For each language how a definition begins; the first group is the name.
_PATTERNS = {
    "python": (r"(?:async )?def (\w+)", r"class (\w+)"),
    "rust": (
        r'(?:pub(?:\([^)]*\))? )?(?:default )?(?:const )?(?:async )?(?:unsafe )?(?:extern "[^"]*" )?fn (\w+)',
        r"(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|type|union|mod|macro_rules!) (\w+)",
        r"impl(?:<[^{]{0,80}>)? (?:[^{]{1,120} for )?(\w+)",
    ),
    "go": (r"func (?:\([^)]*\) )?(\w+)", r"type (\w+)"),
    "script": (
        rf"{_MODIFIERS}function\*? ?(\w+)",
        rf"{_MODIFIERS}{_TYPES} (\w+)",
        (
            r"(?:export )?(?:const|let|var) (\w+)(?:: [^=]{1,120})? = (?:async )?"
            r"(?:function\b|\([^)]*\)[^=]{0,80}=>|\w+ =>)"
        ),
        rf"{_MODIFIERS}(#?\w+)\([^)]*\)(?:: [^{{]{{1,80}})? ?\{{$",
    ),
    "java": (
        rf"{_MODIFIERS}{_TYPES} (\w+)",
        rf"{_MODIFIERS}(?:fun|func|def) (?:<[^>]{{0,80}}> ?)?(?:\w+\.)?(\w+)",
        (
            r"(?:@\w+ )?(?:(?:public|private|protected|internal|static|final|abstract|synchronized|override|async"
            r"|virtual) ){1,6}[\w<>\[\], .?]{0,80}?\b(\w+) ?\("
        ),
    ),
    "c": (
        r"(?:typedef )?(?:struct|class|enum class|enum|union|namespace) (\w+)",
        r"#define (\w+)",
        r"(?:template ?<[^>]{0,80}> ?)?[A-Za-z_][\w:*&<>, ]{0,120}[ *&](~?\w+(?:::~?\w+){0,4})\([^;]*$",
    ),
    "ruby": (r"def (?:self\.)?([\w?!=]+)", r"(?:class|module) ([\w:]+)"),
    "php": (rf"{_MODIFIERS}function &?(\w+)", rf"{_MODIFIERS}{_TYPES} (\w+)"),
    "shell": (r"(?:function )?([A-Za-z_][\w-]*) ?\(\)", r"function ([A-Za-z_][\w-]*)"),
}
_COMPILED = {
    language: tuple(re.compile(pattern + r"(?!\w)" * pattern.endswith(r"(\w+)")) for pattern in patterns)
    for language, patterns in _PATTERNS.items()
}
_ENDINGS = {
    "python": "py pyi",
    "rust": "rs",
    "go": "go",
    "script": "js jsx ts tsx mjs cjs mts cts vue svelte",
    "java": "java kt kts cs swift scala groovy dart",
    "c": "c h cc cpp cxx hh hpp hxx m mm cu",
    "ruby": "rb rake",
    "php": "php",
    "shell": "sh bash zsh",
}
_LANGUAGES = {ending: language for language, endings in _ENDINGS.items() for ending in endings.split()}


def language_of(path: str) -> str | None:
    """The language of a file, as far as definitions are written alike in it; None if none is known."""
    return _LANGUAGES.get(path.rpartition(".")[2].lower()) if "." in path else None


def defined(language: str, line: str) -> str | None:
    """The name that a line of this language defines; None if it defines none."""
    text = line[:_CLIP].strip()
    for pattern in _COMPILED[language]:
        found = pattern.match(text)
        if found is not None and found[1] not in _NOT_NAMES:
            return found[1]
    return None
