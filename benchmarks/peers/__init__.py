"""Peers, each a program of its own in an environment of its own; they import nothing of Howdah.

BENCH_DSN is the database's URL. A program is called in these ways, and prints one JSON line:

- ``install``.
- ``send MESSAGES BATCH``: it prints the seconds of the sends.
- ``work best|default EXPECTED``: it prints count, first and last (times of handlers' calls) once nothing has come for a
  while.
- ``latency SAMPLES``: it prints the ms of each message sent to an idle worker.
- ``stream server|client EVENTS TICK EACH``, of a peer with topics: it prints seconds and count of a stream read. TICK
  is the events of a tick, EACH those of a transaction.
"""
