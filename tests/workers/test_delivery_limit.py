"""A message is delivered as often as its limit says, and is disposed of then."""

from __future__ import annotations

import pytest
from support import column, one, wait_until
from thinned import grid
from workers_support import StartWorkers, Work


@pytest.mark.behaviour("WAS-06")
@pytest.mark.behaviour("WAS-10")
@pytest.mark.behaviour("WAS-22")
@pytest.mark.behaviour("SSB-10")
@pytest.mark.behaviour("SSB-23")
def test_an_always_failing_message_is_delivered_five_times_then_dead(jobs: Work, start: StartWorkers) -> None:
    (message,) = jobs.send("fail")
    start()
    jobs.wait_empty()
    trace = jobs.db.execute("select delivery, redelivered from work.trace order by at").fetchall()
    assert trace == [(1, False), (2, True), (3, True), (4, True), (5, True)]
    assert jobs.incidents(message) == ["ValueError"] * 5
    assert jobs.dead() == [message]
    assert jobs.effects() == []
    assert column(jobs.db, "select outcome from howdah.incidents() order by incident_id") == ["returned"] * 4 + [
        "moved"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("queue", "body"), grid(["work", "single"], ["fail", "fail-in-sql"], every=3))
def test_many_sessions_deliver_no_message_more_often_than_its_limit(
    jobs: Work, start: StartWorkers, queue: str, body: str
) -> None:
    """Each failure is counted before anybody else can have the message, in batches and one by one."""
    sent = jobs.send(*[body] * 60, queue=queue)
    start(processes=2, sessions=4)
    jobs.wait_empty(queue)
    assert jobs.dead() == sent
    counts = jobs.db.execute("select count(*) from howdah.incidents(max_incidents => 1000) group by message").fetchall()
    assert counts == [(5,)] * 60
    deliveries = column(jobs.db, "select array_agg(delivery order by at) from work.trace group by message_id")
    assert deliveries == [[1, 2, 3, 4, 5]] * 60


@pytest.mark.behaviour("SSB-20")
def test_a_poison_message_is_disposed_of_in_one_transaction_by_whoever_meets_it(
    jobs: Work, start: StartWorkers
) -> None:
    """One whose limit was lowered below its failures goes at the next receive, with no handler called."""
    one(jobs.db, """select howdah.alter_queue('work', '{"redelivery_delay_ms": 900000}')""")
    later = "due_at > howdah.now() + interval '1 minute'"
    due = f"update howdah.parked set due_at = howdah.now() where {later}"
    (message,) = jobs.send("fail")
    start()
    for failures in (1, 2):
        # A failure is on record a moment before its message is set aside.
        wait_until(lambda: column(jobs.db, f"select 1 from howdah.parked where {later}"))
        assert len(jobs.incidents(message)) == failures
        if failures == 2:
            one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 2}')""")
        jobs.db.execute("update howdah.poison_details set due_at = howdah.now()")
        assert jobs.db.execute(due.encode()).rowcount == 1
    wait_until(lambda: jobs.dead() == [message])
    assert jobs.trace(message) == [1, 2]
    assert jobs.left() == 0
    moved = jobs.db.execute(
        "select count(*), min(message_id) from howdah.audit_journal where event = 'moved'"
    ).fetchone()
    assert moved == (1, message)


@pytest.mark.behaviour("SSB-26")
def test_a_message_that_is_discarded_is_gone_with_a_warning(jobs: Work, start: StartWorkers) -> None:
    one(jobs.db, """select howdah.alter_queue('work', '{"max_failed_deliveries": 1, "at_limit": "discard"}')""")
    (message,) = jobs.send("fail")
    workers = start()
    jobs.wait_empty()
    (said,) = workers.events("delivery failed")
    assert (said["level"], said["message"], said["outcome"]) == ("warning", message, "discarded")
    assert (jobs.left(), jobs.dead()) == (0, [])
