"""Telling administrators of what befell queues and messages, by webhooks and mail."""
