"""Administered objects from Python: factories and destinations that are looked up."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Db, one

from howdah.engine import AdministeredDestination, Connection, ConnectionFactory, Destination, lookup
from howdah.engine.errors import BadOption, IllegalState, NameNotFound, ReadOnlyObject


def store(db: Db, name: str, kind: str = "connection_factory", *, read_only: bool = False, **attributes: Any) -> None:
    one(db, "select howdah.create_object(%s, %s, %s, %s)", (name, kind, Jsonb(attributes), read_only))


def factory_of(db: Db, dsn: str, **attributes: Any) -> Any:
    store(db, "cf/orders", **attributes)
    return lookup(dsn, "cf/orders")


@pytest.mark.behaviour("IMQ-129")
def test_a_factory_that_was_looked_up_sends_and_receives(db: Db, dsn: str, orders: str) -> None:
    factory = factory_of(db, dsn, max_size=3)
    assert isinstance(factory, ConnectionFactory)
    with factory.create_connection() as connection:
        connection.send(orders, "x")
        connection.start()
        with connection.session() as session:
            assert [message.body for message in session.receive(orders)] == ["x"]
            session.commit()


@pytest.mark.behaviour("IMQ-130")
def test_there_are_factories_and_destinations_and_an_unknown_name_raises(
    db: Db, dsn: str, connection: Connection, orders: str
) -> None:
    store(db, "cf/orders")
    store(db, "q/orders", "queue", destination=orders, delivery_mode="non-persistent")
    store(db, "t/prices", "topic", destination="prices")
    assert isinstance(connection.lookup("cf/orders"), ConnectionFactory)
    queue = connection.lookup("q/orders")
    assert isinstance(queue, AdministeredDestination)
    assert isinstance(queue, Destination)
    assert (queue, queue.kind, queue.delivery_mode) == ("orders", "queue", "non-persistent")
    assert connection.lookup("t/prices").kind == "topic"
    connection.send(queue, "x")
    with connection.session() as session:
        assert session.receive(queue)[0].delivery_mode == "non-persistent"
    for find in (connection.lookup, lambda name: lookup(dsn, name)):
        with pytest.raises(NameNotFound, match="there is no object 'cf/others'"):
            find("cf/others")


@pytest.mark.behaviour("IMQ-139")
def test_a_read_only_object_takes_neither_attributes_nor_overrides(
    db: Db, dsn: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(db, "cf/fixed", read_only=True, priority=7)
    store(db, "cf/open", priority=7)
    monkeypatch.setenv("HOWDAH_OBJECT_PRIORITY", "3")
    fixed, free = (lookup(dsn, name, {"max_size": 2}) for name in ("cf/fixed", "cf/open"))
    assert fixed.attributes == connection.lookup("cf/fixed").attributes == {"priority": 7}
    assert connection.lookup("cf/open").attributes == {"priority": 3}
    with connection.session() as session:
        assert session.lookup("cf/open", {"priority": 2}).attributes == {"priority": 2}
    assert free.attributes == {"priority": 3, "max_size": 2}
    with pytest.raises(ReadOnlyObject):
        fixed.set("priority", 1)
    free.set("priority", 1)
    free.set("max_size", None)
    assert free.attributes == {"priority": 1}
    with pytest.raises(BadOption):
        free.set("priority", 11)
    assert free.attributes == {"priority": 1}
    assert lookup(dsn, "cf/open", {"priority": None}).attributes == {}


@pytest.mark.behaviour("IMQ-133")
def test_a_client_does_not_change_the_configured_client_id(db: Db, dsn: str) -> None:
    one(db, "select howdah.create_topic('prices')")
    with factory_of(db, dsn, client_id="desk7").create_connection() as connection:
        assert connection.client_id == "desk7"
        with connection.session() as session, pytest.raises(IllegalState):
            session.set_client_id("desk8")
        with connection.session() as session, pytest.raises(IllegalState):
            session.subscriber("prices", client_id="desk8")
        with connection.jms_session() as jms, pytest.raises(IllegalState):
            jms.subscriber("prices", client_id="desk8")
        with connection.session() as session:
            session.subscriber("prices", client_id="desk7")
