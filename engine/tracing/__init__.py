"""Spans, metrics and context by OpenTelemetry, for applications that have set it up. Without it, nothing happens."""
