"""howdah import activemq keeps brokers and other passes out, and needs no more rights than it uses."""

from __future__ import annotations

import json
from collections.abc import Callable

import psycopg
import pytest
from activemq_broker import restore
from activemq_support import change, refused, run
from command import howdah
from psycopg.conninfo import make_conninfo
from support import Connect, Db, one

from howdah.cli.importing.source import Store
from howdah.engine.errors import HowdahError


@pytest.fixture
def store(new_database: Callable[[], str]) -> str:
    """A recorded store in a database of its own."""
    dsn = new_database()
    restore(dsn)
    return dsn


def test_only_the_final_pass_keeps_a_broker_out(dsn: str, store: str) -> None:
    """A master that waits for the lock may have it while a copy is made."""
    there = Store(store)
    with psycopg.connect(store) as broker:
        lock = "select id from activemq_lock for update nowait"
        assert one(broker, lock) == 1
        run(dsn, store)
        with pytest.raises(HowdahError, match="a broker has the store"):
            there.keep_brokers_out()
        broker.rollback()
        there.keep_brokers_out()
        with pytest.raises(psycopg.errors.LockNotAvailable):
            broker.execute(lock)
    there.close()


@pytest.mark.slow
def test_one_pass_at_a_time_reads_a_store(dsn: str, db: Db, store: str) -> None:
    """A pass with an older snapshot would take back what a later one brought."""
    other = Store(store)
    other.keep_others_out()
    assert "another pass copies from this store" in refused(dsn, store).err
    run(dsn, store, "--dry-run")
    other.close()
    run(dsn, store)


def test_a_lease_in_the_table_of_locks_is_a_running_broker(dsn: str, store: str) -> None:
    lease = "update activemq_lock set broker_name = 'b', time = extract(epoch from now()) * 1000"
    change(store, lease + " + 60000")
    assert "a broker has the store" in refused(dsn, store, "--final").err
    change(store, lease + " - 60000")
    run(dsn, store, "--final")


def test_only_an_administrator_imports(dsn: str, db: Db, store: str, connect: Connect) -> None:
    producer = connect("howdah_producer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        producer.execute("select howdah.begin_import('x')")
    assert howdah(dsn, "import", "activemq", "--from", store, "--role", "howdah_producer").code == 1


def test_a_dsn_of_a_store_that_cannot_be_read_is_named_and_not_shown(dsn: str) -> None:
    ran = howdah(dsn, "import", "activemq", "--from", "postgresql://ann:s3cret/x@host/store")
    assert ran.code == 3
    assert "--from: the DSN cannot be read" in ran.err
    assert "s3cret" not in ran.err


def test_two_passes_at_once_store_each_message_once(dsn: str, connect: Connect, db: Db) -> None:
    """The second one waits for the first, and then knows what it stored."""
    db.execute("select howdah.create_queue('q'), howdah.begin_import('s')")
    message = json.dumps([{"key": "k", "message_id": 1, "text": "x", "content_type": "text/plain"}] * 2)
    come = "select array[stored, repeated] from howdah.import_messages('s', 'q', %s)"
    first, second = connect(), connect()
    first.execute("begin")
    assert one(first, come, (message,)) == [1, 1]
    second.execute("set lock_timeout = '50ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable):
        one(second, come, (message,))
    first.execute("commit")
    assert one(second, come, (message,)) == [0, 2]


@pytest.mark.slow
def test_a_role_that_may_only_read_makes_all_passes_but_the_final_one(dsn: str, db: Db, store: str) -> None:
    reader = make_conninfo(store, user="howdah_reads", password="secret")
    with psycopg.connect(store) as owner:
        owner.execute("drop role if exists howdah_reads")
        owner.execute("create role howdah_reads login password 'secret'")
    try:
        assert "role howdah_reads may not read table ACTIVEMQ_MSGS" in refused(dsn, reader).err
        change(store, "grant select on activemq_msgs, activemq_acks to howdah_reads")
        run(dsn, reader, "--dry-run")
        run(dsn, reader)
        change(store, "grant select on activemq_lock to howdah_reads")
        assert "Grant UPDATE" in refused(dsn, reader, "--final").err
        change(store, "grant update on activemq_lock to howdah_reads")
        run(dsn, reader, "--final")
    finally:
        change(store, "drop owned by howdah_reads")
        change(store, "drop role howdah_reads")
