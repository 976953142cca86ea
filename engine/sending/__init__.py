"""Sending other than one message at a time: without waiting, as a stream, by COPY."""
