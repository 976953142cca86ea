"""Temporary queues: bound to the life of a connection, its own to receive from, everybody's to send to."""

from __future__ import annotations

import pytest
from support import Clock, Connect, Db, column, contents, fail, one, receive, refused, wait_until

TOKEN = "0123456789abcdef-mine"


def create(db: Db) -> str:
    made: str = one(db, "select howdah.create_temporary_queue()")
    return made


def send(db: Db, queue: str, body: str = "x") -> int:
    sent: int = one(db, "select howdah.send(%s, %s)", (queue, body))
    return sent


def silent_for(db: Db, queue: str, seconds: float) -> None:
    """Have the queue's connection last heard of so long ago, by the clock of heartbeats."""
    db.execute(
        "select setval(t.alive, (extract(epoch from clock_timestamp()) * 1000)::bigint - %s)"
        " from howdah.temporary_queues t"
        " join howdah.destinations d on d.id = t.destination_id where d.name = %s",
        (round(seconds * 1000), queue),
    )


@pytest.mark.behaviour("IMQ-101")
def test_it_is_gone_when_its_connection_is_closed(db: Db, connect: Connect) -> None:
    client = connect()
    queue = create(client)
    send(db, queue)
    assert [m.body for m in receive(client, queue)] == ["x"]
    send(db, queue)
    assert one(client, "select howdah.close_connection()") == 1
    refused(db, "HD001", "select howdah.send(%s, 'x')", (queue,))
    refused(client, "HD001", "select howdah.receive(%s)", (queue,))
    assert column(db, "select queue from howdah.list_queues(true) where queue like '\\_TEMP%%'") == []
    assert contents(db)["msgs_nonpersistent"] is None
    assert one(client, "select howdah.close_connection()") == 0


@pytest.mark.behaviour("IMQ-101")
def test_it_is_gone_at_once_when_its_client_is_killed(db: Db, connect: Connect) -> None:
    client = connect()
    queue = create(client)
    send(db, queue)
    one(db, "select pg_terminate_backend(%s)", (client.info.backend_pid,))
    alive = "select count(*) from pg_stat_activity where pid = %s"
    wait_until(lambda: one(db, alive, (client.info.backend_pid,)) == 0)
    refused(db, "HD001", "select howdah.send(%s, 'x')", (queue,))
    assert one(db, "select howdah.maintain_temporary()") == 1
    assert one(db, "select howdah.maintain_temporary()") == 0
    assert contents(db)["msgs_nonpersistent"] is None


@pytest.mark.behaviour("IMQ-102")
def test_no_administrator_changes_purges_or_drops_it(db: Db, connect: Connect) -> None:
    queue = create(connect())
    admin = connect("howdah_admin")
    for call in (
        "drop_queue(%s, true)",
        "purge_queue(%s)",
        "alter_queue(%s, '{\"max_failed_deliveries\": 3}')",
        "pause(%s)",
        "drop_temporary_queue(%s)",
    ):
        refused(admin, "HD010", f"select howdah.{call}", (queue,))
    send(db, queue)


@pytest.mark.behaviour("IMQ-102")
def test_its_client_cannot_drop_it_while_it_has_an_active_consumer(db: Db, connect: Connect) -> None:
    queue = create(db)
    second = connect()
    token = one(db, "select current_setting('howdah.connection')")
    second.execute("select howdah.set_connection(%s)", (token,))
    send(db, queue)
    with second.transaction():
        assert len(receive(second, queue)) == 1
        refused(db, "HD030", "select howdah.drop_temporary_queue(%s)", (queue,))
    send(db, queue)
    lease = one(db, "select lease from howdah.lease(%s)", (queue,))
    refused(db, "HD030", "select howdah.drop_temporary_queue(%s)", (queue,))
    one(db, "select howdah.ack(%s, %s)", (queue, lease))
    one(db, "select howdah.drop_temporary_queue(%s)", (queue,))
    refused(db, "HD001", "select howdah.drop_temporary_queue(%s)", (queue,))


@pytest.mark.behaviour("IMQ-104")
def test_it_is_not_listed_and_no_update_of_it_is_taken(db: Db, connect: Connect) -> None:
    queue = create(db)
    admin = connect("howdah_admin")
    refused(admin, "HD010", "select howdah.alter_queue(%s, '{\"default_priority\": 3}')", (queue,))
    assert one(db, "select howdah.set_policy('>', '{\"default_priority\": 3}', apply => true)") == 0
    assert queue not in column(admin, "select queue from howdah.list_queues()")
    assert queue in column(admin, "select queue from howdah.list_queues(true)")
    assert queue not in column(admin, "select queue_name from howdah.queue_stats()")
    refused(admin, "HD003", "select howdah.create_queue('_TEMP.x')")
    assert column(admin, "select setting from howdah.check_server() where setting like '%%_TEMP%%'") == []


@pytest.mark.behaviour("AMQ-28")
def test_only_its_own_connection_receives_or_browses(db: Db, connect: Connect) -> None:
    client, other = connect(), connect("howdah_consumer")
    queue = create(client)
    send(db, queue, "reply")
    for call in ("receive(%s)", "browse(%s)", "lease(%s)", "wait(%s)", "receive_message(%s, 1)", "receive_locked(%s)"):
        refused(other, "HD010", f"select howdah.{call}", (queue,))
    create(other)  # with one of its own neither
    refused(other, "HD010", "select howdah.receive(%s)", (queue,))
    assert [m.body for m in receive(client, queue, verb="browse")] == ["reply"]
    (message,) = receive(client, queue)
    assert message.delivery_mode == "non-persistent"


