"""Instances: their states, their leases, what ends with them, and how they read the record of changes."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, refused

TIMEOUT = 10
"""Seconds of silence after which an instance is dead."""


def register(db: Db, name: str, **settings: object) -> str:
    return str(one(db, "select howdah.register_instance(%s, 'host', 1, '0.1', %s)", (name, Jsonb(settings))))


def beat(db: Db, instance: str) -> dict[str, Any]:
    found: dict[str, Any] = one(db, "select howdah.instance_heartbeat(%s)", (instance,))
    return found


def running(db: Db, name: str) -> str:
    """An instance that has come up."""
    instance = register(db, name)
    states = [beat(db, instance)["state"] for _ in range(2)]
    assert states == ["RECOVERING", "RUNNING"]
    return instance


def listed(db: Db, what: str = "name") -> list[Any]:
    return column(db, f"select {what} from howdah.list_instances()")


def read(db: Db, instance: str, most: int = 1000) -> list[str]:
    return column(db, "select act || ' ' || name from howdah.read_changes(%s, %s)", (instance, most))


def test_an_instance_initializes_recovers_and_runs(db: Db) -> None:
    instance = register(db, "a")
    assert listed(db, "state") == ["INITIALIZING"]
    assert beat(db, instance)["state"] == "RECOVERING"
    assert beat(db, instance)["state"] == "RUNNING"
    assert beat(db, instance) == {
        "state": "RUNNING",
        "waits_for": None,
        "ending": False,
        "reset": False,
        "unread": 0,
        "missed": 0,
        "timeout": TIMEOUT,
        "epoch": None,
    }
    assert one(db, "select howdah.unregister_instance(%s)", (instance,)) is True
    assert one(db, "select howdah.unregister_instance(%s)", (instance,)) is False
    assert listed(db) == []


def test_recovering_closes_the_dead_consumers_of_earlier_lives(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('q', '{"delivery_policy": "single"}')""")
    one(db, "select howdah.open_consumer('q')")
    clock.advance(61)
    instance = register(db, "a")
    beat(db, instance)
    assert column(db, "select consumer from howdah.list_consumers('q')") != []
    beat(db, instance)
    assert column(db, "select consumer from howdah.list_consumers('q')") == []


def test_quiescing_and_resuming_an_instance_leaves_the_others_alone(db: Db) -> None:
    first, second = running(db, "a"), running(db, "b")
    assert one(db, "select howdah.quiesce_instance('a')") is True
    assert one(db, "select howdah.quiesce_instance('a')") is False
    assert (beat(db, first)["state"], beat(db, second)["state"]) == ("QUIESCED", "RUNNING")
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send('q', 'x')")
    assert one(db, "select body from howdah.receive('q')") == "x", "plain SQL goes on"
    assert one(db, "select howdah.resume_instance('a')") is True
    assert one(db, "select howdah.resume_instance('a')") is False
    assert beat(db, first)["state"] == "RUNNING"
    assert column(db, "select after from howdah.list_changes('instance', 'a')") == [
        {"quiesced": False},
        {"quiesced": True},
    ]
    refused(db, "HD005", "select howdah.quiesce_instance('none')")
    refused(db, "HD005", "select howdah.resume_instance('none')")


def test_an_administrator_tells_an_instance_to_end(db: Db) -> None:
    instance = running(db, "a")
    assert one(db, "select howdah.end_instance('a')") is True
    assert beat(db, instance)["ending"] is True
    assert one(db, "select howdah.end_instance('none')") is False


@pytest.mark.behaviour("IMQ-110")
def test_what_a_dead_instance_registered_vanishes_at_the_next_heartbeat_of_another(db: Db, clock: Clock) -> None:
    one(db, """select howdah.create_queue('q', '{"delivery_policy": "failover"}')""")
    dead, living = running(db, "dead"), running(db, "living")
    for instance in (dead, living):
        one(db, "select howdah.register_worker('w', 'host', 1, 1, '{q}', %s)", (instance,))
        one(
            db,
            "select howdah.open_consumer('q', instance => (select i.name from howdah.list_instances() i"
            " where i.instance_id = %s))",
            (instance,),
        )
    assert column(db, "select instance from howdah.list_consumers('q')") == ["dead", "living"]
    assert column(db, "select instance from howdah.list_workers() order by 1") == ["dead", "living"]
    assert [listed(db, what) for what in ("workers", "consumers")] == [[1, 1], [1, 1]]
    clock.advance(TIMEOUT)
    beat(db, living)
    assert listed(db) == ["dead", "living"], "its time is not over"
    clock.advance(0.1)
    beat(db, living)
    assert listed(db) == ["living"]
    assert column(db, "select instance from howdah.list_consumers('q')") == ["living"]
    assert column(db, "select instance from howdah.list_workers()") == ["living"]
    refused(db, "HD015", "select howdah.instance_heartbeat(%s)", (dead,))


