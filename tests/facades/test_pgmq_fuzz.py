"""Hostile arguments for every function of the facade: only documented errors, and nobody's lists are spoiled."""

from __future__ import annotations

import re

import fuzz
import psycopg
import pytest
from support import Connect, Db, column

from howdah.migrations import add_facade
from howdah.procedures import facade_files

pytestmark = pytest.mark.own_database

HOSTILE: dict[str, tuple[str | None, ...]] = {
    "text": (None, "", " ", "nobody", "TASKS", "bad;name", "'; drop schema pgmq cascade; --", "x" * 48, "x" * 1_000_000,
             "_SYSTEM.x", "_TEMP.1", "*", "a.#", "a..b", "\u202e", "\U0001f600" * 12, "orders", "news", "%s%%n"),
    "integer": (None, "0", "-1", "1", "2147483647", "-2147483648"),
    "bigint": (None, "0", "-1", "1", "9223372036854775807", "-9223372036854775808"),
    "bigint[]": (None, "{}", "{NULL}", "{1,1}", "{{1,2},{3,4}}", "{9223372036854775807,-9223372036854775808}"),
    "jsonb": (None, "null", "7", "[1]", '""', "[" * 3000 + "]" * 3000, '{"x-pgmq-group": 1, "JMSXGroupID": [1]}',
              '{"AMQ_SCHEDULED_DELAY": "x", "JMSXGroupSeq": 1e400}', '"' + "x" * 1_000_000 + '"'),
    "jsonb[]": (None, "{}", "{NULL}", '{"7","[1]"}', '{{"1","2"},{"3","4"}}'),
    "timestamp with time zone": (None, "infinity", "-infinity", "4713-01-01 BC", "294276-12-31", "2030-01-01"),
    "boolean": (None, "t", "f"),
}  # fmt: skip
SOUND = {
    "text": "tasks", "integer": "1", "bigint": "1", "bigint[]": "{1,2}", "jsonb": '{"n": 1}', "jsonb[]": '{"1"}',
    "timestamp with time zone": "2026-01-01", "boolean": "t",
}  # fmt: skip
ROUTED = {"pattern": "a.*", "routing_key": "a.b", "prefix": "q", "partition_interval": "1 day",
          "retention_interval": "7 days", "max_poll_seconds": "0"}  # fmt: skip


def documented() -> set[str | None]:
    """All SQLSTATEs that headers of the facade name under Raises, and Howdah's own."""
    raised = re.findall(r"^-- Raises (.*?)^-- Role", "\n".join(facade_files("pgmq")), re.MULTILINE | re.DOTALL)
    named = {str(code) for one in raised for code in re.findall(r"\b[0-9A-Z]{5}\b", one)}
    return {*named, *fuzz.ALLOWED, *fuzz.OURS}


@pytest.mark.slow
def test_hostile_arguments_meet_documented_errors_and_spoil_no_list(dsn: str, db: Db, connect: Connect) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select howdah.create_queue('orders', '{\"message_groups\": \"sticky\"}'), howdah.create_topic('news')")
    functions = db.execute(
        "select p.proname::text, p.proargnames[1:p.pronargs], array(select format_type(u.t, null)"
        " from unnest(p.proargtypes::oid[]) with ordinality u(t, o) order by u.o) from pg_proc p"
        " where p.pronamespace = 'pgmq'::regnamespace and p.proname !~ '^_' and p.prorettype <> 'trigger'::regtype"
        " order by p.oid::regprocedure::text"
    ).fetchall()
    assert len(functions) == 66
    caller = connect("howdah_admin")
    caller.execute("set statement_timeout = '150ms'")
    wrong: dict[tuple[str, str | None], str] = {}
    made, allowed = 0, documented()
    for name, names, kinds in functions:
        db.execute("select pgmq.create('tasks'), pgmq.send('tasks', '{}')")
        for hostile, kind in zip(names or (), kinds, strict=True):
            for value in HOSTILE[kind]:
                given = {one: ROUTED.get(one, SOUND[of]) for one, of in zip(names, kinds, strict=True)} | {
                    hostile: value
                }
                shown = ", ".join(f'"{one}" => %s::{of}' for one, of in zip(names, kinds, strict=True))
                made += 1
                try:
                    caller.execute(f"select count(*) from pgmq.{name}({shown})".encode(), list(given.values()))
                except psycopg.Error as error:
                    if error.sqlstate not in allowed:
                        wrong.setdefault((name, error.sqlstate), f"{given!r:.300} {error!s:.300}")
    print(made, wrong)
    assert wrong == {}
    assert made > 800
    assert fuzz.unreadable(db) == []
    for (view,) in db.execute(
        "select relname from pg_class where relnamespace = 'pgmq'::regnamespace and relkind = 'v'"
    ):
        column(db, f'select count(*) from pgmq."{view}"')


def test_a_vt_without_end_is_a_time_that_clients_can_read(dsn: str, db: Db) -> None:
    add_facade(dsn, "pgmq")
    db.execute("select pgmq.create('tasks'), pgmq.send('tasks', '{}')")
    for vt, shown in (("infinity", 9999), ("-infinity", 1970)):
        years = "select extract(year from vt at time zone 'UTC')::int from pgmq.set_vt('tasks', 1, %s::timestamptz)"
        assert column(db, years, [vt]) == [shown]
    assert column(db, "select msg_id from pgmq.read('tasks', 30, 1)") == [1]
