"""What a hostile function does wrong is undone, and no message is lost by it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import Connect, Db, column, one, refused
from transformation_support import MADE, put, shop_of, topic


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role that owns a schema with the function shop.made, which is registered as "made"."""
    with shop_of(db) as role:
        yield role


HOSTILE = {
    "it ends the transaction": ("commit; return m;", "2D000"),
    "it asks for a retry": ("raise exception using errcode = '40001'; return m;", "40001"),
    "it says that the engine is paused": ("raise exception using errcode = 'HD040'; return m;", "HD040"),
    "it is cancelled": ("raise query_canceled; return m;", "57014"),
    "it never ends": ("loop end loop; return m;", "57014"),
    "it sends without a right": ("perform howdah.send('dead', 'x'); return m;", "42501"),
    "it changes its rights": ("set role howdah_admin; return m;", "42501"),
    "it receives what it is called for": ("perform howdah.receive('t::s'); return m;", "42501"),
}


def test_an_error_that_blames_no_message_reaches_the_consumer_and_the_message_waits(
    db: Db, connect: Connect, shop: str
) -> None:
    """One after the other: a schema of its own for each would have every session plan anew."""
    topic(db)
    consumer = connect("howdah_consumer")
    for way, (body, state) in HOSTILE.items():
        one(db, "select howdah.send('t', 'tea')")
        put(db, shop, body)
        if way == "it never ends":
            consumer.execute("set statement_timeout = '500ms'")
        refused(consumer, state, f"select * from howdah.receive('t::s') -- {way}")
        consumer.execute("reset statement_timeout")
        put(db, shop, MADE)
        assert column(consumer, "select body from howdah.receive('t::s')") == ["TEA"], way
        assert one(db, "select count(*) from howdah.incidents('t::s')") == 0, way


FAILING = {
    "it blames itself by a state of ours": ("raise exception 'oh' using errcode = 'HD007'; return m;", "oh"),
    "it asserts": ("assert false, 'not so'; return m;", "not so"),
    "it calls itself": ("return shop.made(m);", "stack depth limit exceeded"),
    "it prepares": ("prepare leftover as select 1; return m;", "it left a prepared statement"),
    "it changes search_path": ("perform set_config('search_path', 'shop', false); return m;", "it changed search_path"),
    "it writes more than an int": ("return jsonb_populate_record(m, '{\"priority\": 99999999999}');", "out of range"),
    "its CASE knows no answer": ("case m.body when 'x' then null; end case; return m;", "case not found"),
    "it expects one row and gets two": ("m.body := (values ('a'), ('b')); return m;", "more than one row"),
    "it ends without RETURN": ("m.body := 'x';", "control reached end of function without RETURN"),
    "it has a state of its own": ("raise exception 'no shop' using errcode = 'U0001'; return m;", "no shop"),
    "it says what PL/Python would": ("raise exception 'ValueError' using errcode = '38000'; return m;", "ValueError"),
    "its headers cannot be": ("m.headers := '[1]'; return m;", "headers that are no object"),
}


def test_what_it_must_not_do_is_its_failure_and_undone(db: Db, connect: Connect, shop: str) -> None:
    topic(db)
    db.execute("create table shop.seen (body text); grant insert on shop.seen to public")
    consumer = connect("howdah_consumer")
    for number, (way, (body, says)) in enumerate(FAILING.items(), 1):
        one(db, "select howdah.send('t', 'tea')")
        put(db, shop, f"insert into shop.seen values (m.body); {body}")
        assert column(consumer, "select body from howdah.receive('t::s')") == [], way
        errors = column(db, "select error_text from howdah.incidents('t::s') order by incident_id desc limit 2")
        assert one(db, "select count(*) from howdah.incidents('t::s')") == 2 * number, way
        assert all(says in error for error in errors), (way, errors)
        assert one(db, "select count(*) from shop.seen") == 0, way
        assert one(consumer, "select count(*) from pg_prepared_statements where name = 'leftover'") == 0, way
        assert column(db, "select body from howdah.receive('dead')") == ["tea"], way
