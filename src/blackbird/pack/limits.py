"""What the settings say of packs: how long each may be, and what counts that."""

from blackbird import tokens
from blackbird.config.resolve import Config
from blackbird.pack.model import Caps
from blackbird.tokens import Counter

_SECTIONS = tuple(name for name in Caps.__struct_fields__ if name != "total")


def caps(config: Config, budget: int | None = None) -> Caps:
    """The limits that are set; `budget` is another total."""
    total = budget if budget is not None else int(config["context.budget_tokens"])
    return Caps(total=total, **{name: int(config[f"context.{name}_tokens"]) for name in _SECTIONS})


def counter(config: Config) -> Counter:
    """The counter that is set. Raises `ConfigError` if it needs what is not installed."""
    return tokens.counter(config["context.counter"])
