"""The numbers of temporary queues are used again, and the next owner gets nothing of the last."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from support import Connect, Db, contents, one, receive, refused, wait_until_blocked

TOKEN = "0123456789abcdef-mine"


def create(db: Db) -> str:
    made: str = one(db, "select howdah.create_temporary_queue()")
    return made


def send(db: Db, queue: str, body: str = "x") -> int:
    sent: int = one(db, "select howdah.send(%s, %s)", (queue, body))
    return sent


@pytest.mark.slow
def test_number_and_sequences_are_used_again_and_the_next_owner_gets_nothing_of_the_last(
    db: Db, connect: Connect
) -> None:
    client = connect()
    first = create(client)
    send(db, first, "old")
    one(client, "select howdah.drop_temporary_queue(%s)", (first,))
    sequences = "select count(*) from pg_class where relkind = 'S' and relnamespace = 'howdah'::regnamespace"
    before = one(db, sequences)
    for _ in range(20):
        other = connect()
        queue = create(other)
        assert receive(other, queue) == []
        send(db, queue, "new")
        assert one(other, "select howdah.close_connection()") == 1
    assert one(db, sequences) == before
    assert one(db, "select count(*) from howdah.temporary_queues") == 1


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_a_late_reply_goes_to_nobody_though_its_transaction_began_before_the_queue_was_dropped(
    db: Db, connect: Connect, isolation: str
) -> None:
    client, replier = connect(), connect()
    queue = create(client)
    with replier.transaction():
        replier.execute(f"set transaction isolation level {isolation}")
        send(replier, queue, "early")
        one(client, "select howdah.drop_temporary_queue(%s)", (queue,))
        another = create(client)
        assert one(db, "select count(*) from howdah.temporary_queues") == 2, "the number is not free yet"
        if isolation == "read committed":
            refused(replier, "HD001", "select howdah.send(%s, 'late')", (queue,))
        else:
            send(replier, queue, "late")
    assert receive(client, another) == []
    if isolation == "read committed":
        assert contents(db)["msgs_nonpersistent"] is not None
        one(db, "select howdah.maintain_temporary()")
    else:
        third = create(client)
        assert one(db, "select count(*) from howdah.temporary_queues") == 2
        assert receive(client, third) == []
    assert contents(db)["msgs_nonpersistent"] is None


def test_the_snapshot_of_a_repeatable_read_transaction_does_not_lead_to_the_next_owner(
    db: Db, connect: Connect
) -> None:
    client, replier = connect(), connect()
    queue = create(client)
    with replier.transaction():
        replier.execute("set transaction isolation level repeatable read")
        one(replier, "select count(*) from howdah.destinations")
        one(client, "select howdah.drop_temporary_queue(%s)", (queue,))
        another = create(client)
        refused(replier, "HD001", "select howdah.send(%s, 'late')", (queue,))
    assert receive(client, another) == []


def test_clients_that_come_and_go_at_once_share_the_numbers_and_get_only_what_is_theirs(db: Db, dsn: str) -> None:
    def come_and_go(client: int) -> int:
        wrong = 0
        with psycopg.connect(dsn, autocommit=True) as own:
            for n in range(15):
                queue = create(own)
                send(own, queue, f"{client}:{n}")
                wrong += [m.body for m in receive(own, queue, 9)] != [f"{client}:{n}"]
                send(own, queue, "left over")
                one(own, "select howdah.close_connection()")
        return wrong

    with ThreadPoolExecutor(6) as threads:
        counts = list(threads.map(come_and_go, range(6)))
    assert counts == [0] * 6
    assert one(db, "select count(*) from howdah.temporary_queues") <= 12
    assert one(db, "select count(*) from howdah.temporary_queues where connection is not null") == 0


def test_fifty_queues_of_one_connection_are_dropped_with_it(db: Db, dsn: str) -> None:
    with psycopg.connect(dsn) as one_session:
        names = [one(one_session, "select howdah.create_temporary_queue()") for _ in range(50)]
        one_session.commit()
        assert len(set(names)) == 50
        assert one(one_session, "select howdah.close_connection()") == 50


def test_who_comes_second_to_drop_one_leaves_the_next_owner_alone(db: Db, connect: Connect) -> None:
    sessions = [connect(), connect()]
    for session in sessions:
        session.execute("select howdah.set_connection(%s)", (TOKEN,))
    queue = create(sessions[0])
    with sessions[0].transaction():
        one(sessions[0], "select howdah.drop_temporary_queue(%s)", (queue,))
        sessions[1].pgconn.send_query(b"select howdah.close_connection()")
        wait_until_blocked(db, sessions[1])
    ended = sessions[1].pgconn.get_result()
    assert ended is not None
    assert ended.get_value(0, 0) == b"0"
    again = create(connect())
    send(db, again)
