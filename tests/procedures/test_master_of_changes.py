"""Instances wait for the master of changes, without which nothing changes, and read each change in order."""

from __future__ import annotations

import pytest
from instances_support import TIMEOUT, beat, listed, read, register, running
from support import Clock, Connect, Db, column, one, refused


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
