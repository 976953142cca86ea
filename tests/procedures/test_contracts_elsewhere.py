"""Contracts on the ways that are no plain send: loads, schedules, bridges, links, replays, imports."""

from __future__ import annotations

import json
from collections.abc import Callable

import psycopg
import pytest
from links_support import Steps, create
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, identifier, one, refused

from howdah.engine.errors import LinkRefused

OBJECT = {"type": "object", "required": ["n"]}
GOOD, BAD = '{"n": 1}', '{"secret": "hunter2"}'
SAYS = """the body does not keep to the contract of 'orders': # lacks the member "n" (required)"""


@pytest.fixture
def orders(db: Db) -> str:
    """A queue "orders" with a contract."""
    one(db, "select howdah.create_queue('orders', %s)", (Jsonb({"contract": OBJECT, "exception_queue": "dead"}),))
    one(db, "select howdah.create_queue('dead')")
    return "orders"


def stored(db: Db, queue: str = "orders") -> list[str]:
    return column(db, "select body from howdah.browse(%s)", (queue,))


def without(db: Db, body: str = BAD) -> int:
    """A message from before the contract."""
    one(db, "select howdah.alter_queue('orders', '{\"contract\": null}')")
    number: int = one(db, "select howdah.send('orders', %s)", (body,))
    one(db, "select howdah.alter_queue('orders', %s)", (Jsonb({"contract": OBJECT}),))
    return number


def test_a_load_by_copy_is_refused_whole(db: Db, orders: str) -> None:
    for bodies, fault in (((GOOD, BAD), True), ((GOOD, GOOD), False)):
        with db.transaction():
            one(db, "select howdah.begin_copy()")
            with db.cursor().copy("copy pg_temp.howdah_copy (body) from stdin") as copy:
                copy.write("\n".join(bodies))
            if fault:
                with db.transaction(force_rollback=True):
                    refused(db, "HD050", "select howdah.send_copied('orders')")
                db.execute("truncate pg_temp.howdah_copy")
            else:
                assert one(db, "select howdah.send_copied('orders')") == 2
    assert stored(db) == [GOOD, GOOD]


def test_a_schedule_is_checked_when_it_is_made_and_when_it_fires(db: Db, clock: Clock, orders: str) -> None:
    make = "select howdah.schedule('orders', %s::text, period => '1 minute', name => 'often')"
    assert refused(db, "HD050", make, (BAD,)).message_primary == SAYS
    one(db, make, (GOOD,))
    clock.advance(61)
    assert one(db, "select fired from howdah.fire_schedules()") == 1
    one(db, 'select howdah.alter_queue(\'orders\', \'{"contract": {"required": ["m"]}}\')')
    clock.advance(61)
    assert one(db, "select fired from howdah.fire_schedules()") == 0
    state, error = db.execute("select state, last_error from howdah.list_schedules()").fetchone() or ()
    assert (state, "lacks the member" in error) == ("failed", True)
    assert stored(db) == [GOOD]


def test_a_publisher_learns_of_a_bridged_queues_contract_and_the_topic_keeps_nothing(db: Db, orders: str) -> None:
    one(db, "select howdah.create_topic('t'), howdah.subscribe('t', 's'), howdah.bridge('t', 'orders', 'k = 1')")
    send = "select howdah.send('t', %s::text, headers => '{\"k\": 1}')"
    assert refused(db, "HD050", send, (BAD,)).message_primary == SAYS
    one(db, send, (GOOD,))
    one(db, "select howdah.send('t', %s::text)", (BAD,))  # not selected, so not the queue's
    assert (stored(db), stored(db, "t::s")) == ([GOOD], [GOOD, BAD])


@pytest.fixture
def shop(db: Db) -> str:
    """A transformation "made": the body {"raise": …} cannot be transformed; others become their member "becomes"."""
    role = f"hdt_contracts_{one(db, 'select pg_backend_pid()')}"
    db.execute(psycopg.sql.SQL("create role {0}; create schema shop authorization {0}").format(identifier(role)))
    db.execute(
        psycopg.sql.SQL(
            "grant usage on schema shop to howdah_nobody;"
            " create function shop.made(m howdah.message) returns howdah.message language plpgsql security definer"
            " set search_path = shop, pg_temp as $$ begin"
            " if m.body::jsonb ? 'raise' then raise exception 'no such milk'; end if;"
            " m.body := m.body::jsonb -> 'becomes'; return m; end $$; alter function shop.made owner to {0}"
        ).format(identifier(role))
    )
    one(db, "select howdah.register_transformation('made', 'shop.made')")
    return role


