"""Messages that go with the connection that sent them: the option discard_with_sender."""

from __future__ import annotations

import pytest
from senders_support import BEYOND, LEFT, SEND, end, send_all
from support import Clock, Connect, Db, column, one, receive, refused
from topics_support import subscribe, topic

from howdah.schema.destinations import LEVELS


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q', '{\"discard_with_sender\": true}')")


@pytest.mark.behaviour("SIB-03")
@pytest.mark.behaviour("SIB-22")
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("way", ["receive", "lease", "maintenance"])
def test_when_the_session_of_a_sender_is_killed_or_cut_off_three_levels_are_delivered(
    db: Db, connect: Connect, way: str, cut: bool
) -> None:
    client = connect()
    send_all(client)
    assert one(db, "select howdah.maintain_senders()") == 0
    end(db, client, cut=cut)
    if way == "receive":
        assert sorted(str(m.body) for m in receive(db, "q", 9)) == BEYOND
    elif way == "lease":
        assert sorted(column(db, "select body from howdah.lease('q', 9)")) == BEYOND
    else:
        assert one(db, "select howdah.maintain_senders()") == 2
        assert column(db, LEFT) == BEYOND
    gone = db.execute(
        "select reason, reliability from howdah.audit_journal where event = 'discarded' order by reliability"
    ).fetchall()
    assert gone == [("SENDER_GONE", level) for level in sorted(LEVELS[:2])]
    assert one(db, "select count(*) from howdah.sent_by") == 0


@pytest.mark.behaviour("SIB-01")
@pytest.mark.behaviour("SIB-02")
def test_while_its_session_lives_everything_of_a_sender_is_delivered(db: Db, connect: Connect, clock: Clock) -> None:
    client = connect()
    send_all(client)
    clock.advance(86_400)
    assert one(db, "select howdah.maintain_senders()") == 0
    assert len(receive(db, "q", 9)) == 5


@pytest.mark.behaviour("SIB-03")
@pytest.mark.behaviour("SIB-22")
def test_without_the_option_everything_stays(db: Db, connect: Connect) -> None:
    one(db, "select howdah.alter_queue('q', '{\"discard_with_sender\": false}')")
    client = connect()
    send_all(client)
    end(db, client)
    assert one(db, "select howdah.maintain_senders()") == 0
    assert len(receive(db, "q", 9)) == 5


def test_of_several_senders_only_the_one_that_ended_loses_its_messages(db: Db, connect: Connect) -> None:
    first, second = connect(), connect()
    for client, body in ((first, "first"), (second, "second"), (db, "own")):
        one(client, SEND, ("q", body, LEVELS[0]))
    end(db, first)
    assert sorted(str(m.body) for m in receive(db, "q", 9)) == ["own", "second"]


def test_batches_delayed_and_leased_messages_go_as_well(db: Db, connect: Connect, clock: Clock) -> None:
    client = connect()
    one(
        client,
        "select howdah.send_batch('q', array['a', 'b'], priorities => array[1, 9], reliability => %s)",
        LEVELS[:1],
    )
    one(client, "select howdah.send('q', 'c', delay => '1 hour', reliability => %s)", LEVELS[1:2])
    (leased,) = db.execute("select lease, body from howdah.lease('q', 1, '1 minute')").fetchall()
    assert leased[1] == "b"
    end(db, client)
    assert one(db, "select howdah.maintain_senders()") == 2
    assert one(db, "select count(*) from howdah.audit_messages") == 1, "it is in somebody's hands"
    one(db, "select howdah.release('q', %s)", (leased[0],))
    assert receive(db) == []
    assert one(db, "select count(*) from howdah.audit_messages") == 0


def test_what_a_transaction_has_in_hand_goes_when_it_comes_back(db: Db, connect: Connect) -> None:
    client, other = connect(), connect()
    one(client, SEND, ("q", "x", LEVELS[1]))
    with other.transaction(force_rollback=True):
        assert len(receive(other)) == 1
        end(db, client)
        assert one(db, "select howdah.maintain_senders()") == 0
    assert receive(db) == []
    assert column(db, "select reason from howdah.audit_journal where event = 'discarded'") == ["SENDER_GONE"]


def test_a_receive_that_rolls_back_leaves_the_removal_to_the_next(db: Db, connect: Connect) -> None:
    client = connect()
    one(client, SEND, ("q", "x", LEVELS[1]))
    end(db, client)
    with db.transaction(force_rollback=True):
        assert receive(db) == []
    assert receive(db) == []
    assert column(db, "select reason from howdah.audit_journal where event = 'discarded'") == ["SENDER_GONE"]


