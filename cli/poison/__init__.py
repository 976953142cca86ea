"""howdah poison: commands for failed and dead messages, and their shared options."""
