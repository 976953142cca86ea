"""A session in the caller's connection works in the caller's transaction and never ends it."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest
from support import Db, column, one

from howdah.engine import Message, Session
from howdah.engine.errors import IllegalState
from howdah.procedures import FILES, source


def ids(messages: list[Message]) -> list[int]:
    return [message.message_id for message in messages]


def bodies(messages: list[Message]) -> list[Any]:
    return [message.body for message in messages]


def test_business_row_and_message_commit_together(db: Db, dsn: str, orders: str) -> None:
    db.execute("create table account (balance integer)")
    with psycopg.connect(dsn) as own:
        own.execute("insert into account values (1)")
        sent = Session(own).send(orders, "paid")
        assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == []
        own.commit()
        assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == [sent]
        assert ids(Session(own).receive(orders)) == [sent]
        own.execute("update account set balance = 2")
        own.rollback()
        assert one(db, "select balance from account") == 1
        assert column(db, "select message_id from howdah.browse(%s)", (orders,)) == [sent]


def test_a_session_in_the_callers_connection_never_ends_its_transaction(dsn: str, orders: str) -> None:
    with psycopg.connect(dsn) as own:
        session = Session(own)
        session.send(orders, "x")
        for verb in (session.commit, session.rollback):
            with pytest.raises(IllegalState):
                verb()
        with pytest.raises(IllegalState):
            session.listen(orders, print)
        session.close()
        assert not own.closed
        assert own.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


def test_row_factories_and_prepared_statements_of_the_caller_do_not_matter(dsn: str, orders: str) -> None:
    with psycopg.connect(dsn, row_factory=psycopg.rows.dict_row, prepare_threshold=0) as own:
        session = Session(own)
        sent = session.send_many(orders, ["a", "b"])
        assert ids(session.receive(orders, 5)) == sent
    with psycopg.connect(dsn, cursor_factory=psycopg.ClientCursor) as own:
        session = Session(own)
        session.send(orders, {"a": [1, "ü", b"x".decode()]}, headers={"h": 1}, priority=7)
        (message,) = session.receive(orders)
        assert (message.data, message.headers, message.priority) == ({"a": [1, "ü", "x"]}, {"h": 1}, 7)


@pytest.mark.slow
def test_prepared_statements_survive_a_new_installation_and_a_type_that_grew(db: Db, dsn: str, orders: str) -> None:
    with psycopg.connect(dsn, autocommit=True, prepare_threshold=0) as own:
        session = Session(own)

        def once() -> Any:
            session.send(orders, "x")
            assert bodies(session.browse(orders)) == ["x"]
            return bodies(session.receive(orders))

        assert [once() for _ in range(8)] == [["x"]] * 8
        for growth, last in (("", r"\1"), ("alter type howdah.message add attribute extra text", r"\1, null")):
            # As a migration does it: all procedures anew, in one transaction.
            with db.transaction():
                db.execute(growth.encode())
                for file in FILES:
                    level = r"howdah\._level_name\(\w+\.reliability, [\w.]+\)|'RELIABLE_PERSISTENT' end"
                    ends = rf"({level}|m\.dead_at, m\.reliability)(?=\n|\)::howdah\.message)"
                    text = re.sub(ends, last, source(file))
                    # The one function that names a message's attributes in their order.
                    text = text.replace("reliability, read_count", "reliability, extra, read_count") if growth else text
                    db.execute(text.encode())
            assert [once() for _ in range(8)] == [["x"]] * 8
