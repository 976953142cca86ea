"""Whatever text somebody puts into rules, names, logs and objects stays text."""

from __future__ import annotations

import json

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb
from support import Connect, Db, column, identifier, one, refused

GARBAGE = [
    "queue",
    "=",
    "queue.q.produce.allow.user=",
    "queue.q.fly.allow.user=tom",
    "queue.>.>.produce.allow.user=tom",
    "connection.ROOT.allow.user=*",
    "queue.q.produce.allow.user=a\x01b",
    "select 1; drop table howdah.msgs;",
    "\\" * 999,
    "queue." + "x" * 300 + ".produce.allow.user=tom",
    "queue.q.produce.allow.user=tom\nqueue.q.produce.maybe.user=tom",
]


@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_is_no_set_of_rules_and_leaves_the_set_as_it_was(db: Db, text: str) -> None:
    before = one(db, "select howdah.export_rules()")
    with pytest.raises(psycopg.Error) as error:
        one(db, "select howdah.import_rules('default', %s)", (text,))
    assert error.value.sqlstate in ("HD003", "HD005")
    assert len(str(error.value)) < 2000
    assert one(db, "select howdah.export_rules()") == before


ODD = ["o'brien", 'dou"ble', "per%cent %s %L", "back\\slash", "a, b", "x'); drop table howdah.msgs; --", "#note", "ünï"]


@pytest.mark.parametrize("name", ODD)
def test_a_role_of_any_name_has_its_rights_and_no_more(db: Db, connect: Connect, name: str) -> None:
    if not one(db, "select rolsuper from pg_roles where rolname = current_user"):
        pytest.skip("only a superuser makes roles and becomes others")
    role = f"{name}{db.info.dbname[-8:]}"
    one(db, "select howdah.create_queue('q'), howdah.create_queue('other')")
    db.execute(sql.SQL("create role {0}; grant howdah_producer to {0}").format(identifier(role)))
    try:
        for queue in ("q", "other"):
            one(
                db,
                "select howdah.set_rule('default', 'queue', %s, 'produce', false, 'user', %s)",
                (queue, [role]),
            )
        one(db, "select howdah.set_rule('default', 'queue', 'q', 'produce', true, 'user', %s)", ([role],))
        one(db, "select howdah.drop_rule('default', 'queue', 'q', 'produce', false, 'user')")
        text = one(db, "select howdah.export_rules()")
        one(db, "select howdah.import_rules('copy', %s)", (text,))
        assert one(db, "select howdah.export_rules('copy')").split("\n")[1:] == text.split("\n")[1:]
        session = connect(role)
        one(session, "select howdah.send('q', 'x')")
        said = refused(session, "HD010", "select howdah.send('other', 'x')")
        assert "other" in str(said.message_primary)
    finally:
        db.execute(sql.SQL("drop owned by {0} cascade; drop role {0}").format(identifier(role)))


def test_a_reason_of_any_length_is_recorded_cut_and_as_it_is(db: Db) -> None:
    db.execute("select set_config('howdah.reason', %s, false)", ("'; drop table x; --\n\x1b[31m" + "y" * 5000,))
    one(db, "select howdah.create_queue('q')")
    (reason,) = column(db, "select reason from howdah.list_changes('queue', 'q')")
    assert len(reason) == 1000
    assert reason.startswith("'; drop table x; --\n\x1b[31m")


def test_a_line_in_the_log_names_who_wrote_it_whatever_it_says(db: Db, connect: Connect) -> None:
    session = connect("howdah_producer")
    forged = "fine\n2026-11-26T00:00:00Z error engine down\x1b[2J"
    one(
        session,
        "select howdah.log('INFO', %s, %s)",
        (forged, Jsonb({"actor": "howdah_owner", "code": "QUEUE_DISABLED"})),
    )
    rows = db.execute("select logged_event, text, actor from howdah.list_log(event => 'LOG')").fetchall()
    assert rows == [("LOG", forged, "howdah_producer")]


@pytest.mark.parametrize(
    "attributes",
    [
        {"password": "x"},
        {"PASSWORD": "x"},
        {"hosts": ["tom:secret@db1"]},
        {"dbname": "postgresql://tom:secret@db1/x"},
        {"dbname": "host=db1 password=secret"},
        {"description": "the password = secret"},
        {"dsn": "x"},
    ],
    ids=json.dumps,
)
def test_an_object_takes_no_secret(db: Db, attributes: dict[str, object]) -> None:
    with pytest.raises(psycopg.Error) as error:
        one(db, "select howdah.create_object('cf/x', 'connection_factory', %s)", (Jsonb(attributes),))
    assert error.value.sqlstate in ("HD004", "HD005")


@pytest.mark.slow
def test_a_set_of_thousands_of_rules_is_read(db: Db) -> None:
    text = "\n".join(f"queue.q{n}.produce.allow.user=tom" for n in range(2000))
    assert one(db, "select howdah.import_rules('many', %s)", (text,)) == 2002
