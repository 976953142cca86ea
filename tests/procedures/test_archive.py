"""What the database knows of the archive.

Runs in order and under the lease, retention that waits for them, restored messages.
"""

import threading
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    column,
    fail,
    measured,
    one,
    receive,
    refused,
    wait_until,
    wait_until_blocked,
)

SNAPSHOT = "select pg_current_snapshot()::text"
FINISH = "select howdah.finish_archive_run(%s, %s, %s, %s, %s, %s, %s, %s, %s)"
FACTS = {
    "journal": {"rows": 1, "checksum": "123456789012345678901234567890"},
    "incidents": {"rows": 0, "checksum": "0"},
    "messages": {"rows": 0, "checksum": "0"},
    "journal_kept_from": None,
    "manifest": "abc",
    "path": "/archive",
    "started_at": "2026-01-01T00:00:00+00:00",
}
OLD = 100 * 86400


def lease(db: Db) -> int:
    epoch: int = one(db, "select howdah.acquire_lock('archive', 'test', 60)")
    return epoch


def begin(db: Db) -> tuple[int, str]:
    """The lease's epoch, and a new archive's identity."""
    epoch = lease(db)
    return epoch, one(db, "select howdah.begin_archive(%s)::text", [epoch])


def arguments(epoch: int, archive: str, run: int, snapshot: str, messages: Any = ()) -> list[Any]:
    return [
        epoch,
        archive,
        run,
        snapshot,
        Jsonb(FACTS),
        *([list(part) for part in zip(*messages, strict=True)] or [[]] * 4),
    ]


def finish(db: Db, epoch: int, archive: str, run: int, messages: Any = ()) -> None:
    """Enter a run that has all that is there now."""
    one(db, FINISH, arguments(epoch, archive, run, one(db, SNAPSHOT), messages))


