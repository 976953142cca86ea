"""What each kind of failure count costs a worker, with nothing failing and with every tenth message bad."""

from __future__ import annotations

import json

from .batches import BATCH, note
from .bench import QUEUE, Bench, opened
from .record import OURS

COUNTS = {OURS: "recorded", "volatile count": "volatile", "hardened count": "hardened"}
KINDS = ("none", "every tenth message")


def measure(bench: Bench) -> None:
    """Each kind of badness, the counts in turn."""
    messages = max(BATCH, bench.size.messages // 8 // BATCH * BATCH)
    with bench.database() as dsn, opened(dsn) as connection:
        connection.execute("create table handled (id bigint)")
        for bad in KINDS:
            for _ in range(bench.size.rounds):
                for who, count in COUNTS.items():
                    options = json.dumps({"backout_count": count})
                    connection.execute("select howdah.alter_queue(%s, %s)", (QUEUE, options))
                    note(bench, "counts", who, dsn, bad, messages, lambda delivery: None)
