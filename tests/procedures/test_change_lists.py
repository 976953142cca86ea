"""The record of changes is read in the order of commits, by those who may see what it concerns."""

from __future__ import annotations

import pytest
from changes_support import changes
from support import Clock, Connect, Db, column, one, refused

READ = "select change_id, position from howdah.config_changes(%s)"


@pytest.mark.behaviour("IMQ-113")
def test_the_record_is_read_in_the_order_of_commits_and_an_open_transaction_is_not_passed_over(
    db: Db, connect: Connect
) -> None:
    one(db, "select howdah.create_queue('first')")
    ((_, position),) = db.execute(READ, (None,)).fetchall()
    late = connect()
    with late.transaction():
        one(late, "select howdah.create_queue('late')")  # the smaller number, committed last
        one(db, "select howdah.create_queue('early')")
        ((early, position),) = db.execute(READ, (position,)).fetchall()
        # It sees what the other committed, and changes it: that comes after.
        one(late, "select howdah.alter_queue('early', '{\"default_priority\": 7}')")
    rows = db.execute(READ, (position,)).fetchall()
    assert [row[0] for row in rows] == [early - 1, early + 1]
    assert db.execute(READ, (rows[-1][1],)).fetchall() == []
    # A page that ends in the middle goes on where it ended.
    assert db.execute(READ, (rows[0][1],)).fetchall()[0][0] == early + 1
    page = "select change_id, position from howdah.config_changes(%s, 1)"
    position, seen = None, []
    while found := db.execute(page, (position,)).fetchall():
        ((change, position),) = found
        seen.append(change)
    assert sorted(seen) == sorted(column(db, "select change_id from howdah.list_changes()"))


def test_a_position_in_another_record_or_before_what_retention_dropped_is_refused(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    position = one(db, "select position from howdah.config_changes()")
    one(db, "select howdah.create_queue('r')")
    clock.advance(91 * 86400)
    one(db, "select howdah.create_queue('s')")
    one(db, "select howdah.maintain_incidents()")
    assert changes(db) == [("created", "queue", "s")]
    refused(db, "HD036", READ, (position,))
    other = "00000000-0000-4000-8000-000000000000" + position[36:]
    refused(db, "HD037", READ, (other,))
    for wrong in ("", "x", "a/b/c/d", position + "/1", position.replace(":", "::", 1), position + "9" * 30):
        refused(db, "HD005", READ, (wrong,))


def test_who_is_no_administrator_reads_only_what_concerns_destinations_that_he_may_see(
    db: Db, connect: Connect
) -> None:
    for queue in ("open", "secret"):
        one(db, "select howdah.create_queue(%s)", (queue,))
        one(db, "select howdah.create_alias(%s, %s)", (f"alias_of_{queue}", queue))
        one(db, "select howdah.create_listener(%s, %s)", (f"of_{queue}", queue))
    for verb, role in (
        ("receive", "howdah_consumer"),
        ("browse", "howdah_consumer"),
        ("browse", "howdah_auditor"),
        ("browse", "howdah_browser"),
    ):
        one(db, "select howdah.revoke_queue('secret', %s, %s)", (verb, role))
    one(db, "select howdah.set_policy('x.>', '{}')")
    for role in ("howdah_consumer", "howdah_auditor"):
        reader = connect(role)
        for view in ("config_changes", "list_changes"):
            names = column(reader, f"select name from howdah.{view}()")
            rules = {name for name in names if name.startswith("default/queue.secret.")}
            assert set(names) - rules == {"open", "alias_of_open", "of_open", "x.>"}, (role, view)
            assert bool(rules) == (role == "howdah_auditor")
    assert len(changes(connect("howdah_admin"))) == 13
    refused(connect("howdah_producer"), "42501", "select howdah.config_changes()")
    refused(connect("howdah_consumer"), "42501", "select howdah.undo_change(1)")


def test_who_had_a_dropped_queue_reads_nothing_of_anothers_queue_of_that_name(db: Db, connect: Connect) -> None:
    reader = connect("howdah_consumer")
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.drop_queue('q')")
    assert len(changes(reader, "queue", "q")) == 2
    for operation in ("consume", "browse"):
        one(db, "select howdah.set_rule('default', 'queue', 'q', %s, false, 'user', '{*}')", (operation,))
    one(db, "select howdah.create_queue('q')")
    assert changes(reader, "queue", "q") == []
    assert column(reader, "select name from howdah.list_changes('queue', 'q')") == []
    assert len(changes(db, "queue", "q")) == 3


def test_acts_of_operators_and_changes_are_one_list(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    one(db, "select howdah.purge_queue('q')")
    one(db, "select howdah.pause_engine('night')")
    rows = db.execute(
        "select kind, act, change_id is null, after ->> 'messages', reason from howdah.list_changes()"
    ).fetchall()
    assert rows == [
        ("engine", "paused", True, None, "night"),
        ("messages", "purged", True, "1", "purged"),
        ("queue", "created", False, None, None),
    ]
    assert column(db, "select act_id from howdah.list_acts()") == column(
        db, "select act_id from howdah.list_changes() where act_id is not null"
    )
    assert column(db, "select kind from howdah.list_changes(of_kind => 'messages')") == ["messages"]


def test_the_pages_of_the_list_leave_nothing_out_though_a_transaction_has_one_time(db: Db) -> None:
    with db.transaction():
        for number in range(5):
            one(db, "select howdah.create_queue(%s)", (f"q{number}",))
            one(db, "select howdah.send(%s, 'x')", (f"q{number}",))
            one(db, "select howdah.purge_queue(%s)", (f"q{number}",))
    page = (
        "select at, change_id, act_id from howdah.list_changes(max_changes => 3, before_at => %s, before_change => %s"
    )
    page += ", before_act => %s)"
    whole = db.execute("select at, change_id, act_id from howdah.list_changes()").fetchall()
    found, last = [], (None, None, None)
    while rows := db.execute(page.encode(), last).fetchall():
        found += rows
        last = rows[-1]
    assert len(whole) >= 10
    assert found == whole


def test_who_moved_what_tells_nobody_of_a_queue_that_he_does_not_see(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('mine'), howdah.create_queue('hidden')")
    for verb, holder in db.execute("select verb, role from howdah.list_grants('hidden')").fetchall():
        if holder != "howdah_admin":
            one(db, "select howdah.revoke_queue('hidden', %s, %s)", (verb, holder))
    number = one(db, "select howdah.send('mine', 'x')")
    one(db, "select howdah.move_messages('mine', array[%s]::bigint[], 'hidden')", (number,))
    found = "select after from howdah.list_changes('messages')"
    assert one(db, found)["to"] == "hidden"
    assert one(connect("howdah_consumer"), found) == {"queue": "mine", "messages": 1}
