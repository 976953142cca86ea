"""What the page of the Python API shows runs as it stands there, block after block in one namespace."""

from __future__ import annotations

import ast
import asyncio
import gc
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psycopg
import psycopg_pool
import pytest
from pages import blocks
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session as OrmSession
from support import one

from howdah.engine import Connection

PAGE = "docs/python-api.md"


@contextmanager
def given(dsn: str) -> Iterator[dict[str, Any]]:
    """What the page takes from the application around it."""
    with ExitStack() as stack:
        engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
        stack.callback(engine.dispose)
        yield {
            "my_psycopg_pool": stack.enter_context(psycopg_pool.ConnectionPool(dsn, min_size=0, max_size=2, open=True)),
            "psycopg_connection": stack.enter_context(psycopg.connect(dsn)),
            "sqlalchemy_connection": stack.enter_context(engine.connect()),
            "orm_session": stack.enter_context(OrmSession(engine)),
            "order": SimpleNamespace(id=1),
        }


@asynccontextmanager
async def given_async(dsn: str) -> AsyncIterator[dict[str, Any]]:
    async with AsyncExitStack() as stack:
        engine = create_async_engine(
            "postgresql+psycopg://", async_creator=lambda: psycopg.AsyncConnection.connect(dsn)
        )
        stack.push_async_callback(engine.dispose)
        yield {
            "psycopg_async_connection": await stack.enter_async_context(await psycopg.AsyncConnection.connect(dsn)),
            "sqlalchemy_async_connection": await stack.enter_async_context(engine.connect()),
        }


def run(block: str, names: dict[str, Any], dsn: str) -> None:
    """One block; one that awaits, in a loop of its own, with its names for itself."""
    code = compile(block, PAGE, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)

    async def awaited() -> None:
        async with given_async(dsn) as more:
            await eval(code, names | more)

    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(awaited())
    else:
        exec(code, names)  # noqa: S102


@pytest.fixture
def closed() -> Iterator[None]:
    """The page's connections, of which it has one after the other under one name, are closed at the end."""
    yield
    for thing in gc.get_objects():
        if isinstance(thing, Connection):
            thing.close()


def test_the_page_of_the_python_api_in_order(
    dsn: str, closed: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("orders.txt").write_text("a\nb\nc\n")
    with psycopg.connect(dsn, autocommit=True) as db, given(dsn) as names:
        one(db, "select howdah.create_queue('orders')")
        for block in blocks(PAGE, "python"):
            run(block.replace("postgresql://…", dsn), names, dsn)
        assert [message.body for message in names["messages"]] == ["a", "b"], "the other is delayed"
        assert names["count"] == 3
        assert capsys.readouterr().out == "prices {'price': 120}\n"
        assert names["app"].bindings.keys() == {"orders", "prices::billing"}
