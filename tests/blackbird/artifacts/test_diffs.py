"""Diffs, diffstats, patches and statuses: which files changed, how, by how much, and what in them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blackbird.artifacts import diffs
from blackbird.artifacts.diffs import Changed, Totals
from blackbird.canon.details import Hunk, unified
from tests.blackbird.artifacts.outputs.told import sample


@pytest.mark.requirement("EXTRACT-04")
def test_a_diff_of_git() -> None:
    assert diffs.read(sample("diff-git")) == (
        Changed(path="a.txt"),
        Changed(path="logo.png", action="created"),
        Changed(path="src/basket.py", added=8, removed=0, action="created", symbols=("total", "Basket", "add")),
        Changed(path="src/cart.py", added=0, removed=2, action="deleted", symbols=("total",)),
    )


@pytest.mark.requirement("EXTRACT-04")
def test_a_combined_diff() -> None:
    assert diffs.read(sample("diff-combined")) == (Changed(path="a.txt", added=5, removed=0),)


@pytest.mark.requirement("EXTRACT-04")
@pytest.mark.parametrize("name", ["diffstat", "numstat"])
def test_diffstats(name: str) -> None:
    assert diffs.read(sample(name)) == (
        Changed(path="a.txt", added=0, removed=0),
        Changed(path="logo.png"),
        Changed(path="src/basket.py", added=8, removed=0),
        Changed(path="src/cart.py", added=0, removed=2),
    )


@pytest.mark.requirement("EXTRACT-04")
def test_totals() -> None:
    assert diffs.totals(sample("shortstat")) == Totals(4, 8, 2)
    assert diffs.totals(sample("git-commit")) == Totals(2, 3, 0)
    assert diffs.totals("nothing") is None


@pytest.mark.requirement("EXTRACT-04")
@pytest.mark.parametrize("name", ["git-porcelain", "git-porcelain2", "git-short", "git-status"])
def test_statuses(name: str) -> None:
    assert [(file.path, file.action) for file in diffs.read(sample(name))] == [
        ("a.txt", "edited"),
        ("logo.png", "created"),
        ("src/basket.py", "created"),
        ("src/cart.py", "deleted"),
        ("with space.txt", "created"),
    ]


@pytest.mark.requirement("EXTRACT-04")
def test_what_a_pull_changed() -> None:
    assert diffs.read(sample("git-pull")) == (
        Changed(path="a.txt", added=0, removed=0),
        Changed(path="logo.png", action="created"),
        Changed(path="src/basket.py", added=8, removed=0, action="created"),
        Changed(path="src/cart.py", added=0, removed=2, action="deleted"),
        Changed(path="with space.txt", added=1, removed=0, action="created"),
    )


def test_what_a_commit_changed() -> None:
    assert [(file.path, file.action) for file in diffs.read(sample("git-commit-many"))] == [
        ("a.txt", "edited"),
        ("logo.png", "created"),
        ("src/basket.py", "created"),
        ("src/cart.py", "deleted"),
        ("with space.txt", "created"),
    ]


PATCH = """\
*** Begin Patch
*** Update File: src/cart.py
@@ def total(items):
-    return sum(items)
+    return sum(items, 0)