@pytest.mark.behaviour("IMQ-107")
def test_every_instance_knows_the_consumers_of_the_others_and_failover_works_across_them(
    db: Db, connect: Connect, clock: Clock
) -> None:
    one(db, """select howdah.create_queue('q', '{"delivery_policy": "failover"}')""")
    running(db, "first")
    second = running(db, "second")
    primary = one(db, "select howdah.open_consumer('q', instance => 'first', timeout => '1 hour')")
    backup = one(db, "select howdah.open_consumer('q', instance => 'second', timeout => '1 hour')")
    other = connect("howdah_consumer")
    rows = other.execute("select consumer, instance, active from howdah.list_consumers('q')").fetchall()
    assert rows == [(primary, "first", True), (backup, "second", False)]
    one(db, "select howdah.send('q', 'x')")
    assert column(db, f"select body from howdah.receive('q', consumer => {backup})") == []
    clock.advance(TIMEOUT + 1)
    beat(db, second)
    assert column(db, f"select body from howdah.receive('q', consumer => {backup})") == ["x"]


def test_a_name_belongs_to_one_living_instance(db: Db, clock: Clock) -> None:
    register(db, "a")
    refused(db, "HD046", "select howdah.register_instance('a', 'host', 2)")
    clock.advance(TIMEOUT + 0.1)
    register(db, "a")
    for wrong in ("''", "null", "'a b'", "repeat('x', 201)"):
        refused(db, "HD003", f"select howdah.register_instance({wrong}, 'host', 2)")
    for wrong in ("null, 1", "'h', -1", "'h', 1, null, '[]'", "'h', 1, null, '{\"x\": 1}'"):
        refused(db, "HD005", f"select howdah.register_instance('b', {wrong})")


def test_only_the_role_that_registered_it_and_administrators_speak_for_an_instance(db: Db, connect: Connect) -> None:
    consumer, admin = connect("howdah_consumer"), connect("howdah_admin")
    mine = register(admin, "mine")
    for verb in ("instance_heartbeat", "unregister_instance", "read_changes"):
        refused(consumer, "HD010", f"select howdah.{verb}(%s)", (mine,))
    theirs = register(consumer, "theirs")
    beat(admin, theirs)
    for name in ("changes", "exclusive"):
        refused(consumer, "HD010", "select howdah.acquire_lock(%s, 'me')", (name,))
    refused(consumer, "42501", "select howdah.quiesce_instance('mine')")
    refused(consumer, "42501", "select howdah.set_cluster('none')")


@pytest.mark.behaviour("IMQ-119")
def test_an_instance_whose_own_settings_contradict_the_cluster_is_refused(db: Db) -> None:
    one(db, "select howdah.set_cluster('master', 'first')")
    register(db, "first", cluster_mode="master", cluster_master="first", exclusive=False)
    for wrong in (
        {"cluster_mode": "none"},
        {"cluster_mode": "master", "cluster_master": "second"},
        {"exclusive": True},
    ):
        refused(db, "HD046", "select howdah.register_instance('second', 'host', 2, null, %s)", (Jsonb(wrong),))
    assert listed(db) == ["first"]
    register(db, "second")  # it takes what there is


@pytest.mark.behaviour("IMQ-115")
def test_others_wait_in_initializing_until_the_master_has_started(db: Db) -> None:
    one(db, "select howdah.set_cluster('master', 'first')")
    second = register(db, "second")
    for _ in range(3):
        assert (beat(db, second)["state"], beat(db, second)["waits_for"]) == ("INITIALIZING", "master")
    first = register(db, "first")
    assert [beat(db, first)["state"] for _ in range(2)] == ["RECOVERING", "RUNNING"]
    assert listed(db, "master") == [True, False]
    assert [beat(db, second)["state"] for _ in range(2)] == ["RECOVERING", "RUNNING"]


