"""howdah poison replay: all or nothing at once, or batch by batch at a rate."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from command import howdah, refused, start
from poison_support import three_dead
from support import Connect, Db, one, wait_until


@pytest.fixture
def dead(dsn: str, db: Db) -> list[int]:
    """Two dead messages of queue a and one of queue b."""
    return three_dead(dsn, db)


def test_replay_one_some_all(dsn: str, dead: list[int], db: Db) -> None:
    assert howdah(dsn, "poison", "replay", "--id", dead[0]).out == "1 message replayed\n"
    assert [m["body"] for m in howdah(dsn, "receive", "a", "-n", 9, "--json").json_lines] == ["first"]
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "b", "--json").json["replayed"] == 1
    assert one(db, "select live from howdah.queue_stats('b')") == 1
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "b", "--json").json["replayed"] == 0
    assert howdah(dsn, "poison", "replay", "--all", "--to", "b").out == "1 message replayed\n"
    assert one(db, "select live from howdah.queue_stats('b')") == 2
    assert howdah(dsn, "poison", "list", "--json").json == []


@pytest.mark.slow
def test_replay_is_all_or_nothing(dsn: str, dead: list[int], db: Db) -> None:
    refused(howdah(dsn, "poison", "replay", "--id", dead[0], "--id", 999999), "not all of these messages")
    refused(howdah(dsn, "poison", "discard", "--id", dead[0], "--id", 999999), "not all of these messages")
    refused(howdah(dsn, "poison", "replay", "--all", "--to", "nowhere"), "there is no queue 'nowhere'")
    assert len(howdah(dsn, "poison", "list", "--json").json) == 3


def test_replay_by_cause_and_a_sample(dsn: str, dead: list[int], db: Db) -> None:
    (of_b,) = howdah(dsn, "poison", "causes", "--queue", "b", "--json").json
    replay = ("poison", "replay", "--reason", "mended", "--json")
    assert howdah(dsn, *replay, "--fingerprint", of_b["fingerprint"]).json["replayed"] == 1
    assert one(db, "select live from howdah.queue_stats('b')") == 1
    assert howdah(dsn, *replay, "--error-class", "ValueError", "-n", 1, "--target", "b").json["replayed"] == 1
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == [dead[1]]
    assert one(db, "select count(*) from howdah.audit_acts where act = 'replayed' and reason = 'mended'") == 2


def test_replay_at_a_rate_commits_batch_by_batch_and_takes_its_time(dsn: str, dead: list[int], db: Db) -> None:
    started = time.monotonic()
    assert howdah(dsn, "poison", "replay", "--all", "--rate", "10/s", "--json").json["replayed"] == 3
    assert time.monotonic() - started >= 0.2
    assert one(db, "select count(distinct xid) from howdah.journal where event = 'replayed'") == 3
    assert howdah(dsn, "poison", "replay", "--all", "--rate", "10/s").out == "0 messages replayed\n"


def test_replay_by_selector_at_a_rate(dsn: str, dead: list[int], db: Db) -> None:
    chosen = f"JMSMessageID = 'ID:{dead[0]}'"
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--selector", chosen, "--json").json] == [
        dead[0]
    ]
    assert howdah(dsn, "poison", "replay", "--selector", chosen, "--rate", "50/s", "--json").json["replayed"] == 1
    wrong = howdah(dsn, "poison", "replay", "--selector", "price >")
    assert wrong.code == 1
    assert "invalid selector" in wrong.err


@pytest.mark.slow
def test_replay_at_a_rate_keeps_what_it_did_when_it_is_stopped(dsn: str, dead: list[int], db: Db) -> None:
    replay = ("poison", "replay", "--rate", "600/min", "--id", dead[0], "--id", 999999, "--id", dead[1])
    failed = howdah(dsn, *replay)
    assert failed.code == 1
    assert "stopped: 1 of 3 messages were replayed before" in failed.err
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead[1:]

    with start(dsn, "poison", "replay", "--all", "--rate", "1/min") as process:
        wait_until(lambda: one(db, "select count(*) from howdah.audit_acts") == 2)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"1 of 2 messages were replayed before\n" in said
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead[2:]


@contextmanager
def interrupted(dsn: str, db: Db, connect: Connect) -> Iterator[tuple[subprocess.Popen[bytes], Db]]:
    """A replay of three, one a minute, that was told to stop while its first waits for what the connection holds."""
    holder = connect()
    holder.execute("begin; lock howdah.audit_acts in exclusive mode")
    waiting = "select count(*) from pg_stat_activity where %s = any (pg_blocking_pids(pid))"
    with start(dsn, "poison", "replay", "--all", "--rate", "1/min") as process:
        assert process.stderr
        wait_until(lambda: one(db, waiting, (holder.info.backend_pid,)) == 1)
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == b"howdah: stopping after this batch; Ctrl-C again does not wait for it\n"
        yield process, holder
    assert process.returncode == 130


@pytest.mark.slow
def test_replay_at_a_rate_that_is_stopped_counts_the_batch_underway(
    dsn: str, dead: list[int], db: Db, connect: Connect
) -> None:
    with interrupted(dsn, db, connect) as (process, holder):
        holder.execute("commit")
        _, said = process.communicate(timeout=60)
    assert said == b"howdah: stopped: 1 of 3 messages were replayed before\n"
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead[1:]


@pytest.mark.slow
def test_replay_at_a_rate_that_is_stopped_twice_does_not_wait(
    dsn: str, dead: list[int], db: Db, connect: Connect
) -> None:
    with interrupted(dsn, db, connect) as (process, holder):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        holder.execute("rollback")
    assert said == b"howdah: stopped: 0 of 3 messages were replayed before, and perhaps 1 more\n"
    assert [row["message_id"] for row in howdah(dsn, "poison", "list", "--json").json] == dead


def test_what_dies_again_while_replaying_at_a_rate_is_not_replayed_again(dsn: str, dead: list[int], db: Db) -> None:
    db.execute(
        "create function public.fail() returns trigger language plpgsql as $$ begin"
        " perform howdah.record_failure('a', new.message_id), howdah.record_failure('a', new.message_id);"
        " return null; end $$;"
        " create constraint trigger fail after insert on howdah.msgs deferrable initially deferred"
        " for each row when (new.dead_at is null)"
        " execute function public.fail()"
    )
    assert howdah(dsn, "poison", "replay", "--all", "--origin", "a", "--rate", "1000").out == "2 messages replayed\n"
    assert len(howdah(dsn, "poison", "list", "--origin", "a", "--json").json) == 2
