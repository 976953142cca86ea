"""An attempt at a message of a hardened queue is taken once, whatever becomes of the transaction that took it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import psycopg
import pytest
from policy_support import Create, begin, ids, receive_attempt, send
from support import SYSTEM, Clock, Connect, Db, column, one, refused, wait_until, wait_until_blocked

TAKE = "select howdah.receive_attempt('q', %s)"


def of_one(db: Db, create: Create, limit: int = 2) -> UUID:
    """An attempt at the only message of a queue, which keeps others' dead rows on the page of its attempt."""
    create(backout_count="hardened", max_failed_deliveries=limit)
    send(db)
    ((attempt, _),) = begin(db)
    return attempt


@pytest.mark.parametrize("end", ["rollback", "savepoint", "prepared", "killed", "at work"])
def test_an_attempt_is_taken_once_however_its_transaction_ends(
    db: Db, create: Create, connect: Connect, clock: Clock, end: str
) -> None:
    attempt = of_one(db, create)
    taker = connect()
    taker.execute("begin; savepoint before")
    assert receive_attempt(taker, attempt) == 1
    if end == "savepoint":
        taker.execute("rollback to before")
        refused(taker, "HD022", TAKE, (attempt,))
    elif end == "prepared":
        taker.execute("prepare transaction 'taken'")
        refused(connect(), "HD022", TAKE, (attempt,))
        taker.execute("rollback prepared 'taken'")
    elif end == "killed":
        one(db, "select pg_terminate_backend(%s, 5000)", (taker.info.backend_pid,))
    elif end == "rollback":
        taker.rollback()
        refused(taker, "HD022", TAKE, (attempt,))
    refused(db, "HD022", TAKE, (attempt,))
    refused(connect(), "HD022", TAKE, (attempt,))
    taker.close()
    clock.advance(10.1)
    wait_until(lambda: begin(db))
    attempts = column(db, "select attempt_id from howdah.attempts order by begun_at desc")
    assert column(db, "select delivery_count from howdah.receive_attempt('q', %s)", (attempts[0],)) == [2]
    assert ids(db, "q") == ids(db, SYSTEM) == []


def test_a_vacuum_that_freezes_what_it_cleans_does_not_forget_that_an_attempt_was_taken(db: Db, create: Create) -> None:
    attempt = of_one(db, create)
    send(db)
    with db.transaction(force_rollback=True):
        assert receive_attempt(db, attempt) == 1
    ((other, _),) = begin(db)
    assert receive_attempt(db, other) == 1
    for _ in range(2):
        db.execute("checkpoint")
        db.execute("vacuum howdah.untaken_attempts")
        refused(db, "HD022", TAKE, (attempt,))
    assert one(db, "select howdah.maintain_attempts()") == 0
    refused(db, "HD022", TAKE, (attempt,))


def test_of_two_sessions_that_wait_for_the_message_of_one_attempt_one_takes_it(
    db: Db, create: Create, connect: Connect
) -> None:
    attempt = of_one(db, create, limit=1)
    holder, takers = connect(), [connect(), connect()]
    holder.execute("begin")
    holder.execute("select from howdah.msgs for update")

    def take(session: Db) -> int | str:
        try:
            with session.transaction(force_rollback=True):
                session.execute("set local lock_timeout = 0")
                return receive_attempt(session, attempt)
        except psycopg.Error as error:
            return str(error.sqlstate)

    with ThreadPoolExecutor() as pool:
        answers = [pool.submit(take, session) for session in takers]
        for session in takers:
            wait_until_blocked(db, session)
        holder.rollback()
        found = sorted(str(answer.result()) for answer in answers)
    assert found in (["1", "HD022"], ["0", "1"]), "the second one waits for the message a fifth of a second at most"
    refused(db, "HD022", TAKE, (attempt,))


def test_an_attempt_begun_in_the_same_transaction_is_not_taken_however_many_others_there_are(
    db: Db, create: Create, connect: Connect
) -> None:
    create(backout_count="hardened")
    send(db)
    other = connect()
    with db.transaction():
        db.execute("select max(age(relfrozenxid)) from pg_class")
        for _ in range(5):
            other.execute("select pg_current_xact_id()")
        ((attempt, _),) = begin(db)
        for _ in range(12):
            other.execute("select pg_current_xact_id()")
        refused(db, "HD022", TAKE, (attempt,))


def test_a_receive_that_gave_nothing_and_was_rolled_back_may_be_repeated(
    db: Db, create: Create, connect: Connect
) -> None:
    attempt = of_one(db, create, limit=1)
    holder = connect()
    holder.execute("begin")
    holder.execute("select from howdah.msgs for update")
    with db.transaction(force_rollback=True):
        assert receive_attempt(db, attempt) == 0
    holder.rollback()
    assert receive_attempt(db, attempt) == 1


def test_a_stopped_listener_takes_no_attempt_back_whose_handler_has_started(db: Db, create: Create) -> None:
    create(backout_count="hardened", max_failed_deliveries=2)
    send(db)
    one(db, "select howdah.create_listener('l', 'q')")
    (attempt,) = column(db, "select attempt from howdah.begin_attempts_as('l')")
    take = "select howdah.receive_attempt_as('l', %s)"
    with db.transaction(force_rollback=True):
        assert len(column(db, take, (attempt,))) == 1
    one(db, "select howdah.stop_listener('l')")
    refused(db, "HD022", take, (attempt,))
    assert column(db, "select attempt_id from howdah.attempts") == [attempt], "it counts"


def test_an_id_may_be_chosen_again_after_its_attempt_was_cancelled(db: Db, create: Create) -> None:
    create(backout_count="hardened")
    send(db)
    chosen = uuid4()
    for _ in range(2):
        one(db, "select attempt from howdah.begin_attempts('q', 1, %s)", (chosen,))
        assert one(db, "select howdah.cancel_attempt('q', %s)", (chosen,)) is True
    with db.transaction():
        one(db, "select attempt from howdah.begin_attempts('q', 1, %s)", (chosen,))
        refused(db, "HD022", TAKE, (chosen,))
    with db.transaction(force_rollback=True):
        assert receive_attempt(db, chosen) == 1
    refused(db, "HD022", TAKE, (chosen,))
    assert one(db, "select howdah.cancel_attempt('q', %s)", (chosen,)) is True
    assert one(db, "select howdah.maintain_attempts()") == 0
    assert column(db, "select attempt_id from howdah.untaken_attempts") == []
