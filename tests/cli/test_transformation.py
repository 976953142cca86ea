"""`howdah transformation`, where its state shows, and a contract from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from command import howdah
from support import Db, column, identifier, one, refused


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role with the function shop.made."""
    role = f"hdt_cli_{one(db, 'select pg_backend_pid()')}"
    db.execute(
        psycopg.sql.SQL(
            "create role {0}; create schema shop authorization {0}; grant usage on schema shop to howdah_nobody;"
            " create function shop.made(m howdah.message) returns howdah.message language plpgsql security definer"
            " set search_path = shop, pg_temp as $$ begin m.body := upper(m.body); return m; end $$;"
            " alter function shop.made owner to {0}"
        ).format(identifier(role))
    )
    yield role
    db.execute(psycopg.sql.SQL("drop schema shop cascade; drop role {0}").format(identifier(role)))


@pytest.mark.slow
def test_one_is_registered_used_seen_when_it_is_unfit_and_dropped(dsn: str, db: Db, shop: str) -> None:
    one(db, "select howdah.create_topic('t'), howdah.subscribe('t', 's')")
    assert howdah(dsn, "transformation", "list").out == "no transformations\n"
    register = ("transformation", "register", "made", "shop.made")
    assert howdah(dsn, *register).out == "transformation made registered\n"
    assert howdah(dsn, *register, "--json").json == {"name": "made", "function": "shop.made", "new": False}
    assert howdah(dsn, "transformation", "register", "x", "shop.nowhere").code == 1
    assert howdah(dsn, "transformation", "subscription", "t::s", "made").out == "t::s: transformed by made\n"
    health = {row["name"]: row for row in howdah(dsn, "health", "--json").json["checks"]}
    assert (health["transformations"]["state"], health["transformations"]["detail"]) == ("ok", "1 in use")

    db.execute("drop function shop.made")
    (row,) = howdah(dsn, "transformation", "list", "--json").json
    assert (row["used_by"], row["unfit"]) == (
        ["subscription t::s"],
        "there is no such function (howdah.message)",
    )
    warned = howdah(dsn, "health")
    assert "cannot be called: made" in warned.out
    assert howdah(dsn, "health", "--strict").code == 1

    assert howdah(dsn, "transformation", "drop", "made", "--yes").code == 1
    assert howdah(dsn, "transformation", "subscription", "t::s").out == "t::s: as published\n"
    assert "transformations" not in howdah(dsn, "health").out
    assert howdah(dsn, "transformation", "drop", "made", "--yes").out == "transformation made dropped\n"
    assert howdah(dsn, "transformation", "drop", "made", "--yes").out == "there was no transformation made\n"


def test_a_contract_comes_from_a_file(dsn: str, db: Db, tmp_path: Path) -> None:
    file = tmp_path / "order.json"
    file.write_text('{"type": "object",\n "required": ["naïve"]}\n', encoding="utf-8")
    option = ("-o", f"contract=@{file}")
    assert howdah(dsn, "queue", "create", "orders", *option).code == 0
    assert howdah(dsn, "topic", "create", "news", *option).code == 0
    refused(db, "HD050", "select howdah.send('orders', '{}'::jsonb)")
    sent = howdah(dsn, "send", "orders", "{}", "-H", "to=@tom")  # a header is no option
    assert sent.code == 1
    assert '# lacks the member "naïve" (required)' in sent.err
    assert howdah(dsn, "queue", "alter", "orders", "-o", "contract=null").code == 0
    one(db, "select howdah.send('orders', '{}'::jsonb)")
    assert column(db, "select body from howdah.receive('orders')") == ["{}"]

    file.write_text("{", encoding="utf-8")
    for path, says in ((file, "it is no JSON"), (tmp_path / "nowhere", "No such file")):
        result = howdah(dsn, "queue", "alter", "orders", "-o", f"contract=@{path}")
        assert (result.code, says in result.err.replace("\n", " ")) == (2, True), result
