"""Report events of queues and messages to administrators, by webhook and mail."""
