"""Administered objects: what administrators define for clients to look up by name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, column, one, refused


def create(db: Db, name: str, kind: str = "connection_factory", *, read_only: bool = False, **attributes: Any) -> None:
    one(db, "select howdah.create_object(%s, %s, %s, %s)", (name, kind, Jsonb(attributes), read_only))


def attributes(db: Db, name: str, **overrides: Any) -> Any:
    return one(db, "select attributes from howdah.lookup(%s, %s)", (name, Jsonb(overrides)))


def acts(db: Db) -> list[str]:
    return column(db, "select act || ' ' || name from howdah.config_changes where kind = 'object' order by change_id")


def test_an_object_is_created_looked_up_altered_and_dropped(db: Db) -> None:
    create(db, "cf/orders", hosts=["db1", "db2:5433"], client_id="desk7")
    assert attributes(db, "cf/orders") == {"hosts": ["db1", "db2:5433"], "client_id": "desk7"}
    one(db, "select howdah.alter_object('cf/orders', '{\"priority\": 7, \"client_id\": null}')")
    assert attributes(db, "cf/orders") == {"hosts": ["db1", "db2:5433"], "priority": 7}
    assert one(db, "select howdah.drop_object('cf/orders')") is True
    assert one(db, "select howdah.drop_object('cf/orders')") is False
    refused(db, "HD047", "select howdah.lookup('cf/orders')")
    refused(db, "HD047", "select howdah.alter_object('cf/orders')")


def test_every_role_of_howdah_looks_up_and_administrators_alone_change(db: Db, connect: Connect) -> None:
    create(db, "cf/orders")
    for role in ("producer", "consumer", "browser", "auditor"):
        client = connect(f"howdah_{role}")
        assert attributes(client, "cf/orders") == {}
        assert column(client, "select name from howdah.list_objects('cf/*')") == ["cf/orders"]
        refused(client, "42501", "select howdah.create_object('x', 'queue', '{}')")
        refused(client, "42501", "select howdah.alter_object('cf/orders', '{}')")
        refused(client, "42501", "select howdah.drop_object('cf/orders')")
        refused(client, "42501", "select howdah.import_objects('[]')")
        refused(client, "42501", "select * from howdah.objects")


@pytest.mark.parametrize(
    ("kind", "given", "code"),
    [
        ("queue", {}, "HD005"),
        ("queue", {"destination": ""}, "HD004"),
        ("queue", {"destination": "q", "hosts": ["a"]}, "HD004"),
        ("table", {}, "HD005"),
        ("connection_factory", {"hosts": "db1"}, "HD004"),
        ("connection_factory", {"hosts": []}, "HD004"),
        ("connection_factory", {"hosts": ["a b"]}, "HD004"),
        ("connection_factory", {"hosts": ["user:secret@db1"]}, "HD004"),
        ("connection_factory", {"priority": 10}, "HD004"),
        ("connection_factory", {"priority": 1.5}, "HD004"),
        ("connection_factory", {"priority": "7"}, "HD004"),
        ("connection_factory", {"predefined_only": "yes"}, "HD004"),
        ("connection_factory", {"sslmode": "off"}, "HD004"),
        ("connection_factory", {"service": "../etc"}, "HD004"),
        ("connection_factory", {"nonsense": 1}, "HD004"),
        ("connection_factory", {"members": ["a"]}, "HD004"),
        ("connection_factory", {"service": "vienna", "hosts": ["db1"]}, "HD005"),
        ("connection_factory", {"min_size": 10}, "HD005"),
        ("connection_factory", [], "HD004"),
        ("xa_connection_factory", {}, "HD005"),
        ("xa_connection_factory", {"members": ["a b"]}, "HD004"),
    ],
)
def test_what_an_object_cannot_be_is_refused_when_it_is_stored(db: Db, kind: str, given: Any, code: str) -> None:
    said = refused(db, code, "select howdah.create_object('x', %s, %s)", (kind, Jsonb(given)))
    assert said.message_hint
    create(db, "cf/orders")
    if kind == "connection_factory":
        refused(db, code, "select howdah.alter_object('cf/orders', %s)", (Jsonb(given),))
        refused(db, code, "select howdah.lookup('cf/orders', %s)", (Jsonb(given),))


@pytest.mark.parametrize(
    "given",
    [
        {"password": "x"},
        {"sslpassword": "x"},
        {"description": "host=db1 password=x"},
        {"description": "postgresql://joe:x@db1/db"},
        {"dbname": "postgresql://joe:x@db1/db"},
        {"dbname": "host=db1 password = x"},
    ],
)
def test_an_object_never_holds_a_password(db: Db, given: Any) -> None:
    said = refused(db, "HD005", "select howdah.create_object('x', 'connection_factory', %s)", (Jsonb(given),))
    assert "password" in str(said.message_primary)


def test_a_name_is_taken_once_and_has_a_form(db: Db) -> None:
    create(db, "cf/orders")
    refused(db, "HD002", "select howdah.create_object('cf/orders', 'connection_factory', '{}')")
    for name in ("", "a b", "/cf", "ä", None, "x" * 243):
        refused(db, "HD003", "select howdah.create_object(%s, 'connection_factory', '{}')", (name,))


@pytest.mark.behaviour("IMQ-139")
def test_nobody_sets_attributes_of_a_read_only_object_and_overrides_are_ignored(db: Db) -> None:
    create(db, "cf/orders", read_only=True, priority=7)
    refused(db, "HD048", "select howdah.alter_object('cf/orders', '{\"priority\": 1}')")
    assert attributes(db, "cf/orders", priority=1, nonsense=True) == {"priority": 7}
    one(db, "select howdah.alter_object('cf/orders', '{\"priority\": 1}', read_only => false)")
    assert attributes(db, "cf/orders", priority=2, client_id="x") == {"priority": 2, "client_id": "x"}
    assert attributes(db, "cf/orders", priority=None) == {}


def test_each_change_is_on_record(db: Db) -> None:
    create(db, "cf/orders", priority=7)
    one(db, "select howdah.alter_object('cf/orders', '{\"priority\": 7}')")  # which changes nothing
    one(db, "select howdah.alter_object('cf/orders', '{\"priority\": 8}')")
    one(db, "select howdah.drop_object('cf/orders')")
    assert acts(db) == ["created cf/orders", "altered cf/orders", "dropped cf/orders"]
    before, after = db.execute("select before, after from howdah.config_changes where act = 'altered'").fetchall()[0]
    assert (before["attributes"], after["attributes"]) == ({"priority": 7}, {"priority": 8})


def test_objects_go_into_a_repository_and_come_back(db: Db) -> None:
    create(db, "cf/orders", priority=7)
    create(db, "q/orders", "queue", destination="orders", read_only=True)
    document = one(db, "select howdah.export_objects()")
    assert [sorted(entry) for entry in document] == [["attributes", "kind", "name", "read_only"]] * 2
    assert one(db, "select howdah.import_objects(%s)", (Jsonb(document),)) == 0
    one(db, "select howdah.drop_object('cf/orders')")
    document[1]["attributes"]["destination"] = "invoices"
    refused(db, "HD002", "select howdah.import_objects(%s)", (Jsonb(document),))
    assert column(db, "select name from howdah.list_objects()") == ["q/orders"]  # all or none
    assert one(db, "select howdah.import_objects(%s, true)", (Jsonb(document),)) == 2
    assert one(db, "select howdah.export_objects()") == document
    refused(db, "HD005", "select howdah.import_objects('{}')")
    refused(db, "HD005", "select howdah.import_objects('[1]')")
    refused(db, "HD005", "select howdah.import_objects(%s)", (json.dumps([{"name": "x", "color": "red"}]),))
    assert one(db, "select count(*) from howdah.config_changes where kind = 'object'") == 5


def test_headers_are_stamped_by_the_engine(db: Db, connect: Connect) -> None:
    producer = connect("howdah_producer")
    producer.execute("set application_name = 'shop'")
    stamped = 'howdah.stamp_headers(\'{"a": 1, "JMSXUserID": "root"}\', user_id => true, app_id => true)'
    assert one(producer, f"select {stamped}") == {"a": 1, "JMSXUserID": "howdah_producer", "JMSXAppID": "shop"}
    with producer.transaction():
        number = one(producer, "select pg_current_xact_id()::text")
        got = one(producer, "select howdah.stamp_all_headers(array[null, '{}']::jsonb[], producer_txid => true)")
    assert got == [{"JMSXProducerTXID": number}] * 2


def test_a_decision_about_a_distributed_transaction_stands(db: Db) -> None:
    name = one(db, "select howdah.xa_begin('xa/shop')")
    assert column(db, "select outcome from howdah.list_xa_transactions('xa/shop')") == [None]
    refused(db, "HD005", "select howdah.xa_forget(%s)", (name,))
    assert one(db, "select howdah.xa_decide(%s, 'commit')", (name,)) == "commit"
    assert one(db, "select howdah.xa_decide(%s, 'rollback')", (name,)) == "commit"
    assert one(db, "select howdah.xa_forget(%s)", (name,)) is True
    assert one(db, "select howdah.xa_forget(%s)", (name,)) is False
    assert one(db, "select howdah.xa_decide(%s, 'commit')", (name,)) == "rollback"  # a latecomer cannot commit
    refused(db, "HD005", "select howdah.xa_decide('howdah:xa:x', 'commit')")
    refused(db, "HD005", "select howdah.xa_decide(%s, 'perhaps')", (name,))
    refused(db, "HD003", "select howdah.xa_begin('a b')")


def test_another_role_neither_decides_nor_forgets(db: Db, connect: Connect) -> None:
    name = one(connect("howdah_producer"), "select howdah.xa_begin('xa/shop')")
    other = connect("howdah_consumer")
    refused(other, "HD010", "select howdah.xa_decide(%s, 'rollback')", (name,))
    assert one(db, "select howdah.xa_decide(%s, 'commit')", (name,)) == "commit"
    refused(other, "HD010", "select howdah.xa_forget(%s)", (name,))
    assert column(other, "select mine from howdah.list_xa_transactions()") == [False]
