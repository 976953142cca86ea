"""A named connection ends five seconds after its last sign of life, and its messages go with it."""

from __future__ import annotations

import pytest
from poolers import PGBOUNCER, pooler
from psycopg import connect as connect_to
from senders_support import BEYOND, LEFT, SEND, end, send_all
from support import Clock, Connect, Db, column, one, receive

from howdah.schema.destinations import LEVELS

TOKEN = "0123456789abcdef-sender"


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, "select howdah.create_queue('q', '{\"discard_with_sender\": true}')")


@pytest.mark.behaviour("SIB-22")
def test_a_named_connection_is_gone_five_seconds_after_its_last_sign(db: Db, connect: Connect, clock: Clock) -> None:
    client = connect("howdah_producer")
    client.execute("select howdah.set_connection(%s)", (TOKEN,))
    send_all(client)
    clock.advance(4)
    assert one(db, "select howdah.maintain_senders()") == 0
    one(client, "select howdah.keep_connection()")
    end(db, client)
    clock.advance(4)
    assert one(db, "select howdah.maintain_senders()") == 0, "another session of it may be alive"
    clock.advance(2)
    assert sorted(str(m.body) for m in receive(db, "q", 9)) == BEYOND


def test_a_transaction_of_a_named_connection_keeps_it_alive(db: Db, connect: Connect, clock: Clock) -> None:
    client = connect()
    client.execute("select howdah.set_connection(%s)", (TOKEN,))
    one(client, SEND, ("q", "x", LEVELS[0]))
    with client.transaction():
        one(client, SEND, ("q", "y", LEVELS[0]))
        clock.advance(60)
        assert one(db, "select howdah.maintain_senders()") == 0
    assert one(db, "select howdah.maintain_senders()") == 2


@pytest.mark.parametrize("named", [False, True])
def test_closing_the_connection_discards_at_once(db: Db, connect: Connect, named: bool) -> None:
    client = connect()
    if named:
        client.execute("select howdah.set_connection(%s)", (TOKEN,))
    send_all(client)
    one(client, "select howdah.close_connection()")
    assert column(db, LEFT) == BEYOND


@pytest.mark.skipif(PGBOUNCER is None, reason="there is no PgBouncer here")
@pytest.mark.behaviour("SIB-22")
def test_behind_a_pooler_a_named_connection_ends_though_the_servers_session_lives(
    db: Db, dsn: str, clock: Clock
) -> None:
    with pooler(dsn) as through:
        for token in (TOKEN, TOKEN + "-2"):
            with connect_to(through, prepare_threshold=None) as client:
                client.execute("select howdah.set_connection(%s, true)", (token,))
                send_all(client)
        clock.advance(6)
        with connect_to(through, prepare_threshold=None) as client:
            client.execute("select howdah.set_connection(%s, true)", (TOKEN,))
            client.execute("select howdah.keep_connection()")
        assert len(receive(db, "q", 99)) == 5 + 3


def test_a_sign_of_life_in_an_open_transaction_hides_no_other_one(db: Db, connect: Connect, clock: Clock) -> None:
    """The open one keeps the connection's row from the others, so it is a sign of life itself."""
    busy, other = connect(), connect()
    for client in (busy, other):
        one(client, "select howdah.set_connection(%s)", (TOKEN,))
    one(other, SEND, ("q", "x", LEVELS[0]))
    one(other, "select howdah.keep_connection()")
    with busy.transaction():
        one(busy, "select howdah.keep_connection()")
        for _ in range(4):
            clock.advance(2)
            one(other, "select howdah.keep_connection()")
        assert one(db, "select howdah.maintain_senders()") == 0
    clock.advance(6)
    assert one(db, "select howdah.maintain_senders()") == 1


def test_two_sessions_of_a_connection_give_their_first_signs_without_waiting(db: Db, connect: Connect) -> None:
    one(connect(), SEND, ("q", "x", LEVELS[0]))
    first, second = connect(), connect()
    for client in (first, second):
        one(client, "select howdah.set_connection(%s)", (TOKEN,))
        one(client, "select set_config('lock_timeout', '2s', false)")
    with first.transaction():
        one(first, "select howdah.keep_connection()")
        with second.transaction():
            one(second, "select howdah.keep_connection()")
        one(first, "select howdah.keep_connection()")
    one(second, "select howdah.keep_connection()")
    assert one(db, "select count(distinct sender) from howdah.sender_signs") == 1