@pytest.mark.slow
def test_what_a_bridge_makes_is_checked_and_what_it_cannot_make_is_dead_all_the_same(
    db: Db, orders: str, shop: str
) -> None:
    """The publisher of a body that is not transformed gets no error: it is the queue's failure, and has a record."""
    one(db, "select howdah.create_topic('t'), howdah.bridge('t', 'orders', null, 'made')")
    one(db, "select howdah.send('t', '{\"becomes\": {\"n\": 1}}'::text)")
    assert refused(db, "HD050", "select howdah.send('t', '{\"becomes\": {}}'::text)").message_primary == SAYS
    bodies = ['{"becomes": {"n": 2}}', '{"raise": true}', '{"becomes": {"n": 3}}']
    one(db, "select howdah.send_batch('t', %s::text[])", (bodies,))
    assert stored(db) == ['{"n": 1}', '{"n": 2}', '{"n": 3}']
    assert stored(db, "dead") == ['{"raise": true}']
    assert column(db, "select error_text from howdah.incidents('orders')") == ["transformation made: no such milk"]
    refused(db, "HD050", "select howdah.send('t', '{\"becomes\": {}}'::text)")


def test_a_link_is_told_to_reject_what_the_target_refuses(
    dsn: str, db: Db, orders: str, new_engine: Callable[[], str]
) -> None:
    one(db, "select howdah.create_queue('out')")
    other = new_engine()
    with psycopg.connect(other, autocommit=True) as b:
        b.execute("select howdah.create_queue('in', %s)", (Jsonb({"contract": OBJECT}),))
        create(db)
        ids = one(db, "select howdah.send_batch('out', array[%s, %s, %s])", (GOOD, BAD, GOOD))
        steps = Steps(dsn, other)
        taken = steps.take()
        with pytest.raises(LinkRefused) as refusal:
            steps.arrive(taken)
        steps.close()
        assert stored(b, "in") == []
    cause = refusal.value.__cause__
    assert isinstance(cause, psycopg.Error)
    (refused_one,) = json.loads(cause.diag.message_detail or "")
    assert (refused_one["message_id"], refused_one["reject"]) == (ids[1], True)


def test_what_was_there_before_goes_on_and_an_edited_body_is_checked(db: Db, orders: str) -> None:
    """Failures, moves and replays bring back what was sent; a corrected copy with a new body is a new message."""
    number = without(db)
    one(db, "select howdah.record_failure('orders', %s, reject => true)", (number,))
    assert stored(db, "dead") == [BAD]
    edit = "select howdah.replay_edited('dead', %s, body => %s, headers => '{}', target => %s)"
    assert refused(db, "HD050", edit, (number, BAD, None)).message_primary == SAYS
    one(db, edit, (number, GOOD, "orders"))
    one(db, edit, (number, None, "orders"))  # its old body, with other headers
    assert one(db, "select howdah.replay('dead')") == 1
    assert stored(db) == [GOOD, BAD, BAD]
    assert column(db, "select body from howdah.receive('orders', 9)") == [GOOD, BAD, BAD]


def test_a_replay_of_kept_messages_is_a_send(db: Db, orders: str) -> None:
    one(db, "select howdah.alter_queue('orders', '{\"keep_bodies_ms\": 86400000}')")
    without(db)
    assert column(db, "select body from howdah.receive('orders')") == [BAD]
    refused(db, "HD050", "select howdah.replay_kept('orders', reason => 'again')")
    assert stored(db) == []


def test_an_import_stores_nothing_of_a_batch_with_a_body_that_breaks_it(db: Db, orders: str) -> None:
    one(db, "select howdah.begin_import('s')")
    messages = [
        {"key": str(n), "message_id": n, "text": body, "content_type": "text/plain"}
        for n, body in enumerate((GOOD, BAD), 1)
    ]
    come = "select stored from howdah.import_messages('s', 'orders', %s)"
    refused(db, "HD050", come, (json.dumps(messages),))
    assert stored(db) == []
    assert one(db, come, (json.dumps(messages[:1]),)) == 1


def test_no_value_of_a_body_is_in_the_error(db: Db, orders: str) -> None:
    """Errors go to logs. Names of members may be there, values are not."""
    schema = {"properties": {"secret": {"not": {"const": "hunter2"}}}, "required": ["n"]}
    for contract in (OBJECT, schema, {"const": 1}, {"enum": [1]}, {"maxProperties": 0}, {"not": True}, False):
        one(db, "select howdah.alter_queue('orders', %s)", (Jsonb({"contract": contract}),))
        for body in (BAD, BAD[:-1], '["hunter2"', '{"secret": "hunter2\\u0000"}'):
            said = refused(db, "HD050", "select howdah.send('orders', %s::text)", (body,))
            assert "hunter2" not in f"{said.message_primary} {said.message_detail} {said.message_hint} {said.context}"


def test_administrators_alone_set_contracts(db: Db, connect: Connect, orders: str) -> None:
    for role in ("howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor"):
        refused(connect(role), "42501", "select howdah.alter_queue('orders', '{\"contract\": null}')")
    refused(db, "HD004", "select howdah.alter_queue('orders', %s)", (Jsonb({"contract": {"title": "x" * 2**20}}),))
    wide = {"enum": [f"{n:08}" for n in range(5000)]}
    one(db, "select howdah.alter_queue('orders', %s)", (Jsonb({"contract": wide}),))
    one(db, "select howdah.send_batch('orders', %s::jsonb[])", (['"00004999"'] * 100,))
