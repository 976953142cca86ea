"""Runs of the archive are entered in order and under its lease, and the database knows what they hold."""

from typing import Any

from archive_run_support import FINISH, SNAPSHOT, arguments, begin, finish, lease
from psycopg import sql
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    fail,
    measured,
    one,
    refused,
)


def test_runs_are_entered_in_order_under_the_lease_and_by_administrators(
    db: Db, connect: Connect, clock: Clock
) -> None:
    epoch, archive = begin(db)
    assert one(db, "select howdah.begin_archive(%s)::text", [epoch]) == archive  # it has no run yet
    snapshot = one(db, SNAPSHOT)
    for run, of, at in ((2, archive, snapshot), (1, "00000000-0000-0000-0000-000000000000", snapshot)):
        refused(db, "HD005", FINISH, arguments(epoch, of, run, at))
    refused(db, "HD014", FINISH, arguments(epoch + 1, archive, 1, snapshot))
    finish(db, epoch, archive, 1)
    refused(db, "HD005", FINISH, arguments(epoch, archive, 1, one(db, SNAPSHOT)))
    refused(db, "HD005", FINISH, arguments(epoch, archive, 2, "3:3:"))  # older than the last
    refused(db, "HD005", "select howdah.begin_archive(%s)", [epoch])
    clock.advance(61)
    refused(db, "HD014", FINISH, arguments(epoch, archive, 2, one(db, SNAPSHOT)))
    finish(db, lease(db), archive, 2)
    other = one(db, "select howdah.begin_archive(%s, true)::text", [lease(db)])
    assert other != archive
    finish(db, lease(db), other, 1)
    assert db.execute(
        "select archive_id::text, run, current, same_cluster from howdah.list_archive_runs()"
    ).fetchall() == [
        (archive, 1, False, True),
        (archive, 2, False, True),
        (other, 1, True, True),
    ]
    for role in ("howdah_producer", "howdah_consumer", "howdah_browser", "howdah_auditor"):
        stranger = connect(role)
        refused(stranger, "42501", "select howdah.begin_archive(1)")
        refused(stranger, "42501", FINISH, arguments(epoch, archive, 2, snapshot))
        refused(stranger, "42501", "select howdah.check_archive_run(%s, 1)", [archive])
        refused(stranger, "42501", "select howdah.restore_message('q', %s, 1, 1, 'x'::bytea, true)", [archive])
    auditor = connect("howdah_auditor")
    assert one(auditor, "select count(*) from howdah.list_archive_runs()") == 3
    assert one(auditor, "select archive_id::text from howdah.archive_identity()") == other
    refused(auditor, "42501", "select * from howdah.archive_messages")


def test_the_option_is_off_and_takes_true_or_false_only(db: Db) -> None:
    assert one(db, "select howdah.engine_options() ->> 'archive'") == "false"
    for wrong in ("1", '"true"', "null"):
        refused(db, "HD004", "select howdah.alter_engine(%s)", [f'{{"archive": {wrong}}}'])
    one(db, 'select howdah.alter_engine(\'{"archive": true, "max_count": 7}\')')
    assert one(db, "select howdah.engine_options() ->> 'archive'") == "true"
    one(db, "select howdah.alter_engine('{\"archive\": false}')")
    assert one(db, "select howdah.engine_options() ->> 'archive'") == "false"


def test_what_is_archived_of_dead_messages_is_known_until_they_are_gone(db: Db) -> None:
    one(db, "select howdah.create_queue('q', '{\"max_failed_deliveries\": 1}')")
    first, second = (one(db, "select howdah.send('q', 'x')") for _ in range(2))
    for number in (first, second):
        assert fail(db, number)[2] == "moved"
    epoch, archive = begin(db)

    def fresh() -> list[Any]:
        keys = "select message_id, destination_id, origin_id, stage from howdah.archive_messages where not archived"
        return db.execute(keys.encode()).fetchall()

    finish(db, epoch, archive, 1, fresh())
    assert fresh() == []
    # Replayed and dead again it is another death.
    one(db, "select howdah.replay(%s, %s)", [SYSTEM, [first]])
    assert fail(db, first)[2] == "moved"
    assert [(key[0], key[3]) for key in fresh()] == [(first, 3)]
    one(db, "select howdah.discard(%s, %s, 'test')", [SYSTEM, [second]])
    finish(db, epoch, archive, 2, fresh())
    assert column(db, "select message_id from howdah.archived_messages") == [first]


def test_whether_a_large_partition_has_rows_beyond_the_archive_is_told_by_few_of_its_pages(db: Db) -> None:
    db.execute(
        "insert into howdah.journal (at, xid, destination_id, event, message_ids)"
        " select howdah.now(), 3 + i / 1000, 1, 'sent', '{1}' from generate_series(1, 200000) i"
    )
    week = one(db, "select tableoid::regclass::text from howdah.journal limit 1")
    db.execute(sql.SQL("vacuum {}").format(sql.Identifier(*week.split("."))))
    reads = measured(db, "select howdah._has_invisible_rows(%s, pg_current_snapshot())", [week])["Buffers"]
    assert reads < one(db, "select pg_relation_size(%s::regclass) / 8192", [week]) / 4
