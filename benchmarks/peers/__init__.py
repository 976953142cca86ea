"""Peers, each a program of its own in an environment of its own; they import nothing of Howdah.

A program is called as: install; send MESSAGES BATCH; work best|default EXPECTED; latency SAMPLES; of a peer with topics
also stream server|client EVENTS TICK EACH (events of a tick, and of a transaction). BENCH_DSN is the database's URL. It
prints one JSON line: seconds of the sends; count, first and last (times of handlers' calls) once nothing has come for a
while; ms of each message sent to an idle worker; seconds and count of a stream read.
"""