def test_a_messages_number_opens_nobody_elses_temporary_queue(db: Db, connect: Connect) -> None:
    mine = connect("howdah_consumer")
    number = send(db, create(mine), "mine alone")
    found = "select (message).body from howdah.poison_message(%s)"
    assert column(mine, found, (number,)) == ["mine alone"]
    for role in ("howdah_consumer", "howdah_browser", "howdah_admin"):
        other = connect(role)
        other.execute("select set_config('howdah.connection', 'guessed-0123456789', false)")
        assert column(other, found, (number,)) == []


def test_whoever_may_send_sends_to_it_and_consumers_alone_make_it(connect: Connect) -> None:
    consumer, producer = connect("howdah_consumer"), connect("howdah_producer")
    queue = create(consumer)
    send(producer, queue)
    refused(producer, "42501", "select howdah.create_temporary_queue()")
    assert len(receive(consumer, queue)) == 1


def test_a_rolled_back_receive_gives_back_and_a_failure_counts(db: Db) -> None:
    queue = create(db)
    send(db, queue)
    with db.transaction(force_rollback=True):
        (message,) = receive(db, queue)
    assert fail(db, message.message_id, queue)[2] == "returned"
    (again,) = receive(db, queue)
    assert (again.message_id, again.delivery_count) == (message.message_id, 2)


def test_what_is_sent_with_a_delay_comes_when_it_is_due(db: Db, clock: Clock) -> None:
    queue = create(db)
    one(db, "select howdah.send(%s, 'later', delay => '1 minute')", (queue,))
    assert receive(db, queue) == []
    clock.advance(60)
    assert [m.body for m in receive(db, queue)] == ["later"]


def test_a_queue_made_in_a_transaction_that_rolls_back_never_was(db: Db) -> None:
    with db.transaction(force_rollback=True):
        queue = create(db)
        send(db, queue)
    refused(db, "HD001", "select howdah.send(%s, 'x')", (queue,))
    send(db, create(db))


def test_behind_a_pooler_the_token_said_in_each_transaction_is_the_connection(db: Db, connect: Connect) -> None:
    backends = [connect(), connect()]
    with backends[0].transaction():
        backends[0].execute("select howdah.set_connection(%s, true)", (TOKEN,))
        queue = create(backends[0])
    send(db, queue)
    refused(backends[0], "HD010", "select howdah.receive(%s)", (queue,))
    with backends[1].transaction():
        backends[1].execute("select howdah.set_connection(%s, true)", (TOKEN,))
        assert len(receive(backends[1], queue)) == 1
    refused(db, "HD005", "select howdah.set_connection('short')")


def test_a_connection_by_token_that_is_silent_for_a_minute_is_gone(db: Db, connect: Connect) -> None:
    client = connect()
    client.execute("select howdah.set_connection(%s)", (TOKEN,))
    queue = create(client)
    silent_for(db, queue, 59)
    assert one(client, "select howdah.keep_connection()") == 1
    silent_for(db, queue, 59)
    receive(client, queue)  # a sign of life, too
    assert one(db, "select howdah.maintain_temporary()") == 0
    silent_for(db, queue, 61)
    refused(db, "HD001", "select howdah.send(%s, 'x')", (queue,))
    assert one(db, "select howdah.maintain_temporary()") == 1
    assert one(client, "select howdah.keep_connection()") == 0


def test_maintenance_spares_the_queues_of_its_own_session(db: Db) -> None:
    queue = create(db)
    assert one(db, "select howdah.maintain_temporary()") == 0
    send(db, queue)
    refused(db, "HD014", "select howdah.maintain_temporary(99)")


def test_answers_nobody_waits_for_are_dropped_and_other_queues_must_be_there(db: Db, connect: Connect) -> None:
    client = connect()
    queue = create(client)
    assert one(db, "select howdah.respond(%s, 'x', 'c1')", (queue,)) is not None
    (answer,) = receive(client, queue)
    assert (answer.correlation_id, answer.delivery_mode) == ("c1", "non-persistent")
    one(client, "select howdah.close_connection()")
    assert one(db, "select howdah.respond(%s, 'x', 'c1')", (queue,)) is None
    assert one(db, "select howdah.respond(null, 'x')") is one(db, "select howdah.respond('', 'x')") is None
    refused(db, "HD001", "select howdah.respond('none', 'x')")
    one(db, "select howdah.create_queue('answers')")
    one(db, "select howdah.respond('answers', '{\"a\": 1}'::jsonb)")
    one(db, "select howdah.respond('answers', '\\x00'::bytea, delivery_mode => 'persistent')")
    assert {m.delivery_mode for m in receive(db, "answers", 9)} == {"non-persistent", "persistent"}


def test_a_wildcard_passes_over_the_temporary_queues_of_others_and_takes_from_ones_own(
    db: Db, connect: Connect
) -> None:
    other = connect()
    for session in (db, other):
        own = one(session, "select howdah.create_temporary_queue()")
        one(session, "select howdah.send(%s, %s)", (own, "mine" if session is db else "of another"))
    assert column(db, "select body from howdah.receive('>', 10)") == ["mine"]
    assert column(db, "select body from howdah.receive('>', 10)") == []
    refused(connect(), "HD001", "select * from howdah.receive('>', 10)")
