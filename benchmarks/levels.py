"""What each level of reliability costs, from the cheapest to the dearest, sent alone and in batches.

Every transaction holds only messages and says so (howdah.commit_by_reliability), so that its commit waits only as long
as the level needs.
"""

from __future__ import annotations

from itertools import pairwise

from .bench import BODY, QUEUE, Bench, opened, settle
from .processor import Cost
from .record import OURS

ROW = "levels"
#: Cheapest first.
LEVELS = {
    "best effort": "BEST_EFFORT_NONPERSISTENT",
    "express": "EXPRESS_NONPERSISTENT",
    "reliable non-persistent": "RELIABLE_NONPERSISTENT",
    "reliable persistent": "RELIABLE_PERSISTENT",
    "assured": "ASSURED_PERSISTENT",
}
NAMES = tuple(LEVELS)
RELIABLE = "reliable persistent"
OFF = "reliable persistent, synchronous_commit = off"
PLAIN = "assured, without the setting"
#: Each level, and whom it is divided by.
BESIDE = {name: [following] for name, following in pairwise(NAMES)}
BESIDE[RELIABLE].append(OFF)
BESIDE["assured"] = [PLAIN]
BATCH = 100
WIDTHS = (1, 4, 16)


def _statement(sent: str, name: str, value: str) -> str:
    # In one statement, so that each transaction is one round trip.
    return f"select set_config('{name}', '{value}', true), {sent};"


def _ways(one: bool) -> dict[str, str]:
    def sent(level: str) -> str:
        if one:
            return f"howdah.send('{QUEUE}', '{BODY}'::text, reliability => '{level}')"
        return f"howdah.send_batch('{QUEUE}', array_fill('{BODY}'::text, array[{BATCH}]), reliability => '{level}')"

    ways = {name: _statement(sent(level), "howdah.commit_by_reliability", "on") for name, level in LEVELS.items()}
    ways[OFF] = _statement(sent(LEVELS[RELIABLE]), "synchronous_commit", "off")
    ways[PLAIN] = f"select {sent(LEVELS['assured'])};"
    return ways


def measure(bench: Bench) -> None:
    """One message a transaction from several connections, then a batch a transaction; all ways in turn."""
    for width in WIDTHS:
        each = max(bench.size.messages // width, bench.size.each)
        _measure(bench, f"{width} connection{'s' * (width > 1)}", width, each, 1)
    _measure(bench, f"batches of {BATCH}", 1, max(bench.size.messages // BATCH, bench.size.each // 10), BATCH)


def _measure(bench: Bench, case: str, width: int, each: int, takes: int) -> None:
    ways = _ways(takes == 1)
    for turn in range(bench.size.rounds):
        rates: dict[str, tuple[float, Cost]] = {}
        with bench.database() as dsn, opened(dsn) as connection:
            for name in list(ways) if turn % 2 == 0 else list(ways)[::-1]:
                connection.execute("select howdah.purge_queue(%s)", (QUEUE,))
                settle(connection)
                ran = bench.pgbench(dsn, ways[name], width, each)
                cost = Cost(None if ran.cost.server is None else ran.cost.server / takes, ran.cost.client / takes)
                rates[name] = ran.rate * takes, cost
        for name, others in BESIDE.items():
            for who in (OURS, *others):
                rate, cost = rates[name if who == OURS else who]
                bench.record.add(ROW, f"{case}, {name}", who, "/s", rate, cost=cost, transactions=each)
