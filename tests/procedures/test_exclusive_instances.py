"""In exclusive mode one instance runs, and another takes over once its lease is over."""

from __future__ import annotations

import pytest
from instances_support import TIMEOUT, beat, listed, register, running
from support import Clock, Connect, Db, column, one, refused


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
