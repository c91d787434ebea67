"""What people and agents say, read for what it settles: by patterns, without a model.

`typed` tells what a human typed, `sentences` takes it apart, `subjects` names what a sentence is about, `replies`
reads short answers, and `reading` puts them together: `read` is the door.
"""

from blackbird.artifacts.prose.hint import Hint, Stretch
from blackbird.artifacts.prose.reading import read
from blackbird.artifacts.prose.subjects import key, normal
from blackbird.artifacts.prose.typed import typed

__all__ = ["Hint", "Stretch", "key", "normal", "read", "typed"]
