"""A topic shows its history, and keeps messages for replay as long or as many as it is told to."""

from typing import Any

from support import Clock, Db, column
from topics_support import bodies, publish, rotate, subscribe, topic


def history(db: Db, *arguments: Any) -> list[str]:
    return column(db, f"select body from howdah.topic_history('t'{', %s' * len(arguments)})", arguments)


def test_history_shows_what_is_stored_without_taking_it(db: Db, clock: Clock) -> None:
    topic(db, retain_ms=3_600_000)
    publish(db, "a", "b")
    clock.advance(10)
    since = clock.now
    publish(db, "c", time_to_live="5 s")
    publish(db, "d", delivery_mode="non-persistent")
    assert history(db) == history(db) == ["a", "b", "c", "d"]
    assert history(db, since) == ["c", "d"]
    assert history(db, None, 1) == ["a"]
    clock.advance(6)
    assert history(db) == ["a", "b", "d"]


def test_messages_are_kept_for_replay_for_their_time(db: Db, clock: Clock) -> None:
    topic(db, retain_ms=3_600_000)
    publish(db, "old")
    rotate(db, clock)
    clock.advance(2_700)
    publish(db, "young")
    rotate(db, clock)
    rotate(db, clock)
    assert history(db) == ["young"]
    assert bodies(db, subscribe(db, since="-infinity")) == ["young"]


def test_messages_are_kept_for_replay_by_size(db: Db, clock: Clock) -> None:
    topic(db, retain_bytes=25)
    publish(db, *(f"{number:010}" for number in range(5)))
    for _ in range(3):
        rotate(db, clock)
    assert history(db) == [f"{number:010}" for number in (3, 4)]
