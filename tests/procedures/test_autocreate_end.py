"""A queue or topic that created itself ends when nobody uses it."""

from __future__ import annotations

import pytest
from autocreate_support import NAMES, ON, alter, reap, unused_for
from support import Clock, Connect, Db, column, one, refused


@pytest.fixture
def on(db: Db) -> Db:
    """The database, whose queues and topics create themselves."""
    alter(db, **ON)
    return db


@pytest.mark.behaviour("IMQ-97")
def test_one_ends_after_the_time_without_messages_and_consumers(on: Db, clock: Clock) -> None:
    one(on, "select howdah.send('q', 'x')")
    assert unused_for(clock, on) == 0, "it holds a message"
    consumer = one(on, "select howdah.open_consumer('q', timeout => '1 day')")
    assert len(column(on, "select howdah.receive('q')")) == 1
    assert unused_for(clock, on) == 0, "its consumer is open"
    one(on, f"select howdah.close_consumer({consumer})")
    assert unused_for(clock, on) == 1
    assert column(on, NAMES) == []
    refused(on, "HD001", "select howdah.queue_options('q')")


def test_it_ends_no_earlier_than_the_time_after_its_last_use(on: Db, clock: Clock) -> None:
    alter(on, **{"imq.autocreate.reaptime": 30})
    assert column(on, "select howdah.receive('q')") == []
    assert unused_for(clock, on, 29) == 0
    one(on, "select setval('howdah.search_of_' || id, 7) from howdah.destinations where name = 'q'")
    clock.advance(2)
    assert reap(on) == 0, "within nine seconds it is not looked at again"
    clock.advance(10)
    assert reap(on) == 0, "a receiver searched"
    clock.advance(30)
    assert reap(on) == 1


USES = {
    "a lease": ("select howdah.send('q', 'x')", "select howdah.lease('q', duration => '1 hour')"),
    "a delayed message": ("select howdah.send('q', 'x', delay => '1 hour')",),
    "a non-persistent message": ("select howdah.send('q', 'x', delivery_mode => 'non-persistent')",),
    "a listener": ("select howdah.ensure_listener('l', 'q')",),
    "a schedule": ("select howdah.schedule('q', 'x', period => '1 day')",),
    "an alias": ("select howdah.receive('q')", "select howdah.create_alias('a', 'q')"),
    "an exception destination": (
        "select howdah.receive('q')",
        "select howdah.create_queue('o', '{\"exception_queue\": \"q\"}')",
    ),
    "a pause": ("select howdah.receive('q')", "select howdah.pause('q')"),
    "a subscription": ("select howdah.subscribe('q', 's')",),
    "a bridge": (
        "select howdah.receive('q')",
        "select howdah.create_topic('t')",
        "select howdah.bridge('t', 'q')",
    ),
    "a link": ("select howdah.receive('q')", "select howdah.create_link('k', 'q', 'other', 'target')"),
}


@pytest.mark.first_case
@pytest.mark.parametrize("statements", USES.values(), ids=list(USES))
def test_what_is_in_use_stays(on: Db, clock: Clock, statements: tuple[str, ...]) -> None:
    for statement in statements:
        on.execute(statement.encode())
    assert unused_for(clock, on) == 0
    assert "q" in column(on, NAMES)


@pytest.mark.behaviour("IMQ-100")
def test_an_administrators_own_never_ends(on: Db, clock: Clock) -> None:
    one(on, "select howdah.create_queue('q')")
    one(on, "select howdah.create_topic('t')")
    assert unused_for(clock, on, 100 * 86400) == 0
    names = "select name from howdah.destinations where dropped_at is null and not is_system order by 1"
    assert column(on, names) == ["q", "t"]


@pytest.mark.first_case
@pytest.mark.parametrize(
    "statement",
    [
        "select howdah.alter_queue('q', '{\"default_priority\": 5}')",
        "select howdah.grant_queue('q', 'send', 'howdah_browser')",
        "select howdah.revoke_queue('q', 'send', 'howdah_producer')",
        "select howdah.alter_topic('t', '{\"default_priority\": 5}')",
    ],
)
def test_what_an_administrator_alters_is_his_from_then_on(on: Db, clock: Clock, statement: str) -> None:
    one(on, "select howdah.send('queue://q,topic://t', 'x')")
    assert len(column(on, "select howdah.receive('q')")) == 1
    on.execute(statement.encode())
    adopted = "t" if "'t'" in statement else "q"
    assert adopted not in column(on, NAMES)
    assert unused_for(clock, on) == 1
    assert one(on, "select count(*) from howdah.destinations where name = %s and dropped_at is null", (adopted,)) == 1


def test_an_uncommitted_send_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    sender = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    sender.execute("begin")
    one(sender, "select howdah.send('q', 'x')")
    assert reap(on) == 0
    clock.advance(121)
    assert reap(on) == 0
    sender.execute("commit")
    clock.advance(121)
    assert reap(on) == 0
    assert column(on, "select body from howdah.receive('q')") == ["x"]


def test_an_uncommitted_receive_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    receiver = connect()
    one(on, "select howdah.send('q', 'x')")
    receiver.execute("begin")
    assert len(column(receiver, "select howdah.receive('q')")) == 1
    assert unused_for(clock, on) == 0
    receiver.execute("rollback")
    assert column(on, "select body from howdah.receive('q')") == ["x"]


def test_a_prepared_send_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    sender = connect()
    assert column(on, "select howdah.receive('q')") == []
    sender.execute("begin")
    one(sender, "select howdah.send('q', 'x', notify => false)")
    sender.execute("prepare transaction 'auto'")
    assert unused_for(clock, on) == 0
    sender.execute("commit prepared 'auto'")
    assert column(on, "select body from howdah.receive('q')") == ["x"]


def test_a_consumer_that_opens_while_the_end_is_decided_keeps_the_queue(on: Db, connect: Connect, clock: Clock) -> None:
    consumer = connect()
    assert column(on, "select howdah.receive('q')") == []
    reap(on)
    clock.advance(121)
    consumer.execute("begin")
    one(consumer, "select howdah.open_consumer('q', timeout => '1 day')")
    assert reap(on) == 0
    consumer.execute("commit")
    clock.advance(121)
    assert reap(on) == 0


def test_maintenance_needs_read_committed_and_its_lock(on: Db) -> None:
    refused(on, "HD014", "select howdah.maintain_autocreated(99)")
    on.execute("begin isolation level repeatable read")
    refused(on, "HD005", "select howdah.maintain_autocreated()")
    on.execute("rollback")


@pytest.mark.slow
def test_a_pass_locks_few_sequences(on: Db) -> None:
    on.execute("select howdah.send('q' || n, 'x') from generate_series(1, 600) n")
    on.execute("begin")
    reap(on)
    assert one(on, "select count(*) from pg_locks where pid = pg_backend_pid()") < 1500
    on.execute("commit")
    assert one(on, "select count(*) from howdah.auto_destinations where looked_at is null") == 100


def test_a_queue_that_keeps_bodies_stays_until_their_time_is_over(on: Db, clock: Clock) -> None:
    alter(on, autocreate_options={"keep_bodies_ms": 3_600_000})
    one(on, "select howdah.send('new', 'x')")
    assert len(on.execute("select howdah.receive('new')").fetchall()) == 1
    assert unused_for(clock, on) == 0
    assert one(on, "select count(*) from howdah.browse_kept('new')") == 1
    clock.advance(3600)
    assert unused_for(clock, on) == 1
    assert one(on, "select count(*) from howdah.kept_messages") == 0
