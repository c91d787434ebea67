"""What a secret looks like, as data, and what is put in its place.

patterns    the language of patterns: checked, and asked how its matches begin
rules       the rule file `rules.toml` and the user's own rules, read and checked
search      where the matches of many rules can begin, found fast
finders     what one rule, one block and one entropy entry find
redactor    text in, text without secrets out, with what was found
place       where the user's configuration is
config      the only module here that reads the user's configuration
"""
