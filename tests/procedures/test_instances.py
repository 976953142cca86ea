"""Instances have states and names, live by their heartbeats, and take with them what they registered."""

from __future__ import annotations

import pytest
from instances_support import TIMEOUT, beat, listed, register, running
from psycopg.types.json import Jsonb
from support import Clock, Connect, Db, column, one, refused


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
