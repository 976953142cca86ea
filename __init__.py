"""howdah: a message queue that lives in PostgreSQL."""
