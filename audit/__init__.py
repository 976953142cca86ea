"""Spark jobs that prove from one snapshot what became of every message."""
