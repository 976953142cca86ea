"""howdah poison: its commands, the options that they share, and what they do with dead messages."""
