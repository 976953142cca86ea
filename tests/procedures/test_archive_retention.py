"""Retention keeps what is not archived, waits for whoever reads, and says so."""

import psycopg
import pytest
from archive_run_support import FINISH, SNAPSHOT, arguments, begin, finish, lease
from support import (
    Clock,
    Connect,
    Db,
    column,
    fail,
    one,
    receive,
    refused,
)

OLD = 100 * 86400


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
