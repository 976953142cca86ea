"""howdah queue: commands for queues and their options, and for messages that a queue holds."""
