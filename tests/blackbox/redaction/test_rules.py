"""The rule file and the user's rules: what is read, and what is refused with which words."""

import importlib.resources
from hashlib import sha256

import pytest

from blackbox.errors import UsageError
from blackbox.redaction.rules import (
    Block,
    Entropy,
    Profile,
    Rule,
    built_in,
    read_rules,
    read_user_rules,
    ruleset_versions,
)

FILE = importlib.resources.files("blackbox.redaction").joinpath("rules.toml").read_text(encoding="utf-8")
HEAD = 'format = "redaction/1"\nversion = "1"\n[[class]]\nname = "keys"\non = true\nhelp = "Keys."\n'
RULE = '[[rule]]\nid = "one"\nclass = "keys"\nkind = "one"\npattern = "one_[a-z]+"\n'


@pytest.mark.requirement("REDACT-04")
def test_the_built_in_file_keeps_its_own_rules() -> None:
    assert read_rules(FILE, "rules.toml") == built_in()


@pytest.mark.requirement("REDACT-04")
def test_the_file_has_a_version_and_classes() -> None:
    rules = built_in()
    assert rules.version == "2026.11.3"
    assert [entry.name for entry in rules.classes] == [
        "pem",
        "keys",
        "jwt",
        "url",
        "headers",
        "assignments",
        "entropy",
        "identity",
    ]
    assert {item.class_name for item in rules.items} == {entry.name for entry in rules.classes}
    assert rules.profiles == (Profile("wire", on=("identity",), off=("entropy",)),)
    assert [entry.name for entry in rules.classes if not entry.on] == ["identity"]


@pytest.mark.requirement("REDACT-04")
def test_older_versions_stay_as_they_were() -> None:
    assert ruleset_versions() == ("2026.11.2", "2026.11.3")
    for version in ruleset_versions():
        assert built_in(version).version == version
    text = importlib.resources.files("blackbox.redaction").joinpath("rulesets", "2026.11.2.toml").read_text("utf-8")
    assert read_rules(text, "2026.11.2.toml") == built_in("2026.11.2")
    assert sha256(text.encode()).hexdigest() == "13e2911d93df186c2fb02608dfd4e7ee3941c8e2c3017ca8c3740fd6b8e06303"
    with pytest.raises(KeyError):
        built_in("2026.11.1")


def test_what_stands_where_on_the_wire_is_told_in_lower_case() -> None:
    wire = built_in().wire
    names = (*wire.headers, *wire.endings, *wire.query)
    assert [name for name in names if name != name.lower()] == []
    assert {"authorization", "x-api-key", "cookie", "chatgpt-account-id"} <= set(wire.headers)
    assert {"key", "access_token", "code"} <= set(wire.query)


def test_blocks_rank_before_rules_and_entropy_last() -> None:
    order = [(Block, Rule, Entropy).index(type(item)) for item in built_in().items]
    assert order == sorted(order)


def test_every_rule_has_anchors() -> None:
    assert [item.id for item in built_in().items if isinstance(item, Rule) and not item.anchors] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("format = ", "f.toml: no TOML: Invalid value (at end of document)"),
        ('format = "redaction/2"', "f.toml: its `format` is not redaction/1"),
        (HEAD + "[colour]", "f.toml: unknown key `colour`"),
        (HEAD + RULE + RULE, "f.toml: rule `one`: the id is empty or taken"),
        (HEAD + RULE.replace('"keys"', '"x"'), "f.toml: rule `one`: class `x` is not there"),
        (HEAD + RULE.replace('"one"\np', '"One"\np'), "f.toml: rule `one`: kind `One` is not [a-z][a-z0-9_]*"),
        (HEAD + RULE.replace('kind = "one"\n', ""), "f.toml: rule `one`: Object missing required field `kind`"),
        (HEAD + RULE + "colour = 1", "f.toml: rule `one`: Object contains unknown field `colour`"),
        (HEAD + RULE + "anchors = [1]", "f.toml: rule `one`: Expected `str`, got `int` - at `$.anchors[0]`"),
        (HEAD + RULE + 'anchors = ["two"]', "f.toml: rule `one`: `pattern`: a match can begin with none"),
        (HEAD + RULE + 'anchors = [""]', "f.toml: rule `one`: `pattern`: an anchor is empty or not ASCII"),
        (HEAD + RULE + 'fold = true\nanchors = ["one_", "ONE"]', "f.toml: rule `one`: an anchor has upper case"),
        (HEAD + RULE + 'ignore = ["a**"]', "f.toml: rule `one`: `ignore`: a repeat of a repeat"),
        (HEAD + '[[profile]]\nname = "p"\noff = ["x"]', "f.toml: profile p switches a class that is not there"),
        (HEAD + '[[profile]]\nname = "p"\non = ["x"]', "f.toml: profile p switches a class that is not there"),
        (HEAD + "[wire]\ncolour = []", "f.toml: [wire]: Object contains unknown field `colour`"),
    ],
)  # fmt: skip
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_rules(text, "f.toml")
    assert str(caught.value).startswith(message)
    assert caught.value.remedy


def test_blocks_and_entropy_are_checked_too() -> None:
    block = '[[block]]\nid = "b"\nclass = "keys"\nkind = "b"\nbegin = "<"\nend = ">"\nbody = "x"\nlimit = 0\n'
    with pytest.raises(UsageError, match="rule `b`: `limit` is less than 1"):
        read_rules(HEAD + block, "f.toml")
    entropy = '[[entropy]]\nid = "e"\nclass = "keys"\nkind = "e"\nalphabet = "ab"\nleast = 9\nmost = 8\nbits = 1\n'
    with pytest.raises(UsageError, match="rule `e`: `least`, `most`, `alphabet` or `needs` cannot be right"):
        read_rules(HEAD + entropy, "f.toml")


def test_rules_of_the_user_have_a_class_of_their_own() -> None:
    (rule,) = read_user_rules([{"id": "mine", "kind": "mine", "pattern": "abc"}], "config.toml")
    assert rule == Rule(id="mine", class_name="user", kind="mine", pattern="abc")


def test_rules_of_the_user_do_not_take_an_id() -> None:
    with pytest.raises(UsageError, match="rule `jwt`: the id is empty or taken"):
        read_user_rules([{"id": "jwt", "kind": "mine", "pattern": "abc"}], "config.toml")


def test_rules_of_the_user_are_tables() -> None:
    with pytest.raises(UsageError, match=r"config.toml: `redaction.rule` is no list of tables"):
        read_user_rules({"id": "mine"}, "config.toml")
