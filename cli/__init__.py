"""The `howdah` command."""
