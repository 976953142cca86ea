"""A session's temporary queue belongs to its token and ends with the session."""

from __future__ import annotations

import pytest
from support import Db, column, one

from howdah.engine import Connection, connect
from howdah.engine.calls import temporary
from howdah.engine.errors import QueueInUse

TEMPORARY = "select queue from howdah.list_queues(true) where queue like '\\_TEMP%%'"


def test_a_temporary_queue_of_a_session_is_received_by_the_other_sessions_of_its_token(
    connection: Connection, orders: str
) -> None:
    with connection.session() as first, connection.session() as second:
        first.call(temporary.set_connection("a-token-of-this-client", local=False))
        queue = first.call(temporary.create())
        first.commit()
        connection.send(queue, "x")
        second.call(temporary.set_connection("a-token-of-this-client", local=True))
        assert len(second.receive(queue)) == 1
        with pytest.raises(QueueInUse):
            first.call(temporary.drop(queue))
        second.commit()
        first.call(temporary.drop(queue))
        assert first.call(temporary.close()) == 0
        first.commit()


def test_a_temporary_queue_of_a_session_ends_with_it_and_the_pools_connection_is_nobodys(dsn: str, db: Db) -> None:
    with connect(dsn, max_size=2) as connection:
        for transacted in (True, False):
            with connection.session(transacted=transacted) as session:
                queue = session.create_temporary_queue()
                connection.send(queue, "x")
                assert [m.body for m in session.receive(queue)] == ["x"]
                assert column(db, TEMPORARY) == [queue]
            assert column(db, TEMPORARY) == []
            with connection.session() as next_one:
                assert one(next_one.connection, "select current_setting('howdah.connection', true)") in ("", None)
