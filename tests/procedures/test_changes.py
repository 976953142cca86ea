"""The record of what administrators change: every act once, read in the order of commits, and taken back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from support import Clock, Connect, Db, column, one, refused

import howdah.procedures as sql
from howdah.procedures.parser import headers

READ = "select change_id, position from howdah.config_changes(%s)"


def changes(db: Db, kind: str | None = None, name: str | None = None) -> list[tuple[Any, ...]]:
    """Act, kind and name, oldest first."""
    return db.execute(
        "select act, kind, name from howdah.config_changes(of_kind => %s, of_name => %s)", (kind, name)
    ).fetchall()


def last(db: Db) -> int:
    return int(one(db, "select max(change_id) from howdah.config_changes()"))


def undo(db: Db, change: int | None = None, *, again: bool = False) -> int | None:
    undone: int | None = one(db, "select howdah.undo_change(%s, %s)", (last(db) if change is None else change, again))
    return undone


def exists(db: Db, queue: str) -> bool:
    return queue in column(db, "select queue from howdah.list_queues()")


ACTS = {
    "queue": ["create_queue('q')", "alter_queue('q', '{\"default_priority\": 7}')", "pause('q')", "drop_queue('q')"],
    "topic": ["create_topic('t')", "alter_topic('t', '{\"retain_ms\": 5}')", "drop_topic('t')"],
    "subscription": [
        "subscribe('t', 's')",
        "alter_queue('t::s', '{\"max_failed_deliveries\": 2}')",
        "unsubscribe('t::s')",
    ],
    "alias": ["create_alias('a', 'q')", "alter_alias('a', '{\"producer_may_override\": false}')", "drop_alias('a')"],
    "policy": ["set_policy('x.>', '{\"default_priority\": 7}')", "drop_policy('x.>')"],
    "engine": ["alter_engine('{\"max_count\": 10}')"],
    "rule": ["grant_queue('q', 'send', 'howdah_browser')", "revoke_queue('q', 'send', 'howdah_browser')"],
    "rule_set": ["create_rule_set('night')", "drop_rule_set('night')"],
    "service": ["alter_service('jms', '{\"idle_seconds\": 60}')"],
    "object": [
        "create_object('cf', 'connection_factory', '{\"priority\": 7}')",
        'alter_object(\'cf\', \'{"priority": null, "hosts": ["one"]}\')',
        "drop_object('cf')",
    ],
    "bridge": ["bridge('t', 'q')", "bridge('t', 'q', 'a = 1')", "unbridge('t', 'q')"],
    "listener": [
        "create_listener('l', 'q')",
        "alter_listener('l', '{\"max_sessions\": 2}')",
        "stop_listener('l')",
        "resume_listener('l')",
        "drop_listener('l')",
    ],
    "link": [
        "create_link('k', 'q', 'there', service => 'x')",
        "alter_link('k', batch_size => 5)",
        "pause_link('k')",
        "resume_link('k')",
        "rebase_link('k')",
        "drop_link('k')",
    ],
    "redaction": [
        "set_redaction('q', '$.card')",
        "set_redaction('q', '$.card', 'PCI')",
        "drop_redaction('q', '$.card')",
    ],
    "storage": ["set_storage('{\"fillfactor\": 70}', '{msgs}')", "set_storage('{\"fillfactor\": null}', '{msgs}')"],
    "metrics": ["reset_metrics()"],
    "schedule": [
        "schedule('q', 'x'::text, cron => '0 4 * * *', name => 'nightly')",
        "pause_schedule((select schedule_id from howdah.list_schedules()))",
        "resume_schedule((select schedule_id from howdah.list_schedules()))",
        "cancel_schedule((select schedule_id from howdah.list_schedules()))",
    ],
}
"""Acts of an administrator, by the kind of thing: first made, then changed, then ended."""


@pytest.mark.behaviour("IMQ-113")
@pytest.mark.parametrize("kind", ACTS)
def test_each_act_of_an_administrator_is_one_record_with_who_and_when_before_and_after(
    db: Db, connect: Connect, clock: Clock, kind: str
) -> None:
    for needed in {"queue", "topic", "subscription"} - {kind}:
        if needed != "subscription" and not (kind == "topic" and needed == "subscription"):
            one(db, f"select howdah.{ACTS[needed][0]}")
    admin = connect("howdah_admin")
    for act in ACTS[kind]:
        before = column(db, "select change_id from howdah.config_changes()")
        one(admin, f"select howdah.{act}")
        rows = db.execute(
            "select at = howdah.now(), actor, kind, act, before, after from howdah.config_changes()"
            " where not change_id = any (%s)",
            (before,),
        ).fetchall()
        assert [row[:3] for row in rows] == [(True, "howdah_admin", kind)], act
        ((*_, made, was, is_),) = rows
        assert made == ("created" if was is None else "dropped" if is_ is None else "altered"), act
        clock.advance(1)


def test_what_is_done_to_locks_instances_and_the_cluster_is_on_record(db: Db) -> None:
    one(db, "select howdah.acquire_lock('job', 'me')")
    one(db, "select howdah.break_lock('job')")
    one(db, "select howdah.register_instance('first', 'host', 1, '0.1', '{}')")
    one(db, "select howdah.end_instance('first')")
    one(db, "select howdah.end_instance('first')")
    one(db, "select howdah.new_engine_id()")
    rows = db.execute("select kind, name, act, before is null, after is null from howdah.config_changes()").fetchall()
    assert rows == [
        ("lock", "job", "dropped", False, True),
        ("instance", "first", "altered", False, False),
        ("cluster", "identity", "altered", False, False),
    ]
    refused(db, "HD045", "select howdah.undo_change(%s)", (last(db),))


NO_CONFIGURATION = {
    *("begin_archive", "check_archive_run", "finish_archive_run"),
    *("begin_import", "forget_import", "list_imported", "read_imported"),
}
"""Steps of an archive's run and of an import, which have records of their own."""


