"""Whatever sessions do to each other and the ring, each subscription gets each committed message once, in order."""

from __future__ import annotations

from chance import seeds
from schedules import count
from topic_schedules import run_many


def test_random_schedules_on_topics_lose_double_and_reorder_nothing(dsn: str) -> None:
    print(run_many(dsn, seeds(max(count() // 5, 1))))
