"""A change is taken back, unless that would lose something or was changed since."""

from __future__ import annotations

import pytest
from changes_support import ACTS, last
from support import Connect, Db, column, one, refused


def undo(db: Db, change: int | None = None, *, again: bool = False) -> int | None:
    undone: int | None = one(db, "select howdah.undo_change(%s, %s)", (last(db) if change is None else change, again))
    return undone


def exists(db: Db, queue: str) -> bool:
    return queue in column(db, "select queue from howdah.list_queues()")


@pytest.mark.parametrize("kind", [kind for kind in ACTS if kind not in ("schedule", "link", "metrics")])
def test_undoing_from_the_last_change_to_the_first_leaves_nothing_and_again_brings_all_back(db: Db, kind: str) -> None:
    if kind != "queue":
        one(db, "select howdah.create_queue('q')")
    if kind != "topic":
        one(db, "select howdah.create_topic('t')")
    name = {"subscription": "t::s", "alias": "a", "policy": "x.>", "engine": None, "bridge": "t q", "listener": "l"}
    name["storage"] = "msgs"
    name["redaction"] = "q $.card"
    name["rule"] = "default/queue.q.produce.allow.group"
    of = (
        kind,
        name.get(kind, {"queue": "q", "topic": "t", "rule_set": "night", "service": "jms", "object": "cf"}.get(kind)),
    )
    start = last(db)
    states = [one(db, "select howdah._properties(%s, %s)", of)]
    for act in ACTS[kind]:
        one(db, f"select howdah.{act}")
        states.append(one(db, "select howdah._properties(%s, %s)", of))
    ids = sorted(column(db, "select change_id from howdah.config_changes() where change_id > %s", (start,)))
    assert len(ids) == len(ACTS[kind])
    undone = []
    for change in reversed(ids):
        undone.append(undo(db, change))
        states.pop()
        now = one(db, "select howdah._properties(%s, %s)", of)
        assert now == states[-1], change
    assert column(db, "select undoes from howdah.config_changes() where change_id = any (%s)", (undone,)) == ids[::-1]
    # Undoing is a change, too.
    undo(db)
    assert one(db, "select howdah._properties(%s, %s)", of) is not None


def test_a_dropped_queue_comes_back_with_its_rights_and_what_went_with_it(db: Db) -> None:
    one(db, "select howdah.create_queue('q', '{\"default_priority\": 7}')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.revoke_queue('q', 'send', 'howdah_producer')")
    one(db, "select howdah.grant_queue('q', 'send', 'howdah_browser')")
    one(db, "select howdah.bridge('t', 'q', 'a = 1')")
    one(db, "select howdah.create_listener('l', 'q', '{\"max_sessions\": 3}')")
    before = column(db, "select verb || ' ' || role from howdah.list_grants('q') order by 1")
    start = last(db)
    one(db, "select howdah.drop_queue('q')")
    dropped = column(db, "select change_id from howdah.config_changes() where change_id > %s", (start,))
    assert len(dropped) == 3
    for change in reversed(dropped):
        undo(db, change)
    assert column(db, "select verb || ' ' || role from howdah.list_grants('q') order by 1") == before
    assert one(db, "select howdah.queue_options('q') ->> 'default_priority'") == "7"
    assert column(db, "select selector from howdah.list_bridges('t')") == ["a = 1"]
    assert column(db, "select max_sessions from howdah.list_listeners()") == [3]


def test_what_was_changed_since_is_left_alone_unless_asked_for_again(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.alter_queue('q', '{\"default_priority\": 7}')")
    change = last(db)
    one(db, "select howdah.alter_queue('q', '{\"default_priority\": 8}')")
    refused(db, "HD045", "select howdah.undo_change(%s)", (change,))
    assert one(db, "select howdah.queue_options('q') ->> 'default_priority'") == "8"
    assert undo(db, change, again=True) is not None
    assert one(db, "select howdah.queue_options('q') ->> 'default_priority'") == "4"
    assert undo(db, change, again=True) is None, "nothing is left to change"


def test_undoing_loses_no_message(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    queue = last(db)
    one(db, "select howdah.create_topic('t')")
    topic = last(db)
    one(db, "select howdah.subscribe('t', 's')")
    subscription = last(db)
    one(db, "select howdah.send('q', 'x')")
    one(db, "select howdah.send('t', 'x')")
    for change in (queue, topic, subscription):
        refused(db, "HD011", "select howdah.undo_change(%s)", (change,))
    assert one(db, "select body from howdah.receive('q')") == one(db, "select body from howdah.receive('t::s')") == "x"
    for change in (subscription, topic, queue):
        undo(db, change)
    assert not exists(db, "q")


def test_what_cannot_be_taken_back_says_so(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'x'::text, cron => '0 4 * * *', name => 'nightly')")
    one(db, "select howdah.cancel_schedule((select schedule_id from howdah.list_schedules()))")
    refused(db, "HD045", "select howdah.undo_change(%s)", (last(db),))
    one(db, "select howdah.create_link('k', 'q', 'there', service => 'x')")
    one(db, "select howdah.rebase_link('k')")
    refused(db, "HD045", "select howdah.undo_change(%s)", (last(db),))
    refused(db, "HD005", "select howdah.undo_change(999999)")
    refused(db, "HD005", "select howdah.undo_change(null)")


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(
    "act",
    [
        "howdah.record_user('nobody_yet', '{\"login\": true, \"groups\": []}')",
        "howdah.record_user(current_user, null)",
        "howdah.set_cluster('master', 'first')",
    ],
)
def test_what_is_done_to_users_and_the_cluster_is_not_passed_off_as_taken_back(db: Db, act: str, again: bool) -> None:
    db.execute(f"select {act}".encode())
    before = last(db)
    error = refused(db, "HD045", "select howdah.undo_change(%s, %s)", (before, again))
    assert "cannot be taken back" in str(error.message_primary)
    assert last(db) == before


def test_undoing_takes_the_rights_of_what_it_does(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.alter_queue('q', '{\"default_priority\": 7}')")
    one(db, "select howdah.revoke_queue('q', 'admin', 'howdah_admin')")
    change = int(one(db, "select change_id from howdah.list_changes('queue', 'q', 1)"))
    refused(connect("howdah_admin"), "HD010", "select howdah.undo_change(%s)", (change,))
