"""A message is restored from the archive once, and not while it is there."""

import threading

from archive_run_support import begin, finish
from psycopg.types.json import Jsonb
from support import (
    SYSTEM,
    Clock,
    Connect,
    Db,
    fail,
    one,
    receive,
    refused,
    wait_until,
    wait_until_blocked,
)

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
