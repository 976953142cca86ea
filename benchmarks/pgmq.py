"""pgmq by SQL alone, read and delete of so many in one transaction, wherever its functions are."""

from __future__ import annotations

import json

from .bench import BODY, Bench, opened, settle

WHO = "pgmq"
QUEUE = "howdah_bench"
INSTALLED = (
    "select count(*) > 0 from pg_namespace n join pg_proc p on pronamespace = n.oid where nspname = 'pgmq'"
    " and proname = 'read' and coalesce(obj_description(n.oid, 'pg_namespace'), '') not like 'Facade of Howdah%'"
)


def measure(bench: Bench, dsn: str, row: str, takes: int) -> None:
    """One repetition beside ours, in a queue made for it and dropped; nothing where pgmq is not installed."""
    each = max(bench.size.messages * 10 // takes, bench.size.each)
    statement = (
        f"select count(*) from pgmq.delete('{QUEUE}', array(select msg_id from pgmq.read('{QUEUE}', 60, {takes})));"
    )
    with opened(dsn) as connection:
        if connection.execute(INSTALLED).fetchone() != (True,):
            return
        connection.execute("select pgmq.create(%s)", (QUEUE,))
        try:
            connection.execute(
                "select count(*) from (select array_agg(%s::jsonb) as b from generate_series(1, %s) g"
                " group by g / 10000) x, lateral pgmq.send_batch(%s, b)",
                (json.dumps(BODY), (bench.called(each) + 1) * takes, QUEUE),
            )
            settle(connection, f"pgmq.q_{QUEUE}")
            ran = bench.pgbench(dsn, statement, 1, each)
        finally:
            connection.execute("select pgmq.drop_queue(%s)", (QUEUE,))
    ran.note(bench.record, row, "1 connection", WHO, takes)