def test_a_send_that_was_rolled_back_first_costs_no_second_lock(db: Db, connect: Connect) -> None:
    client = connect()
    for _ in range(3):
        with client.transaction(force_rollback=True):
            one(client, SEND, ("q", "x", LEVELS[0]))
    one(client, SEND, ("q", "x", LEVELS[0]))
    held = "select count(*) from pg_locks where locktype = 'advisory' and pid = %s"
    assert one(db, held, (client.info.backend_pid,)) == 1
    assert len(receive(client)) == 1


def test_records_of_consumed_messages_are_forgotten(db: Db, connect: Connect) -> None:
    topic(db, discard_with_sender=True)
    subscribe(db, "s")
    send_all(db)
    one(db, SEND, ("t", "x", LEVELS[0]))
    receive(db, "q", 9)
    one(db, "select howdah.maintain_senders()")
    assert one(db, "select count(*) from howdah.sent_by") == 1, "the topic's"


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_a_topic_loses_what_its_publisher_left_unread(db: Db, connect: Connect, shared: bool) -> None:
    topic(db, discard_with_sender=True)
    name = subscribe(db, "s", shared=shared)
    client = connect()
    send_all(client, "t")
    end(db, client)
    assert sorted(str(m.body) for m in receive(db, name, 9)) == BEYOND
    gone = column(db, "select reliability from howdah.audit_journal where event = 'discarded' and queue = 't'")
    assert sorted(gone) == sorted(LEVELS[:2])


def test_a_subscription_has_no_such_option(db: Db) -> None:
    topic(db)
    name = subscribe(db, "s")
    refused(db, "HD004", "select howdah.alter_queue(%s, '{\"discard_with_sender\": true}')", (name,))


def test_a_session_that_released_its_advisory_locks_keeps_what_it_sends_from_then_on(db: Db, connect: Connect) -> None:
    client = connect()
    one(client, SEND, ("q", "before", LEVELS[0]))
    key = one(client, "select current_setting('howdah.sender')")
    client.execute("select pg_advisory_unlock_all()")
    assert one(client, "select howdah._own_sender()::text") == key, "the setting alone tells"
    one(client, SEND, ("q", "after", LEVELS[0]))
    assert [m.body for m in receive(db, "q", 9)] == ["before", "after"]
    one(client, SEND, ("q", "left", LEVELS[0]))
    end(db, client)
    assert receive(db, "q", 9) == []


def test_a_session_that_receives_what_it_sent_can_prepare_its_transaction(db: Db, connect: Connect) -> None:
    client = connect()
    one(client, "select howdah.send('q', 'x', reliability => %s, notify => false)", (LEVELS[0],))
    client.execute("begin")
    assert len(receive(client)) == 1
    client.execute("prepare transaction 'of a sender'")
    client.execute("rollback prepared 'of a sender'")
    assert len(receive(db)) == 1


def test_what_a_schedule_sends_over_a_bridge_has_no_sender_either(db: Db, connect: Connect, clock: Clock) -> None:
    topic(db)
    one(db, "select howdah.bridge('t', 'q')")
    for level in LEVELS[:2]:
        one(db, "select howdah.schedule('t', 'x', period => '1 minute', reliability => %s)", (level,))
    clock.advance(61)
    worker = connect()
    one(worker, "select howdah.fire_schedules()")
    one(worker, SEND, ("t", "own", LEVELS[1]))
    end(db, worker)
    assert [m.body for m in receive(db, "q", 9)] == ["x", "x"]


@pytest.mark.first_case
@pytest.mark.parametrize("shared", [False, True])
def test_a_held_topic_message_goes_with_its_sender_only_if_it_comes_back(
    db: Db, connect: Connect, shared: bool
) -> None:
    topic(db, discard_with_sender=True)
    name = subscribe(db, "s", shared=shared)
    client = connect()
    for body in ("consumed", "returned"):
        one(client, SEND, ("t", body, LEVELS[1]))
    with db.transaction():
        first, second = receive(db, name, 2, verb="receive_locked")
        end(connect(), client)
        one(connect(), "select howdah.maintain_senders()")
        one(
            db,
            "select howdah.consume_locked(%s, %s, %s, %s)",
            (name, [first.message_id], [first.priority], [first.position]),
        )
    one(db, "select howdah.maintain_senders()")
    assert receive(db, name, 9) == []
    assert one(db, "select count(*) from howdah.sent_by") == 0
    gone = column(db, "select message_id from howdah.audit_journal where event = 'discarded' and queue = 't'")
    assert second.message_id in gone
