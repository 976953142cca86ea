"""Traffic of every kind, so that each term of the identity is met."""

import time

from support import Db, one


def send(db: Db, queue: str, count: int, **options: object) -> list[int]:
    """Send a batch; options are named arguments of howdah.send_batch."""
    names = "".join(f", {name} => %s" for name in options)
    bodies = [f"body {number}" for number in range(count)]
    ids: list[int] = one(db, f"select howdah.send_batch(%s, %s::text[]{names})", [queue, bodies, *options.values()])
    return ids


def receive(db: Db, queue: str, count: int = 1) -> list[int]:
    rows = db.execute("select message_id from howdah.receive(%s, %s)", [queue, count]).fetchall()
    return [row[0] for row in rows]


def fail(db: Db, queue: str, message_id: int, times: int = 1) -> str:
    """Record failures of a message that is free; the last outcome."""
    for _ in range(times):
        outcome: str = one(db, "select outcome from howdah.record_failure(%s, %s, 'no')", [queue, message_id])
    return outcome


def live_through_everything(db: Db, queue: str, level: str) -> None:
    """One queue with each fate of a message: 28 sent, some persistent and some not."""
    dead = f"{queue}.dead"
    db.execute("select howdah.create_queue(%s, jsonb_build_object('journal_level', %s::text))", [dead, level])
    db.execute(
        "select howdah.create_queue(%s, jsonb_build_object('journal_level', %s::text, 'exception_queue', %s::text,"
        " 'max_failed_deliveries', 2))",
        [queue, level, dead],
    )
    replayed, buried, discarded, consumed_dead, *_ = send(db, queue, 12)
    for message in (replayed, buried, discarded, consumed_dead):
        assert fail(db, queue, message, 2) == "moved"
    db.execute("select howdah.replay(%s, %s)", [dead, [replayed]])
    fail(db, queue, replayed, 2)
    db.execute("select howdah.replay(%s, %s)", [dead, [replayed]])
    db.execute("select howdah.discard(%s, %s, 'test')", [dead, [discarded]])
    # Dead again in the exception queue, and from there in the system's one.
    assert fail(db, dead, consumed_dead, 5) == "moved"
    send(db, queue, 3, delay="1 hour")
    send(db, queue, 3, delivery_mode="non-persistent")
    send(db, queue, 2, delivery_mode="non-persistent", delay="1 hour")
    send(db, queue, 3, time_to_live="1 millisecond", priorities=[9, 9, 9])
    time.sleep(0.01)
    assert len(receive(db, queue, 8)) == 8
    db.execute("select howdah.alter_queue(%s, '{\"redelivery_delay_ms\": 3600000}')", [queue])
    waiting = send(db, queue, 1)[0]
    assert fail(db, queue, waiting) == "delayed"
    send(db, queue, 4)
