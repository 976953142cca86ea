"""The runtime: listener sessions, their supervisor, failure recording, maintenance."""