def some_traffic(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    assert [m.body for m in receive(db)] == ["x"]
    gone = one(db, "select howdah.send('q', 'y')")
    fail(db, gone)
    assert [m.body for m in receive(db)] == ["y"]


def maintained(db: Db) -> list[str]:
    """What a pass over journal and incidents says."""
    said: list[str] = []
    handler = lambda notice: said.append(str(notice.message_primary))
    db.add_notice_handler(handler)
    one(db, "select howdah.maintain_journal()")
    one(db, "select howdah.maintain_incidents()")
    db.remove_notice_handler(handler)
    return said


def left(db: Db) -> tuple[int, int]:
    """Rows of the journal, and incidents."""
    return one(db, "select count(*) from howdah.journal"), one(db, "select count(*) from howdah.poison_details")


def warned(db: Db) -> set[str]:
    return set(column(db, "select setting from howdah.check_server() where setting like 'maintenance%'"))


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


def test_without_the_option_retention_does_not_ask_for_an_archive(db: Db, clock: Clock) -> None:
    some_traffic(db)
    clock.advance(OLD)
    assert maintained(db) == []
    assert left(db) == (0, 0)


def test_retention_keeps_what_is_not_archived_and_says_so_until_it_is(db: Db, clock: Clock, connect: Connect) -> None:
    one(db, "select howdah.alter_engine('{\"archive\": true}')")
    some_traffic(db)
    late = connect()
    with late.transaction():
        one(late, "select howdah.send('q', 'late')")
        assert [m.body for m in receive(late)] == ["late"]
        epoch, archive = begin(db)
        finish(db, epoch, archive, 1)
    clock.advance(OLD)
    said = maintained(db)
    assert ["howdah archive run" in notice for notice in said] == [True]
    assert left(db) == (3, 0)  # the incident is archived, and gone
    assert warned(db) == {"maintenance journal"}
    finish(db, lease(db), archive, 2)
    assert maintained(db) == []
    assert left(db) == (0, 0)
    assert warned(db) == set()


@pytest.mark.slow
def test_a_damaged_run_stops_retention_until_it_is_sound_again(db: Db, clock: Clock) -> None:
    one(db, "select howdah.alter_engine('{\"archive\": true}')")
    some_traffic(db)
    epoch, archive = begin(db)
    finish(db, epoch, archive, 1)
    one(db, "select howdah.check_archive_run(%s, 1, 'part-0 is gone')", [archive])
    refused(db, "HD005", "select howdah.check_archive_run(%s, 2)", [archive])
    clock.advance(OLD)
    assert all("run 1 of the archive is damaged" in notice for notice in maintained(db))
    assert left(db) == (2, 1)
    assert warned(db) == {"maintenance journal", "maintenance incidents"}
    # What is not due any more is not waited for.
    one(db, """select howdah.alter_engine('{"journal_retention_days": 1000, "incident_retention_days": 1000}')""")
    maintained(db)
    assert warned(db) == set()
    one(db, """select howdah.alter_engine('{"journal_retention_days": 90, "incident_retention_days": 90}')""")
    one(db, "select howdah.check_archive_run(%s, 1)", [archive])
    maintained(db)
    assert left(db) == (0, 0)


@pytest.mark.slow
def test_after_a_restore_into_another_cluster_nothing_counts_as_archived_until_another_archive_is_begun(
    db: Db, clock: Clock
) -> None:
    one(db, "select howdah.alter_engine('{\"archive\": true}')")
    some_traffic(db)
    epoch, archive = begin(db)
    finish(db, epoch, archive, 1)
    db.execute("update howdah.archive_runs set system_identifier = system_identifier + 1")
    db.execute("update howdah.journal set xid = xid + 1000000000000")  # that cluster was older
    clock.advance(OLD)
    assert maintained(db)
    assert left(db)[0] == 2
    refused(db, "HD005", FINISH, arguments(lease(db), archive, 2, one(db, SNAPSHOT)))
    other = one(db, "select howdah.begin_archive(%s, true)::text", [lease(db)])
    assert one(
        db, "select bool_and(pg_visible_in_snapshot(xid::text::xid8, pg_current_snapshot())) from howdah.journal"
    )
    finish(db, lease(db), other, 1)
    assert maintained(db) == []
    assert left(db) == (0, 0)


@pytest.mark.slow
def test_rotation_and_retention_wait_for_whoever_reads_and_say_who_it_is(db: Db, dsn: str, clock: Clock) -> None:
    some_traffic(db)
    one(db, "select howdah.create_topic('t')")
    db.execute("select howdah.subscribe('t', 'a')")
    one(db, "select howdah.send('t', 'x')")
    assert [m.body for m in receive(db, "t::a")] == ["x"]
    some = left(db)[0]
    clock.advance(OLD)
    with psycopg.connect(dsn, application_name="howdah audit") as reader:
        reader.execute(
            "lock table howdah.audit_journal, howdah.audit_messages, howdah.topic_msgs_0 in access share mode"
        )
        said: list[str] = []
        db.add_notice_handler(lambda notice: said.append(str(notice.message_primary)))
        one(db, "select howdah.maintain_journal()")
        for _ in range(2):
            one(db, "select howdah.maintain_topics()")
        who = f"howdah audit (process {reader.info.backend_pid})"
        assert {notice.split(" ")[0] for notice in said} == {"journal_default", "topic_msgs_0"}
        assert all(who in notice for notice in said), said
        rows = db.execute(
            "select setting, danger, advice from howdah.check_server() where setting ^@ 'maintenance'"
        ).fetchall()
        assert {row[:2] for row in rows} == {("maintenance journal", "stall"), ("maintenance topics", "stall")}
        assert all(who in row[2] for row in rows)
        assert left(db)[0] == some
    one(db, "select howdah.maintain_journal()")
    one(db, "select howdah.maintain_topics()")
    assert left(db)[0] == 0
    assert warned(db) == set()


RESTORE = "select howdah.restore_message(%s, %s, %s, %s, %s, %s, %s)"


def test_a_message_is_restored_once_and_not_while_it_is_there(db: Db, clock: Clock) -> None:
    one(db, 'select howdah.create_queue(\'q\', \'{"max_failed_deliveries": 1, "last_value_key": "a"}\')')
    number = one(db, "select howdah.send('q', 'x', priority => 7)")
    assert fail(db, number)[2] == "moved"
    epoch, archive = begin(db)
    finish(db, epoch, archive, 1, [(number, 1, 2, 1)])
    properties = Jsonb({"content_type": "text/plain", "headers": {"a": 1}, "priority": 7, "correlation_id": "c"})
    copy = ["q", archive, 1, number, b"x", True, properties]
    refused(db, "HD005", RESTORE, copy)  # it is still dead in its queue
    assert one(db, "select howdah.discard(%s, %s, 'test')", [SYSTEM, [number]]) == 1
    for wrong in ([*copy[:2], 2, *copy[3:]], [*copy[:4], None, *copy[5:]], [*copy[:6], Jsonb([])]):
        refused(db, "HD005", RESTORE, wrong)
    refused(db, "HD001", RESTORE, ["nowhere", *copy[1:]])
    new = one(db, RESTORE, copy)
    refused(db, "HD005", RESTORE, copy)
    assert one(db, "select howdah.restore_message(%s, %s, %s, %s, %s, %s, %s, true)", copy) not in (new, number)
    (message, again) = receive(db, "q", 2)  # of one key, and what is restored replaces nothing
    assert (message.message_id, message.body, message.priority, message.correlation_id) == (new, "x", 7, "c")
    assert message.headers == {"a": 1, "howdah_restored_from": number, "howdah_archive_run": f"{archive}/1"}
    assert again.headers == message.headers
    assert db.execute(
        "select restored_id, message_id, queue, restored_by from howdah.archive_restores order by restored_id limit 1"
    ).fetchone() == (new, number, "q", db.info.user)


def test_of_two_who_restore_a_message_at_once_the_second_waits_and_is_told(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    epoch, archive = begin(db)
    finish(db, epoch, archive, 1)
    copy = ["q", archive, 1, 77, b"x", True, Jsonb({})]
    other, told = connect(), []
    with db.transaction():
        one(db, RESTORE, copy)
        thread = threading.Thread(target=lambda: told.append(refused(other, "HD005", RESTORE, copy).message_primary))
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert "was restored before" in str(told[0])
    assert [message.body for message in receive(db, "q", 9)] == ["x"]


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


def test_what_is_restored_does_not_go_with_the_session_that_restores_it(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q', '{\"discard_with_sender\": true}')")
    epoch, archive = begin(db)
    finish(db, epoch, archive, 1, [(1, 1, 2, 1)])
    client = connect()
    one(client, RESTORE, ["q", archive, 1, 1, b"x", True, Jsonb({"reliability": "EXPRESS_NONPERSISTENT"})])
    pid = client.info.backend_pid
    one(db, "select pg_terminate_backend(%s)", (pid,))
    wait_until(lambda: one(db, "select count(*) from pg_stat_activity where pid = %s", (pid,)) == 0)
    assert [m.body for m in receive(db)] == ["x"]
