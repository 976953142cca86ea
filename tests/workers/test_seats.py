"""Workers on queues that tell their consumers apart.

Each session opens a consumer, and leaves its place when it ends.
"""

from __future__ import annotations

import pytest
from support import column, one, wait_until
from workers_support import StartWorkers, Work


def consumers(jobs: Work) -> int:
    return int(one(jobs.db, "select count(*) from howdah.list_consumers('work')"))


@pytest.mark.slow
@pytest.mark.parametrize("option", ["failover", "round_robin", "single", "sticky"])
def test_a_worker_opens_a_consumer_where_its_queue_needs_one_and_closes_it_at_the_end(
    jobs: Work, start: StartWorkers, option: str
) -> None:
    name = "message_groups" if option == "sticky" else "delivery_policy"
    one(jobs.db, "select howdah.alter_queue('work', jsonb_build_object(%s::text, %s::text))", (name, option))
    sent = jobs.send(*["plain"] * 40)
    workers = start(processes=2, sessions=2)
    jobs.wait_empty()
    assert jobs.effects() == sent
    more = [
        one(jobs.db, "select howdah.send('work', 'plain', headers => '{\"JMSXGroupID\": \"a\"}')") for _ in range(5)
    ]
    jobs.wait_empty()
    assert jobs.effects() == sent + more
    wait_until(lambda: consumers(jobs) == (1 if option == "single" else 4))
    assert len(set(column(jobs.db, "select worker from work.effects"))) <= (
        1 if option in ("single", "failover") else 4
    )
    workers.stop()
    workers.wait_ended()
    assert consumers(jobs) == 0


@pytest.mark.slow
def test_what_fails_in_a_group_is_tried_again_before_what_follows(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"message_groups": "transaction"}')""")
    group = """headers => '{"JMSXGroupID": "a"}'"""
    failing = one(jobs.db, f"select howdah.send('work', 'fail', {group})")
    after = one(jobs.db, f"select howdah.send('work', 'plain', {group})")
    start(sessions=2)
    jobs.wait_empty()
    assert jobs.effects() == [after]
    assert jobs.trace(failing) == [1, 2, 3, 4, 5]
    assert jobs.dead() == [failing]
