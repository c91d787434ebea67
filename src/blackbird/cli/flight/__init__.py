"""Sessions as flight logs: written, shown, followed, audited."""