*** Add File: shop/cart.go
+package shop
+
+func (c *Cart) Add(price int) {}
*** Delete File: old.txt
*** Update File: cart.ts
*** Move to: basket.ts
@@
 class Cart {
-  total() {
+  sum(items: number[]): number {
*** End Patch
"""


@pytest.mark.requirement("EXTRACT-04")
def test_a_patch_that_is_placed_by_words() -> None:
    assert diffs.read(PATCH) == (
        Changed(path="src/cart.py", added=1, removed=1, symbols=("total",)),
        Changed(path="shop/cart.go", added=3, removed=0, action="created", symbols=("Add",)),
        Changed(path="old.txt", action="deleted"),
        Changed(path="basket.ts", added=1, removed=1, action="renamed", symbols=("total", "sum"), old_path="cart.ts"),
    )


@pytest.mark.requirement("EXTRACT-04")
def test_the_patch_of_a_clients_log() -> None:
    hunks = [Hunk(10, 3, 10, 4, ["     items = []", "-    return 1", "+    x = 2", "+    return x", " "])]
    assert diffs.read(unified("/home/dev/shop/cart.py", hunks)) == (
        Changed(path="/home/dev/shop/cart.py", added=2, removed=1),
    )


def test_a_rename_with_changes() -> None:
    text = (
        "diff --git a/src/a.rs b/src/b.rs\nsimilarity index 90%\nrename from src/a.rs\nrename to src/b.rs\n"
        "--- a/src/a.rs\n+++ b/src/b.rs\n@@ -4,2 +4,2 @@ impl Cart {\n     fn total(&self) -> u32 {\n"
        "-        1\n+        2\n"
    )
    assert diffs.read(text) == (
        Changed(path="src/b.rs", added=1, removed=1, action="renamed", symbols=("total",), old_path="src/a.rs"),
    )


def test_the_head_of_a_hunk_names_what_it_is_in() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -9,2 +9,3 @@ def total(items):\n     a = 1\n+    b = 2\n     return a\n"
    assert diffs.read(text) == (Changed(path="x.py", added=1, removed=0, symbols=("total",)),)


def test_a_line_further_left_is_not_in_it() -> None:
    text = "--- a/x.py\n+++ b/x.py\n@@ -9,1 +9,2 @@ def total(items):\n \n+LIMIT = 3\n"
    assert diffs.read(text) == (Changed(path="x.py", added=1, removed=0),)


def test_lines_that_look_like_heads_are_lines() -> None:
    text = "--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1,2 @@\n--- an old remark\n+++ b/a new one\n select 1;\n"
    assert diffs.read(text) == (Changed(path="x.sql", added=1, removed=1),)


def test_a_diff_without_prefixes() -> None:
    text = "--- x.py\t2026-01-02 03:04:05\n+++ x.py\t2026-01-02 03:04:06\n@@ -1 +1 @@\n-a\n+b\n"
    assert diffs.read(text) == (Changed(path="x.py", added=1, removed=1),)


def test_a_file_in_two_commits_is_counted_in_both() -> None:
    one = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert diffs.read(f"{one}\ncommit 2\n\n{one}") == (Changed(path="x", added=2, removed=2),)


def test_lines_that_were_seen_are_better_than_a_diffstat() -> None:
    stat = " x | 90 +++++-----\n 1 file changed, 50 insertions(+), 40 deletions(-)\n\n"
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert diffs.read(stat) == (Changed(path="x"),)
    assert diffs.read(stat + diff) == (Changed(path="x", added=1, removed=1),)


def test_renames_in_stats_and_statuses() -> None:
    expected = (Changed(path="src/b.py", action="renamed", old_path="src/a.py"),)
    assert diffs.read("R  src/a.py -> src/b.py\n") == expected
    assert diffs.read(f"2 R. N... 100644 100644 100644 {'a' * 40} {'b' * 40} R100 src/b.py\tsrc/a.py\n") == expected
    assert diffs.read("\trenamed:    src/a.py -> src/b.py\n") == expected
    assert diffs.read(" rename src/{a.py => b.py} (100%)\n") == expected
    assert diffs.read("1\t2\tsrc/{a.py => b.py}\n")[0].old_path == "src/a.py"


def test_other_texts_change_nothing() -> None:
    assert diffs.read("") == ()
    assert diffs.read("A  few words\nof prose that are\nno status at all\nof anything\n") == ()
    assert diffs.read("@@ -1 +1 @@\n-a\n+b\n") == ()
    assert diffs.read(" name | count\n------+------\n a    | 3\n") == ()


@given(
    st.lists(
        st.sampled_from(
            [*sample("diff-git").split("\n"), *sample("git-pull").split("\n"), *PATCH.split("\n"), "@@ @@"]
        )
        | st.text(max_size=20),
        max_size=40,
    ).map("\n".join)
)
def test_any_text_is_read(text: str) -> None:
    found = diffs.read(text)
    assert len({file.path for file in found}) == len(found)
    assert all((file.added or 0) >= 0 and (file.removed or 0) >= 0 for file in found)


@pytest.mark.parametrize(
    "piece", ["@@ -1,9 +1,9 @@ def x\n", "--- a\n+++ b\n", " a | 1 +\n", "{a => ", "+def x\n", '"\\303']
)
def test_a_long_hostile_text_ends(piece: str) -> None:
    diffs.read(piece * 5_000)
