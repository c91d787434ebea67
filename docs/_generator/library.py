"""Every name that the package exports, from its docstrings and signatures."""

import enum
import functools
import inspect
import re
from collections.abc import Callable, Iterator

import blackbox

#: What a method's own reader need not see: the names of other modules in an annotation.
_QUALIFIED = re.compile(r"(?:[a-z_]+\.)+(?=[A-Za-z_])")


def library() -> str:
    """Every name that the package exports: its signature, its docstring, and the methods it offers."""
    entries = []
    for name in sorted(blackbox.__all__, key=str.lower):
        value = getattr(blackbox, name)
        text = inspect.cleandoc(value.__doc__ or "")
        if not inspect.isclass(value):
            entries.append(f"## `{name}`\n\n```python\n{name}{_signature(value)}\n```\n\n{text}")
            continue
        rows = [f"- `{label}`: {told}" for label, told in _offered(value)]
        entries.append("\n\n".join([f"## `{name}`", text, "\n".join(rows)] if rows else [f"## `{name}`", text]))
    return "\n\n".join(entries)


def _offered(value: type) -> Iterator[tuple[str, str]]:
    """The public methods and properties of a class, with the first sentence about each."""
    for name, member in inspect.getmembers(value):
        found = inspect.getattr_static(value, name)
        if name.startswith("_") or issubclass(value, enum.Enum | BaseException):
            continue
        told = inspect.cleandoc(getattr(member, "__doc__", None) or "").partition("\n")[0]
        if isinstance(found, property | functools.cached_property):
            told = inspect.cleandoc(found.__doc__ or "").partition("\n")[0]
            yield name, told
        elif callable(member) and told and inspect.getattr_static(object, name, None) is None:
            yield f"{name}{_signature(member)}", told


class _Source:
    """A default as one would write it; functions and enum members have no such repr of their own."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        if isinstance(self._value, enum.Enum):
            return f"{type(self._value).__name__}.{self._value.name}"
        return "…" if callable(self._value) else repr(self._value)


def _signature(value: Callable[..., object]) -> str:
    """A signature as one would write it, without the parameters that Python fills in."""
    signature = inspect.signature(value)
    kept = []
    for one in signature.parameters.values():
        if one.name in ("self", "cls"):
            continue
        default = one.default if one.default is one.empty else _Source(one.default)
        is_rest = one.kind is one.VAR_KEYWORD
        kept.append(one.replace(default=default, annotation=one.empty if is_rest else one.annotation))
    text = re.sub(r"<class '([^']+)'>", r"\1", str(signature.replace(parameters=kept)))
    return _QUALIFIED.sub("", text.replace("'", ""))
