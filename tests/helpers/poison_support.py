"""Dead messages of two queues."""

from command import howdah
from support import Db


def three_dead(dsn: str, db: Db) -> list[int]:
    """Make two messages of queue a and one of queue b, dead after two failures each; their numbers."""
    ids = []
    for queue, body in (("a", "first"), ("a", "second"), ("b", "third")):
        if body != "second":
            howdah(dsn, "queue", "create", queue, "-o", "max_failed_deliveries=2")
        message = howdah(dsn, "send", queue, body, "-H", "k=v", "--json").json["message_id"]
        for attempt in (1, 2):
            db.execute(
                "select howdah.record_failure(%s, %s, error_text => %s, error_class => 'ValueError',"
                " traceback => %s, sqlstate => 'P0001', duration_ms => 7)",
                (queue, message, f"bad {body} {attempt}", f"Traceback of {body}\n  line {attempt}"),
            )
        ids.append(message)
    return ids
