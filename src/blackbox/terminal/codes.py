"""The exit codes that both commands share."""

EXIT_USAGE = 2
EXIT_ENVIRONMENT = 3
EXIT_INTEGRITY = 4
