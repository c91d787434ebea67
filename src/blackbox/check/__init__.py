"""What is wrong with a log: rules, findings, and one streaming pass that applies them all.

validator    the pass itself, and the report it gives
rules        the table of rules (rules.toml) and their pages
findings     findings and severities
statistics   what the log contains, counted on the way
text · header · lines · calls · steps · flight · totals     the checks, by what they look at
"""
