"""The facade of pgmq gives nobody more than Howdah's rights, and shows nobody what a redaction hides."""

from __future__ import annotations

import psycopg
import pytest
from pgmq_tasks import sent
from support import Connect, Db, one

from howdah.migrations import add_facade

pytestmark = pytest.mark.own_database


@pytest.fixture
def queue(dsn: str, db: Db) -> str:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks')")
    return "tasks"


def test_who_has_no_right_sends_reads_and_sees_nothing(db: Db, queue: str, connect: Connect) -> None:
    sent(db)
    producer, consumer, browser = (connect(f"howdah_{kind}") for kind in ("producer", "consumer", "browser"))
    producer.execute("select pgmq.send('tasks', '{}')")
    refused = (
        (producer, "select pgmq.read('tasks', 30, 1)"),
        (producer, "select * from pgmq.q_tasks"),
        (producer, "select pgmq.create('more')"),
        (consumer, "select pgmq.send('tasks', '{}')"),
        (consumer, "select pgmq.drop_queue('tasks')"),
        (consumer, "select pgmq._delete('tasks', '{1}')"),
        (browser, "delete from pgmq.q_tasks"),
    )
    for who, call in refused:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            who.execute(call.encode())
    assert one(browser, "select count(*) from pgmq.q_tasks") == 2
    assert one(consumer, "select pgmq.delete('tasks', 1)") is True
    db.execute("select howdah.revoke_queue('tasks', 'receive', 'howdah_consumer')")
    with pytest.raises(psycopg.Error) as error:
        consumer.execute("select pgmq.read('tasks', 30, 1)")
    assert error.value.sqlstate == "HD010"


def test_a_grant_of_a_view_is_not_enough(db: Db, queue: str, connect: Connect) -> None:
    db.execute("drop role if exists stranger; create role stranger; grant usage on schema pgmq to stranger")
    db.execute("grant select, delete on pgmq.q_tasks, pgmq.a_tasks to stranger")
    try:
        stranger = connect("stranger")
        for view in ("q_tasks", "a_tasks"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                stranger.execute(f"select * from pgmq.{view}".encode())
        stranger.close()
    finally:
        db.execute("drop owned by stranger; drop role stranger")


def test_the_views_hide_from_browsers_what_a_redaction_hides(db: Db, queue: str, connect: Connect) -> None:
    sent(db, 3)
    db.execute("select pgmq.archive('tasks', 1), pgmq.read('tasks', 30, 1)")
    browser, consumer, admin = connect("howdah_browser"), connect("howdah_consumer"), connect("howdah_admin")
    shown = "select count(message) from {}"
    views = {"pgmq.q_tasks": 2, "pgmq.a_tasks": 1}
    assert {view: one(browser, shown.format(view)) for view in views} == views
    one(admin, "select howdah.set_redaction('tasks', '$.n')")
    for view, number in views.items():
        assert one(browser, shown.format(view)) == 0, view
        assert one(browser, f"select count(*) from {view} where message::text ~ '[0-9]'") == 0, view
        assert one(browser, f"select count(*) from {view}") == number, "the rows stay"
        assert [one(who, shown.format(view)) for who in (consumer, admin)] == [number, number], view
    one(admin, "select howdah.drop_redaction('tasks', '$.n')")
    assert {view: one(browser, shown.format(view)) for view in views} == views
