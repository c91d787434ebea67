"""The header a session begins with: what it needs, and what it refuses."""

import io
from pathlib import Path

import pytest

from blackbox import UsageError
from blackbox.write import Writer


@pytest.mark.requirement("WRITE-01")
@pytest.mark.parametrize("missing", ["id", "repo_sha"])
def test_required_header_fields_are_asked_for_by_name(missing: str, tmp_path: Path) -> None:
    fields = {"id": "s", "repo_sha": "abc1234"}
    for given_fields in ({**fields, missing: ""}, {key: value for key, value in fields.items() if key != missing}):
        with pytest.raises(UsageError, match=f"`{missing}`") as refused:
            Writer.create(tmp_path / "s.bbox", **given_fields)  # type: ignore[arg-type]  # that is the point
        assert missing in refused.value.remedy
    assert list(tmp_path.iterdir()) == []


def test_fields_and_formats_we_do_not_know_are_refused() -> None:
    with pytest.raises(UsageError, match="colour"):
        Writer(io.BytesIO(), id="s", repo_sha="abc1234", colour="red")  # type: ignore[call-arg]
    with pytest.raises(UsageError, match="foo/1"):
        Writer(io.BytesIO(), id="s", repo_sha="abc1234", format="foo/1")
    with pytest.raises(UsageError, match="a b"):
        Writer(io.BytesIO(), id="s", repo_sha="abc1234", extra={"a b": "x"})
