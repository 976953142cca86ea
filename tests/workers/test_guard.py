"""Which statements a handler's connection lets through."""

from __future__ import annotations

import pytest
from psycopg import sql

from howdah.engine.errors import IllegalState
from howdah.workers.guard import HandlerConnection

REFUSED: list[str | bytes | sql.Composed] = [
    "commit",
    " COMMIT WORK;",
    b"end;",
    "/* all\n done */ -- yes\n Commit and chain",
    "prepare transaction 'x'",
    "select 1; commit",
    "select 1; end; select 2",
    "select ';'; rollback",
    "rollback; insert into t values (2)",
    sql.SQL("com{}").format(sql.SQL("mit")),
]
ALLOWED = [
    "select 'x; commit; y'",
    "select $$;commit;$$, $a$;end;$a$; select 2",
    "do $$ begin perform 1; end; $$; select 1",
    'select 1 as "; commit"; select 2 -- ; commit',
    "savepoint a; rollback to savepoint a; rollback work to a; release a",
    "select 1 as ending",
]


@pytest.fixture
def connection(dsn: str) -> HandlerConnection:
    return HandlerConnection.open(dsn, "test")


def test_what_would_commit_the_workers_transaction_is_refused_before_it_is_sent(connection: HandlerConnection) -> None:
    with connection:
        connection.execute("create table t (n integer)")
        connection.commit()
        connection.execute("insert into t values (1)")
        for statement in REFUSED:
            with pytest.raises(IllegalState):
                connection.execute(statement)
        connection.rollback()
        assert connection.execute("select count(*) from t").fetchone() == (0,)


def test_other_statements_pass(connection: HandlerConnection) -> None:
    with connection:
        connection.execute("create table t (n integer)")
        for statement in ALLOWED:
            connection.execute(statement)
        connection.execute("select %s; ", ("; commit",))
        assert not connection.rolled_back
        connection.execute("select 1 from t")


@pytest.mark.parametrize("statement", ["rollback", "ROLLBACK WORK ;", "-- enough\nabort", "rollback and chain"])
def test_a_rollback_passes_and_is_noticed(connection: HandlerConnection, statement: str) -> None:
    with connection:
        connection.execute("select 1")
        connection.execute(statement)
        assert connection.rolled_back
        connection.watch()
        assert not connection.rolled_back
