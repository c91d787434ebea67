"""What artifacts are built by: another version, and a memory is made anew."""

from blackbox.redaction.rules import built_in

#: What artifacts say depends on these rules; a change of what they find is another number.
_RULES = "4"


def builder_version() -> str:
    """What an artifact was built by: these rules, and those of redaction."""
    return f"artifacts/{_RULES} redaction/{built_in().version}"
