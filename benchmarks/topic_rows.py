"""The rows of streams and topics."""

from __future__ import annotations

from . import latency, stream, topics
from .row import AHEAD, Goal, Row

TOPIC_ROWS = (
    Row(
        stream.ROW,
        "An ordered stream read in batches",
        stream.measure,
        "ahead, from one stored copy",
        goals=AHEAD,
        anywhere=False,
    ),
    Row(
        "topic-publish",
        "Publish to a topic, one message a transaction",
        lambda bench, peers: topics.publishing(bench),
        "≥ 0.6 of the floor, whatever the number of subscriptions; with 100 of them ≥ 0.95 of with one",
        topics.BARE,
        (Goal(0.6, topics.BARE), Goal(0.95, case="speed kept")),
        anywhere=False,
    ),
    Row(
        "topic-shared",
        "Consumers of one shared subscription",
        lambda bench, peers: topics.shared(bench),
        "≥ 4,000/s by one, which is 0.85 of a queue; ≥ 80,000/s by 100, with four consumers",
        topics.A_QUEUE,
        (
            Goal(4_000, case="4 consumers, by 1$"),
            Goal(0.85, topics.A_QUEUE, "4 consumers, by 1$"),
            Goal(80_000, case="4 consumers, by 100$"),
        ),
        anywhere=False,
    ),
    Row(
        "topic-held",
        "A topic read while a snapshot is held open",
        lambda bench, peers: topics.held(bench),
        "flat: ≥ 0.95 of clean",
        goals=(Goal(0.95, case="speed kept"),),
        anywhere=False,
    ),
    Row(
        topics.LATENCY,
        "Publish to an idle subscriber",
        lambda bench, peers: topics.idle(bench),
        "p50 ≤ 5 ms, p99 ≤ 20 ms; p50 ≤ 2 times the bare one",
        latency.BARE,
        (Goal(5, case="p50"), Goal(20, case="p99"), Goal(0.5, latency.BARE, "p50")),
        anywhere=False,
    ),
    Row(
        "topic-lag",
        "The list of subscriptions with their lag",
        lambda bench, peers: topics.lag(bench),
        "< 10 ms",
        goals=(Goal(10),),
        anywhere=False,
    ),
)
