"""What tests of workers' subscriptions import: publishing, and what was got and is subscribed."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import Db, column, one, wait_until


def publish(db: Db, *bodies: str, **options: Any) -> list[int]:
    level = options.get("level", 0)
    return one(  # type: ignore[no-any-return]
        db,
        "select howdah.send_batch('events', %s::text[], headers => array_fill(%s::jsonb, array[%s]))",
        (list(bodies), Jsonb({"level": level}), len(bodies)),
    )


def got(db: Db, name: str) -> list[str]:
    return column(db, "select body from work.got where subscription = %s order by n", (f"events::{name}",))


def subscriptions(db: Db) -> list[str]:
    return column(db, "select subscription from howdah.list_subscriptions()")


def wait_subscribed(db: Db, *names: str) -> None:
    wait_until(lambda: {f"events::{name}" for name in names} <= set(subscriptions(db)))
