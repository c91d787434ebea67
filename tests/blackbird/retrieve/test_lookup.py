"""An artifact is found by its id, or by as much of it as is enough."""

from pathlib import Path

import pytest

from blackbird.errors import NotFound
from blackbird.retrieve.lookup import whole
from blackbird.store.memory import Stored
from blackbox.errors import UsageError
from tests.blackbird.retrieve.artifacts import artifact, decision, new_memory, talk


@pytest.mark.requirement("SEARCH-08")
def test_an_id_or_its_beginning_gives_the_whole_with_its_provenance(tmp_path: Path) -> None:
    made = artifact(decision("Use uv"))
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", [made, *talk("one", "two")])
        for name in (made.id, made.id[:10], made.id.removeprefix("art_"), made.id[4:10].upper(), f" {made.id} "):
            assert whole(memory, name) == Stored(made)
        assert whole(memory, made.id).artifact.provenance == made.provenance


def test_what_is_no_id_is_told_apart_from_what_is_not_there(tmp_path: Path) -> None:
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", [artifact(decision(f"Use {at}")) for at in range(3)])
        for short in ("", "art_", "art_abcde", "abcde"):
            with pytest.raises(UsageError, match="too short"):
                whole(memory, short)
        for other in ("art_zzzzzz", "zzzzzz", "%_____", "art_'; --x"):
            with pytest.raises(NotFound, match="no artifact"):
                whole(memory, other)


def test_several_are_listed(tmp_path: Path) -> None:
    one, two = artifact(decision("one")), artifact(decision("two"))
    with new_memory(tmp_path / "derived") as memory:
        memory.put("s1", [one, two])
        memory._database.execute("UPDATE artifact SET id = 'art_aaaaaa' || number")
        with pytest.raises(UsageError, match="means 2 artifacts: art_"):
            whole(memory, "aaaaaa")
