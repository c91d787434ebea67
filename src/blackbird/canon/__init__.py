"""From exchanges and imported logs to one timeline."""
