"""One forwarder has a link at a time, with few rights, and gives it up when it hangs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from linked_pair import Pair
from links_support import bodies, in_transit
from support import Connect, column, one, wait_until

from howdah.schema.destinations import LEVELS


def test_only_one_forwarder_has_a_batch(pair: Pair) -> None:
    """Another one stands by, whether the first has a batch under way or rests between two."""
    pair.send("one")
    steps, other = pair.steps(), pair.steps(holder="another")
    assert steps.take().state == "batch"
    assert other.take().state == "standby"
    other.source.rollback()
    steps.source.rollback()
    steps.take()
    steps.source.commit()
    assert other.take().state == "standby"


def test_a_forwarder_needs_no_more_than_to_receive_and_to_send(pair: Pair) -> None:
    """howdah_consumer at the source, howdah_producer at the target."""
    steps = pair.steps()
    steps.source.execute("set role howdah_consumer")
    steps.target.execute("set role howdah_producer")
    steps.source.commit()
    steps.target.commit()
    pair.send("one")
    steps.forward_all()
    assert bodies(pair.b) == ["one"]


def test_commits_of_a_batch_wait_for_the_disk(pair: Pair) -> None:
    """On both sides, whatever the log-in's default is."""
    pair.send("one")
    steps = pair.steps()
    for side in (steps.source, steps.target):
        side.execute("set synchronous_commit = off")
        side.commit()
    steps.arrive(steps.take())
    for side in (steps.source, steps.target):
        assert side.execute("show synchronous_commit").fetchall() == [("on",)]


def test_a_forwarder_that_hangs_keeps_the_link_for_a_minute_at_most(pair: Pair) -> None:
    """The server ends its transaction, and another forwarder goes on."""
    pair.send("one")
    steps = pair.steps()
    steps.take()
    assert steps.source.execute("show idle_in_transaction_session_timeout").fetchall() == [("1min",)]
    steps.source.execute("set local idle_in_transaction_session_timeout = '50ms'")
    pair.a.execute("update howdah.lock set expires_at = expires_at - interval '1 minute' where name = 'link:to_b'")
    other = pair.steps(holder="another")

    def taken() -> bool:
        state = other.take().state
        if state != "batch":
            other.source.rollback()
        return state == "batch"

    wait_until(taken)


def test_a_forwarder_that_hangs_blocks_the_target_for_a_minute_at_most(pair: Pair) -> None:
    """The target ends its transaction too, and another forwarder goes on."""
    pair.send("one")
    steps = pair.steps()
    steps.arrive(steps.take())
    assert steps.target.execute("show idle_in_transaction_session_timeout").fetchall() == [("1min",)]


def test_a_lease_of_a_link_is_not_for_others(pair: Pair) -> None:
    """Whoever may take any lock cannot stop a link with it."""
    with pytest.raises(psycopg.Error) as refused:
        pair.a.execute("select howdah.acquire_lock('link:to_b', 'somebody')")
    assert refused.value.sqlstate == "HD010"


def test_an_attempt_that_arrives_late_leaves_no_receipts_behind(pair: Pair) -> None:
    """A forwarder hangs, another one forwards its batch, and it wakes up: no receipt stays forever."""
    pair.send("one", "two", "three")
    late = pair.steps()
    taken = late.take()
    late.source.rollback()
    steps = pair.steps()
    steps.forward(2)
    assert late.arrive(taken) == (1, 2)
    late.target.commit()
    assert in_transit(pair.b) == 3
    steps.forward_all()
    assert in_transit(pair.b) == 1
    pair.send("four")
    steps.forward_all()
    assert bodies(pair.b) == ["one", "two", "three", "four"]
    assert in_transit(pair.b) == 1


def test_a_batch_acknowledges_the_one_that_was_committed_last(pair: Pair, connect: Connect) -> None:
    """Though that was committed only after the take had begun."""
    pair.send("one")
    steps = pair.steps()
    blocker = connect()
    with ThreadPoolExecutor(1) as threads:
        with blocker.transaction():
            blocker.execute("lock table howdah.destination_grants in access exclusive mode")
            taking = threads.submit(steps.take)
            pid = steps.source.info.backend_pid
            wait_until(lambda: one(pair.b, "select cardinality(pg_blocking_pids(%s)) > 0", (pid,)))
            committed = one(pair.a, "update howdah.links set batch = 7, attempt = gen_random_uuid() returning attempt")
        taken = taking.result()
    assert (taken.batch, taken.acknowledged) == (8, committed)


@pytest.mark.first_case
@pytest.mark.parametrize("kind", ["queue", "topic", "bridge"])
def test_what_a_link_brings_outlives_the_forwarders_connection(pair: Pair, kind: str) -> None:
    """Its sender is in the other engine, so nothing goes here when a session of ours ends."""
    option = '{"discard_with_sender": true}'
    pair.b.execute("select howdah.alter_queue('in', %s)", (option,))
    reads = "in"
    if kind != "queue":
        pair.b.execute("select howdah.create_topic('t')")
        pair.b.execute("select howdah.bridge('t', 'in')")
        pair.a.execute("select howdah.alter_link('to_b', target_queue => 't')")
    if kind == "topic":
        pair.b.execute("select howdah.alter_topic('t', %s)", (option,))
        reads = one(pair.b, "select howdah.subscribe('t', 's')")
    for level in LEVELS:
        pair.a.execute("select howdah.send('out', %s, reliability => %s)", (level, level))
    steps = pair.steps()
    steps.forward_all()
    session = steps.target.info.backend_pid
    steps.close()
    wait_until(lambda: one(pair.b, "select count(*) from pg_stat_activity where pid = %s", (session,)) == 0)
    assert one(pair.b, "select howdah.maintain_senders()") == 0
    assert column(pair.b, "select body from howdah.receive(%s, 9)", (reads,)) == list(LEVELS)
