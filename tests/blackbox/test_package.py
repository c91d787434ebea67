"""The names of the package, loaded when they are first asked for."""

import subprocess
import sys

import pytest

import blackbox


def test_each_public_name_is_there_and_comes_from_where_the_table_says() -> None:
    assert sorted(blackbox._HOMES) == sorted(blackbox.__all__)
    found = {name: getattr(blackbox, name).__module__ for name in blackbox.__all__}
    assert found == blackbox._HOMES
    assert set(blackbox.__all__) <= set(dir(blackbox))


def test_a_name_that_is_none_is_missed_as_usual() -> None:
    with pytest.raises(AttributeError, match=r"^module 'blackbox' has no attribute 'nothing'$"):
        blackbox.nothing  # noqa: B018 - asking is the test


def test_the_package_alone_loads_none_of_its_modules() -> None:
    asked = "import blackbox, sys; print([name for name in sys.modules if name.startswith('blackbox.')])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