def test_each_verb_that_administrators_alone_may_call_records_what_it_writes() -> None:
    """By the calls and statements in its text, and in those of the functions that it calls."""
    texts = {name.rpartition("/")[2]: re.sub(r"--[^\n]*", "", sql.source(name)) for name in sql.FILES}

    def whole(name: str, seen: set[str]) -> str:
        seen.add(name)
        spoken = re.sub(r"'(?:[^']|'')*'", "", texts[name])  # hints name functions, too
        called = set(re.findall(r"howdah\.(_?\w+)\(", spoken)) & texts.keys()
        return texts[name] + "".join(whole(other, seen) for other in sorted(called) if other not in seen)

    writing = {}
    for name in sql.FILES:
        for header in (header for header in headers(sql.source(name)) if header.roles == ("howdah_admin",)):
            text = whole(name.rpartition("/")[2], set())
            if " volatile" in texts[name.rpartition("/")[2]] and re.search(
                r"\b(insert into|update howdah|delete from|alter table|setval)\b", text
            ):
                writing[header.name] = text
    recorded = {name for name, text in writing.items() if re.search("into howdah.(config_changes|operator_acts)", text)}
    assert len(recorded) > 50
    assert writing.keys() - recorded == NO_CONFIGURATION


def test_what_changes_nothing_and_what_is_rolled_back_is_not_recorded(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    before = last(db)
    one(db, "select howdah.alter_queue('q', '{\"default_priority\": 4}')")
    one(db, "select howdah.resume('q')")
    one(db, "select howdah.drop_policy('none.>')")
    with db.transaction(force_rollback=True):
        one(db, "select howdah.drop_queue('q')")
    assert last(db) == before


def test_temporary_queues_fleeting_subscriptions_and_schedules_of_applications_are_no_configuration(
    db: Db, connect: Connect
) -> None:
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.create_queue('q')")
    before = last(db)
    one(db, "select howdah.set_connection('0123456789abcdef')")
    one(db, "select howdah.create_temporary_queue()")
    one(db, "select howdah.subscribe('t', durable => false)")
    one(connect("howdah_producer"), "select howdah.schedule('q', 'x'::text, cron => '0 4 * * *', name => 'mine')")
    assert last(db) == before


def test_a_record_says_why_in_the_words_of_the_setting(db: Db) -> None:
    with db.transaction():
        db.execute("set local howdah.reason = 'ticket 7'")
        one(db, "select howdah.create_queue('q')")
    assert column(db, "select reason from howdah.list_changes('queue', 'q')") == ["ticket 7"]


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


def test_no_secret_and_no_body_is_on_record(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.schedule('q', 'the body'::text, cron => '0 4 * * *', name => 'nightly')")
    rows = db.execute("select row_to_json(c) from howdah.config_changes() c").fetchall()
    assert "the body" not in json.dumps(rows)
    assert "746865" not in json.dumps(rows)


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
