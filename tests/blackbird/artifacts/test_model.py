"""Artifacts: what every one of them has."""

import pytest

from blackbird.artifacts.model import Artifact, Fact, Type, artifact_id


def test_an_id_depends_on_type_session_and_key_alone() -> None:
    one = artifact_id(Type.DECISION, "harbour", "database", "postgres")
    assert one == "art_gmrum2jbaw6hxgzi"
    assert artifact_id(Type.DECISION, "harbour", "database", "postgres") == one
    assert artifact_id(Type.CONSTRAINT, "harbour", "database", "postgres") != one
    assert artifact_id(Type.DECISION, "dock", "database", "postgres") != one


@pytest.mark.requirement("ART-02")
def test_an_artifact_without_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="without evidence"):
        Artifact(
            id="art_x",
            type=Type.FACT,
            session="harbour",
            title="Python",
            content=Fact(name="language", value="Python"),
            provenance=(),
            builder="1",
        )
