"""Users and prepared transactions over asyncio: what runs several statements in one call, or outside a transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from support import Db, column, one

from howdah.engine.aio import connect_async
from howdah.engine.errors import BadArgument


@pytest.fixture
def tom(db: Db) -> Iterator[str]:
    """The name of a role that ends with the test."""
    if not one(db, "select rolcreaterole from pg_roles where rolname = current_user"):
        pytest.skip("only who may create roles creates users")
    name = f"tom_{db.info.dbname[-12:]}"
    yield name
    db.execute(sql.SQL("drop role if exists {}").format(sql.Identifier(name)))


def test_a_user_is_made_altered_recorded_and_dropped_over_asyncio(dsn: str, db: Db, tom: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            await connection.users.create(tom, "plain as day", groups=("howdah_producer",))
            await connection.users.set_password(tom, "plain as night")
            await connection.users.remove("howdah_producer", tom)
            assert {"name": tom, "login": True, "groups": []} in await connection.users.list()
            psycopg.connect(make_conninfo(dsn, user=tom, password="plain as night")).close()
            await connection.users.drop(tom)
            assert tom not in {row["name"] for row in await connection.users.list()}

    asyncio.run(scenario())
    assert one(db, "select count(*) from howdah.list_changes('user', %s)", (tom,)) == 4


def test_a_user_whose_group_is_missing_is_not_made_over_asyncio(dsn: str, db: Db, tom: str) -> None:
    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            with pytest.raises(BadArgument, match="does not exist"):
                await connection.users.create(tom, "plain as day", groups=(f"{tom}typo",))

    asyncio.run(scenario())
    assert one(db, "select count(*) from pg_roles where rolname = %s", (tom,)) == 0


def test_prepared_transactions_are_listed_and_ended_over_asyncio(dsn: str, db: Db, orders: str) -> None:
    gids = [f"howdah:{what} {db.info.dbname}" for what in ("committed", "rolled back")]
    for gid in gids:
        db.execute("begin")
        one(db, "select howdah.send(%s, %s, notify => false)", (orders, gid))
        db.execute(sql.SQL("prepare transaction {}").format(gid))

    async def scenario() -> None:
        async with connect_async(dsn) as connection:
            assert sorted(row["gid"] for row in await connection.transactions.list()) == sorted(gids)
            await connection.transactions.commit(gids[0])
            await connection.transactions.rollback(gids[1])
            assert await connection.transactions.list() == []
            with pytest.raises(BadArgument, match="no prepared transaction"):
                await connection.transactions.commit(gids[0])

    asyncio.run(scenario())
    assert column(db, "select body from howdah.browse(%s)", (orders,)) == gids[:1]
