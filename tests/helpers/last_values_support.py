"""Last values of keys in the queue q."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb
from support import (
    Db,
    one,
)

KEY = "stock"
DISCARDED = (
    "select message_id from howdah.audit_journal where event = 'discarded' and reason = 'replaced by a later value'"
    " order by at, message_id"
)
BODIES = "select body from howdah.browse('q', 1000)"


def quote(db: Db, key: str | None, body: str, **more: Any) -> int:
    given = {"body": body, "headers": Jsonb({KEY: key} if key is not None else {"other": 1}), **more}
    arguments = ", ".join(f"{name} => %({name})s" for name in given)
    number: int = one(db, f"select howdah.send('q', {arguments})", given)
    return number
