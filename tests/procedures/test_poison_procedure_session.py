"""A poison procedure neither sees nor changes what belongs to the session that receives."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from poison_procedure_support import dead, make, poison, queue_of, raising, send, shop_of, went_the_usual_way
from support import Connect, Db, column, identifier, one, receive


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role of its own, which owns the schema shop and the functions in it."""
    with shop_of(db) as role:
        yield role


@pytest.fixture
def queue(db: Db, shop: str) -> str:
    return queue_of(db, shop)


def test_it_makes_no_later_statement_of_the_receive_call_functions_of_its_owner(
    db: Db, queue: str, shop: str, connect: Connect
) -> None:
    db.execute(psycopg.sql.SQL("set role {}").format(identifier(shop)))
    for name, arguments in (("split_part", "text, text, integer"), ("format", "text, text, text")):
        db.execute(
            f"create function shop.{name}({arguments}) returns text language plpgsql as"
            " $$ begin raise warning 'runs as %', current_user; return 'x'; end $$".encode()
        )
    db.execute("reset role")
    make(
        db, shop, raising("perform set_config('search_path', 'shop, pg_catalog', false)"), "security definer", "plpgsql"
    )
    db.execute("alter function shop.poison(howdah.message, jsonb) reset search_path")
    consumer = connect("howdah_consumer")
    said: list[str] = []
    consumer.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    poison(db)
    assert receive(consumer) == []
    assert [text for text in said if text.startswith("runs as")] == []
    assert "it changed search_path" in dead(db)[0][1]
    assert one(consumer, "show search_path") == one(db, "show search_path")


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["standard_conforming_strings", "row_security", "default_transaction_read_only"])
@pytest.mark.parametrize("local", ["false", "true"])
def test_a_setting_that_it_leaves_changed_is_a_failure_of_it(
    db: Db, queue: str, shop: str, setting: str, local: str
) -> None:
    before = one(db, "select current_setting(%s)", (setting,))
    other = "off" if before == "on" else "on"
    make(db, shop, raising(f"perform set_config('{setting}', '{other}', {local})"), language="plpgsql")
    went_the_usual_way(db, poison(db), f"it changed {setting}")
    assert one(db, "select current_setting(%s)", (setting,)) == before


@pytest.mark.first_case
@pytest.mark.parametrize("ends", ["return true", "raise exception 'no'"])
def test_it_does_not_see_the_secret_with_which_attempts_are_begun(db: Db, queue: str, shop: str, ends: str) -> None:
    """Whoever knows it receives from hardened queues without an attempt on record."""
    poison(db)
    one(db, "select howdah.alter_queue('q', '{\"backout_count\": \"hardened\"}')")
    make(
        db,
        shop,
        f"begin raise warning 'seen: %', current_setting('howdah.attempting', true); {ends}; end",
        language="plpgsql",
    )
    said: list[str] = []
    db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    good = send(db, body="good")
    assert column(db, "select message_id from howdah.begin_attempts('q')") == [good], "and goes on with its attempts"
    assert [text for text in said if text.startswith("seen")] == ["seen: "]


@pytest.mark.first_case
@pytest.mark.parametrize("ends", ["return true", "raise exception 'no'"])
def test_it_does_not_see_the_token_of_the_connection_which_is_the_sessions_again_afterwards(
    db: Db, queue: str, shop: str, ends: str
) -> None:
    token = "the-token-of-a-connection"
    db.execute("select howdah.set_connection(%s)", (token,))
    note = f"begin raise warning 'seen: %', current_setting('howdah.connection', true); {ends}; end"
    make(db, shop, note, language="plpgsql")
    said: list[str] = []
    db.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
    poison(db)
    assert receive(db) == []
    assert [text for text in said if text.startswith("seen")] == ["seen: "]
    assert one(db, "select current_setting('howdah.connection')") == token


@pytest.mark.first_case
@pytest.mark.parametrize("setting", ["connection", "client_id"])
def test_it_does_not_make_the_session_another_clients(db: Db, queue: str, shop: str, setting: str) -> None:
    db.execute(f"select howdah.set_{setting}('the-sessions-own-name')".encode())
    taken = f"perform set_config('howdah.{setting}', 'the-name-of-another-one', false)"
    make(db, shop, raising(taken), language="plpgsql")
    went_the_usual_way(db, poison(db), f"it changed howdah.{setting}")
    assert one(db, "select current_setting(%s)", (f"howdah.{setting}",)) == "the-sessions-own-name"


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("execute 'prepare theirs as select 1'", "it left a prepared statement"),
        ("execute 'deallocate ours'; execute 'prepare ours as select 1'", "it left a prepared statement"),
        ("execute 'prepare theirs as select 1'; raise exception 'no'", "P0001: no"),
        ("execute 'declare theirs cursor with hold for select 1'", "a cursor WITH HOLD"),
    ],
)
def test_it_leaves_no_statement_and_no_cursor_for_the_session_to_use(
    db: Db, queue: str, shop: str, what: str, why: str
) -> None:
    db.execute("prepare ours as select 1; begin; declare mine cursor with hold for select 1; commit")
    make(db, shop, raising(what), language="plpgsql")
    went_the_usual_way(db, poison(db), why)
    left = column(db, "select name from pg_prepared_statements where from_sql")
    assert left == ([] if "deallocate" in what else ["ours"])
    assert column(db, "select name from pg_cursors where is_holdable") == ["mine"]


def test_one_that_prepares_and_tidies_up_is_no_failure(db: Db, queue: str, shop: str) -> None:
    make(
        db, shop, "begin execute 'prepare theirs as select 1'; deallocate theirs; return true; end", language="plpgsql"
    )
    poison(db)
    assert receive(db) == []
    assert dead(db) == []
