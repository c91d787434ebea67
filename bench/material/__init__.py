"""Made-up talk of agents and their logs, to measure on."""
