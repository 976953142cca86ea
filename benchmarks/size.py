"""How much is measured: a look, a run in a few minutes, or all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Size:
    """The numbers that the rows go by."""

    name: str
    #: Repetitions, in turn.
    rounds: int
    #: The peers' repetitions, in turn with the first ones of ours.
    peer_rounds: int
    #: Connections of the rows with one message a transaction.
    connections: tuple[int, ...]
    #: Messages of one run of pgbench, and of one drain by listeners.
    messages: int
    #: The fewest transactions of each connection, and those of its warm-up before: first calls plan.
    each: int
    warm: int
    #: Transactions of each of very many receivers.
    crowd: int
    #: Connections of which the first call is measured.
    firsts: int
    listened: int
    #: Of a drain at default settings, with which peers are slow.
    listened_by_default: int
    #: Messages of a drain under a held snapshot, and of each of its rounds.
    held: int
    held_round: int
    #: Queues, live and parked messages of the large system; concurrent receivers of one queue.
    queues: int
    live: int
    receivers: int
    #: Backlog that is drained at a steady rate.
    backlog: int
    #: Messages sent to an idle listener.
    samples: int
    #: Rows of the journal that is audited.
    audited: int
    #: Events of an ordered stream.
    streamed: int
    #: A peer's share of our messages, unless it sets less itself, and the number of processes it is measured with.
    peer_share: float = 1.0
    peer_processes: int = 2


FULL = Size(
    name="full",
    rounds=3,
    peer_rounds=3,
    connections=(1, 4, 16, 64, 200),
    messages=20_000,
    each=1000,
    warm=100,
    crowd=1000,
    firsts=200,
    listened=100_000,
    listened_by_default=20_000,
    held=1_000_000,
    held_round=20_000,
    queues=10_000,
    live=1_000_000,
    receivers=256,
    backlog=10_000_000,
    samples=1000,
    audited=10_000_000,
    streamed=500_000,
)
QUICK = replace(
    FULL,
    name="quick",
    rounds=2,
    peer_rounds=1,
    connections=(1, 4, 16),
    crowd=250,
    firsts=60,
    messages=1000,
    listened=50_000,
    listened_by_default=2000,
    held=100_000,
    receivers=64,
    queues=1000,
    live=100_000,
    backlog=200_000,
    samples=60,
    audited=200_000,
    streamed=100_000,
    # A peer's process holds 5,000 before the first of them is handled.
    peer_share=0.4,
    peer_processes=1,
)
#: For the tests: every row once, no figure worth reading.
TINY = Size("tiny", 2, 1, (1, 2), 200, 10, 2, 10, 5, 2000, 400, 2000, 500, 20, 1000, 4, 2000, 5, 2000, 10_000)
