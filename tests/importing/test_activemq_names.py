"""howdah import activemq gives no two of the store one name; what cannot have its own is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from activemq_broker import restore
from activemq_support import change, received, refused, run
from support import Db, column


@pytest.fixture
def store(new_database: Callable[[], str]) -> str:
    """A recorded store in a database of its own."""
    dsn = new_database()
    restore(dsn)
    return dsn


def test_names_that_cannot_be_here_stay_or_get_others(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_msgs set container = 'queue://größe 1' where container = 'queue://A'")
    change(store, "update activemq_msgs set container = 'queue://prices' where container = 'queue://B'")
    lines = run(dsn, store, "--dry-run", code=1)
    assert "--map queue://größe 1=NAME" in lines["queue://größe 1"]["why"]
    clash = lines["queue://prices"]["stays"] + lines["topic://prices"]["stays"]
    assert clash in (2, 6)
    maps = ("--map", "größe 1=groesse", "--map", "queue://prices=price.list")
    run(dsn, store, "--final", *maps)
    assert received(db, "groesse") == ["text 1", "text 2"]
    assert received(db, "price.list") == ["text 1", "text 2"]
    change(store, "delete from activemq_msgs where container = 'queue://größe 1'")


@pytest.mark.parametrize("maps", [["B=A"], ["A=both", "B=both"]])
@pytest.mark.parametrize("how", ["--dry-run", "--final"])
def test_two_of_the_store_do_not_get_one_name(dsn: str, db: Db, store: str, maps: list[str], how: str) -> None:
    """Each pass would take the messages of the one back, as they are not in the other."""
    said = refused(dsn, store, how, *(word for given in maps for word in ("--map", given)))
    assert "would both be" in said.err
    assert column(db, "select queue from howdah.list_queues() where queue !~ '^_'") == []


def test_a_topic_without_messages_does_not_get_anothers_name(dsn: str, db: Db, store: str) -> None:
    """Its subscription would have read what the same one of the other topic has not."""
    change(store, "insert into activemq_acks values ('topic://other', 'topic://other', 'desk7', 'billing', null, 0, 0)")
    said = refused(dsn, store, "--final", "--map", "topic://other=prices")
    assert "topic://other and topic://prices would both be prices here" in said.err
    assert column(db, "select topic from howdah.list_topics()") == []


def test_two_subscriptions_do_not_get_one_name(dsn: str, db: Db, store: str) -> None:
    said = refused(dsn, store, "--final", "--map", "subscription://desk7:high=desk7:billing")
    assert "would both be prices:desk7:billing here" in said.err
    assert column(db, "select topic from howdah.list_topics()") == []


@pytest.mark.slow
def test_a_subscription_whose_name_cannot_be_here_stays_or_gets_another(dsn: str, db: Db, store: str) -> None:
    change(store, "update activemq_acks set client_id = 'me@host', sub_name = 'bill ing' where sub_name = 'billing'")
    for words in (["--dry-run"], []):
        lines = run(dsn, store, *words, code=1)
        assert "--map 'subscription://me@host:bill ing=CLIENT:NAME'" in lines["topic://prices me@host:bill ing"]["why"]
    run(dsn, store, "--final", "--map", "subscription://me@host:bill ing=desk9:billing")
    assert received(db, "prices:desk9:billing") == ["text 3", "text 4", "text 5", "text 6"]
