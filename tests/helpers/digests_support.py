"""Queues through which so many messages went that digests prove them by ranges."""

from support import Db, one

from howdah.audit import AuditResult
from howdah.audit.digests import WORD

MESSAGES = 100 * WORD

FILL = (
    "insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)"
    " select %(begun)s + (n * %(pace)s + %(later)s) * interval '1 millisecond', d.id, %(event)s,"
    " array[(n + 1000000::bigint) * 1000000 + d.id], %(begun)s + n * %(pace)s * interval '1 ms'"
    " from generate_series(1, %(messages)s) n cross join howdah.destinations d where d.name = %(queue)s"
)
"""As single messages leave it: one sent every ``pace`` milliseconds, and consumed ``later``."""


def fill(
    db: Db, queue: str, *, level: str = "full", messages: int = MESSAGES, pace: float = 0.1, later: int = 1
) -> int:
    """A queue that was made two hours ago, through which messages went; its number."""
    number: int = one(
        db, "select howdah.create_queue(%s, jsonb_build_object('journal_level', %s::text))", (queue, level)
    )
    db.execute("update howdah.destinations set created_at = now() - interval '2 hours', journal_level_at ="
               " now() - interval '2 hours' where id = %s", (number,))  # fmt: skip
    begun = one(db, "select now() - interval '30 minutes'")
    for event in ("sent", "consumed") if level == "full" else ("consumed",):
        values = {"queue": queue, "event": event, "messages": messages, "pace": pace, "begun": begun}
        db.execute(FILL, values | {"later": later if event == "consumed" else 0})
    return number


def shares(result: AuditResult) -> dict[str | None, tuple[int, int]]:
    """Of each queue, how many ranges were proved by digest and how many by row."""
    return {queue.queue: (queue.by_digest, queue.by_row) for queue in result.coverage}