@pytest.mark.behaviour("IMQ-116")
def test_without_the_master_changes_are_refused_and_messages_go_on(db: Db, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.subscribe('t', 's')")
    one(db, "select howdah.set_cluster('master', 'first')")
    first, second = register(db, "first"), register(db, "second")
    for _ in range(2):
        beat(db, first)
        beat(db, second)
    one(db, "select howdah.create_queue('with_it')")
    clock.advance(TIMEOUT + 1)
    assert beat(db, second)["state"] == "RUNNING", "what runs goes on"
    assert one(db, "select howdah.cluster_settings() ->> 'accepts_changes'") == "false"
    for change in (
        "create_queue('r')",
        "drop_queue('q')",
        "alter_queue('q', '{\"default_priority\": 7}')",
        "create_topic('u')",
        "drop_topic('t', true)",
        "subscribe('t', 'other')",
        "subscribe('t', 's')",  # it is there: that would activate it again
        "unsubscribe('t::s')",
        "create_alias('a', 'q')",
        "set_policy('x.>', '{}')",
        "alter_engine('{\"max_count\": 1}')",
        "grant_queue('q', 'send', 'howdah_browser')",
        "create_listener('l', 'q')",
        "undo_change(1)",
    ):
        refused(db, "HD045", f"select howdah.{change}")
    one(db, "select howdah.subscribe('t', durable => false)")
    one(db, "select howdah.send('q', 'x')")
    one(db, "select howdah.send('t', 'y')")
    assert one(db, "select body from howdah.receive('q')") == "x"
    assert one(db, "select body from howdah.receive('t::s')") == "y"
    first = register(db, "first")
    assert beat(db, first)["state"] == "RECOVERING"
    one(db, "select howdah.create_queue('r')")


def test_a_running_cluster_is_switched_to_a_master_and_to_another_one(db: Db, clock: Clock) -> None:
    first, second = running(db, "first"), running(db, "second")
    assert one(db, "select howdah.set_cluster('master', 'first')") is True
    refused(db, "HD045", "select howdah.create_queue('q')")
    assert [beat(db, i)["state"] for i in (first, second)] == ["RUNNING", "RUNNING"]
    one(db, "select howdah.create_queue('q')")
    assert one(db, "select howdah.change_master('second')") is True
    assert one(db, "select howdah.change_master('second')") is False
    refused(db, "HD045", "select howdah.create_queue('r')")
    assert [beat(db, i)["state"] for i in (first, second)] == ["RUNNING", "RUNNING"]
    assert listed(db, "master") == [False, True]
    one(db, "select howdah.create_queue('r')")
    clock.advance(TIMEOUT + 1)  # both are gone: the way out needs no master
    one(db, "select howdah.set_cluster('none')")
    one(db, "select howdah.create_queue('s')")
    assert column(db, "select after from howdah.list_changes('cluster')")[0] == {"mode": "none", "master": "second"}
    for wrong in ("null", "'x'", "'master', ''", "'master', repeat('x', 201)"):
        state = "HD003" if "master" in wrong else "HD005"
        refused(db, state, f"select howdah.set_cluster({wrong})")
    refused(db, "HD005", "select howdah.change_master(null)")


@pytest.mark.behaviour("IMQ-114")
def test_an_instance_that_comes_back_reads_what_it_missed_in_order(db: Db) -> None:
    one(db, "select howdah.set_cluster('master', 'first')")
    first = running(db, "first")
    second = running(db, "second")
    assert read(db, second) == []
    one(db, "select howdah.create_queue('before')")
    assert read(db, second) == ["created before"]
    one(db, "select howdah.unregister_instance(%s)", (second,))
    for change in ("create_queue('q')", "alter_queue('q', '{\"default_priority\": 7}')", "drop_queue('before')"):
        one(db, f"select howdah.{change}")
    second = register(db, "second")
    assert (listed(db, "unread"), listed(db, "missed")) == ([4, 3], [0, 0])
    assert read(db, second, 2) == ["created q", "altered q"]
    assert listed(db, "unread") == [4, 1]
    assert read(db, second, 2) == ["dropped before"]
    assert read(db, second) == []
    assert len(read(db, first)) == 4


@pytest.mark.behaviour("IMQ-118")
def test_without_a_master_nobody_waits_and_a_late_instance_misses_changes_and_says_so(db: Db) -> None:
    first, second = running(db, "first"), running(db, "second")
    one(db, "select howdah.unregister_instance(%s)", (second,))
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_queue('r')")
    assert read(db, first) == ["created q", "created r"]
    second = register(db, "second")
    assert [beat(db, second)["state"] for _ in range(2)] == ["RECOVERING", "RUNNING"]
    assert beat(db, second)["missed"] == 2
    assert read(db, second) == []
    one(db, "select howdah.drop_queue('r')")
    assert read(db, first) == read(db, second) == ["dropped r"]


@pytest.mark.slow
def test_a_change_that_commits_late_is_read_by_every_instance(db: Db, connect: Connect) -> None:
    instance, late = running(db, "a"), connect()
    with late.transaction():
        one(late, "select howdah.create_queue('late')")
        one(db, "select howdah.create_queue('early')")
        assert read(db, instance) == ["created early"]
    assert read(db, instance) == ["created late"]
    assert read(db, instance) == []


def test_an_instance_that_slept_past_retention_is_told(db: Db, clock: Clock) -> None:
    instance = running(db, "a")
    one(db, "select howdah.create_queue('q')")
    clock.advance(91 * 86400)
    one(db, "select howdah.create_queue('r')")
    one(db, "select howdah.maintain_incidents()")
    told = beat(db, instance)
    assert (told["reset"], told["missed"]) == (True, 1)
    assert beat(db, instance)["reset"] is False
    one(db, "select howdah.create_queue('s')")
    assert read(db, instance) == ["created s"]


@pytest.mark.behaviour("AMQ-63")
def test_of_exclusive_instances_one_runs_and_the_others_stand_by(db: Db, clock: Clock) -> None:
    one(db, "select howdah.alter_engine('{\"exclusive\": true}')")
    first, second = running(db, "first"), register(db, "second")
    epoch = beat(db, first)["epoch"]
    assert epoch is not None
    for _ in range(20):  # as long as the first one lives
        clock.advance(TIMEOUT - 1)
        assert (beat(db, first)["state"], beat(db, first)["epoch"]) == ("RUNNING", epoch)
        told = beat(db, second)
        assert (told["state"], told["waits_for"], told["epoch"]) == ("INITIALIZING", "exclusive", None)
    assert listed(db, "holder") == [True, False]
    one(db, "select howdah.unregister_instance(%s)", (first,))
    assert [beat(db, second)["state"] for _ in range(2)] == ["RECOVERING", "RUNNING"], "at once after an orderly end"
    assert beat(db, second)["epoch"] == epoch + 1


@pytest.mark.behaviour("AMQ-64")
def test_the_other_takes_over_when_the_lease_is_over_and_the_old_one_commits_nothing_more(
    db: Db, connect: Connect, clock: Clock
) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.alter_engine('{\"exclusive\": true}')")
    first, second = running(db, "first"), register(db, "second")
    epoch = beat(db, first)["epoch"]
    hold = "select howdah.hold_instance(%s, %s)"
    paused = connect()
    paused.execute("begin")
    one(paused, "select howdah.send('q', 'from the dead')")
    clock.advance(TIMEOUT - 0.1)
    assert beat(db, second)["state"] == "INITIALIZING"
    clock.advance(0.2)
    assert [beat(db, second)["state"] for _ in range(2)] == ["RECOVERING", "RUNNING"]
    refused(paused, "HD046", hold, (first, epoch))
    paused.execute("rollback")
    refused(db, "HD046", hold, (first, epoch))
    refused(db, "HD046", hold, (first, epoch + 1))
    one(db, hold, (second, epoch + 1))
    assert column(db, "select body from howdah.receive('q')") == []


def test_a_commit_under_way_keeps_the_exclusive_lease_until_it_is_done(db: Db, connect: Connect, clock: Clock) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.alter_engine('{\"exclusive\": true}')")
    first, second = running(db, "first"), register(db, "second")
    epoch = beat(db, first)["epoch"]
    committing = connect()
    with committing.transaction():
        one(committing, "select howdah.send('q', 'x')")
        one(committing, "select howdah.hold_instance(%s, %s)", (first, epoch))
        clock.advance(TIMEOUT + 1)
        assert beat(db, second)["waits_for"] == "exclusive"
    assert beat(db, second)["state"] == "RECOVERING"


def test_ending_exclusive_mode_lets_all_run(db: Db) -> None:
    one(db, "select howdah.alter_engine('{\"exclusive\": true}')")
    running(db, "first")
    second = register(db, "second")
    assert beat(db, second)["waits_for"] == "exclusive"
    one(db, "select howdah.alter_engine('{\"exclusive\": false}')")
    assert [beat(db, second)["state"] for _ in range(2)] == ["RECOVERING", "RUNNING"]
    one(db, "select howdah.alter_engine('{\"exclusive\": true}')")
    assert beat(db, second)["waits_for"] == "exclusive", "who was first has the lease"


@pytest.mark.behaviour("IMQ-117")
def test_a_backup_a_wipe_and_a_restore_give_the_identical_catalogue(db: Db) -> None:
    for made in (
        "set_policy('eu.>', '{\"default_priority\": 6}')",
        'create_queue(\'q\', \'{"preset": "activemq", "max_failed_deliveries": 3}\')',
        "create_queue('eu.q', '{\"message_limit\": 100}')",
        "create_topic('t', '{\"retain_ms\": 1000}')",
        "subscribe('t', 's', 'client', selector => 'a > 1', options => '{\"prioritized\": true}')",
        "subscribe('t.>', 'w', shared => true)",
        "create_alias('a', 'q', '{\"producer_may_override\": false}')",
        "set_redaction('eu.>', '$.card', 'PCI')",
        "bridge('t', 'q', 'b = 1')",
        "create_listener('l', 'eu.q', '{\"max_sessions\": 2}')",
        "create_link('k', 'eu.q', 'there', service => 'x')",
        "grant_queue('q', 'send', 'howdah_browser')",
        "revoke_queue('q', 'receive', 'howdah_consumer')",
        "pause('eu.q', true, false)",
        "alter_engine('{\"max_count\": 1000}')",
        "create_rule_set('night', 'default')",
        "set_rule('night', 'queue', 'eu.>', 'produce', false, 'user', '{tom}')",
        "alter_service('jms', '{\"idle_seconds\": 60}')",
        "create_object('cf', 'connection_factory', '{\"priority\": 7}', true)",
    ):
        one(db, f"select howdah.{made}")
    watching = running(db, "watching")
    catalogue = db.execute("select kind, name, properties from howdah._catalogue() order by kind, name").fetchall()
    assert len(catalogue) >= 11
    backup = column(db, "select * from howdah.backup_changes()")
    identity = one(db, "select howdah.cluster_settings() ->> 'record_id'")
    for wiped in (
        "drop_topic('t', true)",
        "unsubscribe('t.>::w')",
        "drop_alias('a')",
        "drop_queue('q')",
        "drop_queue('eu.q')",
        "drop_queue('ActiveMQ.DLQ')",
        "drop_policy('eu.>')",
        "drop_redaction('eu.>', '$.card')",
        "set_redaction('>', '$.extra')",
        "alter_engine('{\"max_count\": null}')",
        "create_queue('extra')",
        "drop_rule_set('night')",
        "create_rule_set('extra')",
        "drop_rule('default', 'queue', 'q', 'consume', true, 'group')",
        "alter_service('jms', '{\"idle_seconds\": 600}')",
        "alter_object('cf', '{\"priority\": null}', false)",
    ):
        one(db, f"select howdah.{wiped}")
    position = column(db, "select position from howdah.config_changes()")[-1]
    restored = one(db, "select howdah.restore_changes(%s, true)", ([Jsonb(line) for line in backup],))
    assert restored >= 11
    assert (
        db.execute("select kind, name, properties from howdah._catalogue() order by kind, name").fetchall() == catalogue
    )
    assert one(db, "select howdah.cluster_settings() ->> 'record_id'") != identity
    refused(db, "HD037", "select howdah.config_changes(%s)", (position,))
    assert beat(db, watching)["reset"] is True, "a reader of the former record is told"
    assert one(db, "select howdah.restore_changes(%s, true)", ([Jsonb(line) for line in backup],)) == 0
    for wrong in ([], [{"howdah": "changes", "version": 2}], [backup[0], {"kind": "role", "name": "x"}]):
        refused(db, "HD005", "select howdah.restore_changes(%s::jsonb[])", ([Jsonb(line) for line in wrong],))


RESTORE = "select howdah.restore_changes(%s, true)"


def backed_up(db: Db) -> list[Jsonb]:
    return [Jsonb(line) for line in column(db, "select * from howdah.backup_changes()")]


MADE = "select name from howdah._catalogue() where kind in ('queue', 'topic', 'subscription', 'alias') order by name"


def test_redaction_rules_are_in_the_backup(db: Db) -> None:
    one(db, "select howdah.set_redaction('people.>', '$.card', 'PCI')")
    backup = backed_up(db)
    one(db, "select howdah.drop_redaction('people.>', '$.card')")
    one(db, "select howdah.set_redaction('>', '$.extra')")
    assert one(db, RESTORE, (backup,)) == 2
    assert db.execute("select pattern, path, reason from howdah.list_redactions()").fetchall() == [
        ("people.>", "$.card", "PCI")
    ]


def test_what_holds_messages_is_not_pruned_and_all_else_is(db: Db) -> None:
    backup = backed_up(db)
    for made in (
        "create_queue('full')",
        "create_queue('empty')",
        "create_topic('t')",
        "create_topic('unread')",
        "subscribe('t', 'behind')",
        "subscribe('t', 'done')",
        "create_alias('a', 'full')",
    ):
        one(db, f"select howdah.{made}")
    one(db, "select howdah.send('full', 'x')")
    one(db, "select howdah.send('t', 'y')")
    assert column(db, "select body from howdah.receive('t::done')") == ["y"]
    assert one(db, RESTORE, (backup,)) == 4
    assert column(db, MADE) == ["full", "t", "t::behind"]
    assert column(db, "select body from howdah.receive('full')") == ["x"]
    assert column(db, "select body from howdah.receive('t::behind')") == ["y"]
    assert one(db, RESTORE, (backup,)) == 3
    assert column(db, MADE) == []


def test_what_created_itself_is_neither_backed_up_nor_pruned(db: Db) -> None:
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    before = backed_up(db)
    for use in ("send('q', 'x')", "receive('empty')", "send('topic://t', 'x')"):
        db.execute(f"select howdah.{use}".encode())
    backup = backed_up(db)
    assert column(db, MADE) == []
    assert one(db, RESTORE, (before,)) == 0
    assert one(db, RESTORE, (backup,)) == 0
    created = "select name from howdah.destinations where auto_created and dropped_at is null order by name"
    assert column(db, created) == ["empty", "q", "t"]


def test_what_created_itself_is_backed_up_with_what_was_made_of_it(db: Db) -> None:
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": true, "autocreate_topic": true}\')')
    for name in ("named", "linked", "listened", "paused", "bridged", "unused"):
        one(db, "select howdah.send(%s, 'x')", (name,))
    for topic in ("read", "from"):
        one(db, "select howdah.send(%s, 'x')", (f"topic://{topic}",))
    for made in (
        "create_alias('a', 'named')",
        "create_link('k', 'linked', 'there', service => 'x')",
        "create_listener('l', 'listened')",
        "pause('paused')",
        "bridge('from', 'bridged')",
        "subscribe('read', 's')",
    ):
        one(db, f"select howdah.{made}")
    one(db, 'select howdah.alter_engine(\'{"autocreate_queue": false, "autocreate_topic": false}\')')
    assert column(db, MADE) == [*("a", "bridged", "from", "linked", "listened", "named", "paused", "read", "read::s")]
    backup = backed_up(db)
    one(db, "select howdah.drop_alias('a')")
    for topic in ("read", "from"):
        one(db, "select howdah.drop_topic(%s, true)", (topic,))
    for name in ("named", "linked", "listened", "paused", "bridged", "unused"):
        one(db, "select howdah.drop_queue(%s, true)", (name,))
    one(db, RESTORE, (backup,))
    assert column(db, MADE) == [*("a", "bridged", "from", "linked", "listened", "named", "paused", "read", "read::s")]
