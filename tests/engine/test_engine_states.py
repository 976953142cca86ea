"""The states of the engine through Python, of threads and of asyncio."""

from __future__ import annotations

import asyncio

import pytest

from howdah.engine import Connection, connect
from howdah.engine.aio import connect_async
from howdah.engine.errors import EngineHalted, QueuePaused, is_innocent


def test_the_administrator_pauses_quiesces_stops_and_resumes(connection: Connection, orders: str) -> None:
    admin = connection.admin
    assert (admin.pause_engine("why"), admin.pause_engine()) == (True, False)
    with pytest.raises(EngineHalted) as caught:
        connection.send(orders, "x")
    assert isinstance(caught.value, QueuePaused)
    assert is_innocent(caught.value)
    assert admin.quiesce_engine() is True
    assert admin.stop_engine(5)["state"] == "stopped"
    assert admin.engine_state()["pids"] == []
    assert (admin.resume_engine(), admin.resume_engine()) == (True, False)
    connection.send(orders, "x")


def test_a_stop_in_a_sessions_transaction_quiesces_until_that_commits(dsn: str, orders: str) -> None:
    with connect(dsn) as connection, connection.session() as session:
        assert session.admin.stop_engine(0)["state"] == "quiescing"
        session.commit()
        assert session.admin.stop_engine(5)["state"] == "stopped"
        session.commit()
        assert connection.admin.resume_engine() is True


def test_the_same_with_asyncio(dsn: str, orders: str) -> None:
    async def check() -> None:
        async with connect_async(dsn) as connection:
            assert await connection.admin.pause_engine() is True
            with pytest.raises(EngineHalted):
                await connection.send(orders, "x")
            assert (await connection.admin.stop_engine(5))["state"] == "stopped"
            assert await connection.admin.resume_engine() is True
            assert (await connection.admin.engine_state())["state"] == "running"

    asyncio.run(check())
