"""howdah import: copy messages from the stores of other systems. Nothing but the command uses it."""
