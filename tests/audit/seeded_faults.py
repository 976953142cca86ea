"""One fault of each kind, each in a queue of its own."""

import itertools

from psycopg.types.json import Jsonb
from support import SYSTEM, Db, one

from .traffic import fail, receive, send


def queue(db: Db, name: str, **options: object) -> int:
    """A queue with a full journal that has been there since yesterday."""
    number: int = one(db, "select howdah.create_queue(%s, %s)", (name, Jsonb({"journal_level": "full"} | options)))
    return number


def journal(db: Db, number: int, event: str, ids: list[int], ago: str = "0") -> None:
    """Forge a row of the journal."""
    db.execute(
        "insert into howdah.journal (at, destination_id, event, message_ids)"
        " values (clock_timestamp() - %s::interval, %s, %s, %s)",
        (ago, number, event, ids),
    )


def corrupt(db: Db) -> dict[str | None, int]:
    """Do the damage; the message of each queue that a sample must name."""
    at: dict[str | None, int] = {}
    queue(db, "missing")
    at["missing"], *_ = send(db, "missing", 2)
    db.execute("delete from howdah.msgs where message_id = %s", (at["missing"],))

    number = queue(db, "nowhere")
    at["nowhere"] = one(
        db,
        "insert into howdah.msgs (seq, message_id, sent_at, destination_id, rank, is_text, content_type, body)"
        " values (9, 9000000 + %s, clock_timestamp(), %s, 5, true, 'text/plain', 'x') returning message_id",
        (number, number),
    )

    # Beside a queue that does not record what it moves away.
    silent = queue(db, "silent", journal_level="off")
    for name, origin in (("unsent", None), ("elsewhere", number), ("nobody", silent + 100_000)):
        mine = queue(db, name)
        at[name] = 8_000_000 + (origin or mine)
        journal(db, mine, "consumed", [at[name]])

    for name in ("topic", "pair", "news"):
        one(db, 'select howdah.create_topic(%s, \'{"journal_level": "full"}\')', (name,))
    db.execute(
        "select howdah.subscribe('topic', 'unsent'), howdah.subscribe('pair', 'twice'),"
        " howdah.subscribe('news', 'stale')"
    )
    unsent, again = send(db, "topic", 1)[0], send(db, "pair", 1)[0]
    assert receive(db, "topic::unsent") == [unsent]
    assert receive(db, "pair::twice") == [again]
    db.execute("delete from howdah.journal where event = 'sent' and message_ids = %s::bigint[]", ([unsent],))
    db.execute("update howdah.journal set message_ids = message_ids || %s::bigint where event = 'consumed'"
               " and message_ids = %s::bigint[]"
               " and destination_id = (select id from howdah.destinations where name = 'pair::twice')",
               (again, [again]))  # fmt: skip
    at |= {"topic::unsent": unsent, "pair::twice": again}

    number = queue(db, "twice")
    at["twice"], *_ = send(db, "twice", 1)
    receive(db, "twice")
    journal(db, number, "consumed", [at["twice"]])

    number = queue(db, "resent")
    at["resent"], *_ = send(db, "resent", 1)
    journal(db, number, "sent", [at["resent"]])

    number = queue(db, "hours")
    at["hours"], *_ = send(db, "hours", 1)
    db.execute("delete from howdah.msgs where message_id = %s", (at["hours"],))
    journal(db, number, "consumed", [at["hours"]], "2 hours")

    number = queue(db, "late")
    at["late"], *_ = send(db, "late", 1, time_to_live="1 hour")
    receive(db, "late")
    db.execute("update howdah.journal set expires_at = array[at - interval '1 hour']"
               " where event = 'sent' and destination_id = %s", (number,))  # fmt: skip

    at["news::stale"], *_ = send(db, "news", 1, time_to_live="1 hour")
    assert receive(db, "news::stale") == [at["news::stale"]]
    db.execute("update howdah.journal set expires_at = array[at - interval '1 hour'] where event = 'sent'"
               " and message_ids = %s::bigint[]", ([at["news::stale"]],))  # fmt: skip

    number = queue(db, "early")
    at["early"], *_ = send(db, "early", 1, time_to_live="1 hour")
    db.execute("delete from howdah.msgs where message_id = %s", (at["early"],))
    journal(db, number, "expired", [at["early"]])

    number = queue(db, "groups", message_groups="transaction")
    first, second = (one(db, "select howdah.send('groups', 'x', headers => %s)", (Jsonb({"JMSXGroupID": "g"}),))
                     for _ in range(2))  # fmt: skip
    assert [receive(db, "groups"), receive(db, "groups")] == [[first], [second]]
    at["groups"] = second
    db.execute("update howdah.destinations set created_at = created_at - interval '40 minutes',"
               " journal_level_at = journal_level_at - interval '40 minutes' where id = %s", (number,))  # fmt: skip
    db.execute("update howdah.journal set at = at - case when event = 'sent' then interval '30 minutes'"
               " when %s = any (message_ids) then interval '10 minutes' else interval '0' end"
               " where destination_id = %s", (second, number))  # fmt: skip

    queue(db, "ended", max_failed_deliveries=2)
    at["ended"], *_ = send(db, "ended", 1)
    assert fail(db, "ended", at["ended"], 2) == "moved"
    db.execute("insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt,"
               " stage, outcome, recorded_by)"
               " select message_id, recorded_at, destination_id, 3, stage, 'returned', recorded_by"
               " from howdah.poison_details"
               " where message_id = %s and attempt = 2", (at["ended"],))  # fmt: skip

    number = queue(db, "stubborn", max_failed_deliveries=3)
    at["stubborn"], *_ = send(db, "stubborn", 1)
    assert fail(db, "stubborn", at["stubborn"], 2) == "returned"
    db.execute("insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
               " recorded_by, dispose_at)"
               " select message_id, recorded_at, destination_id, n, stage, outcome, recorded_by, dispose_at"
               " from howdah.poison_details, generate_series(3, 4) n"
               " where message_id = %s and attempt = 2", (at["stubborn"],))  # fmt: skip

    number = queue(db, "strange")
    at["strange"] = 4_000_000 + number
    db.execute("insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt,"
               " stage, outcome, recorded_by)"
               " values (%s, clock_timestamp(), %s, 1, 0, 'returned', 'x')", (at["strange"], number))  # fmt: skip

    for name, change in {
        "body": "body = 'another'",
        "headers": "headers = '{\"a\": 2}'",
        "sent.at": "sent_at = sent_at - interval '3 hours'",
        "priority": "rank = 0",
        "expires.at": "expires_at = clock_timestamp() - interval '1 second'",
    }.items():
        queue(db, name)
        at[name], _ = send(db, name, 2, headers=[Jsonb({"a": 1}), None])
        db.execute(f"update howdah.msgs set {change} where message_id = %s", (at[name],))

    for name, change in {"falsely.expired": "event = 'expired'", "mode": "nonpersistent = true"}.items():
        number = queue(db, name)
        at[name], _ = send(db, name, 2)
        receive(db, name)
        db.execute(f"update howdah.journal set {change} where destination_id = %s and event = 'consumed'", (number,))

    for name, level, lost in (
        ("assured.lost", "ASSURED_PERSISTENT", "lost"),
        ("express.lost", "EXPRESS_NONPERSISTENT", "RESOURCES"),
        ("reliable.lost", "RELIABLE_NONPERSISTENT", "SENDER_GONE"),
    ):
        number = queue(db, name)
        at[name] = one(db, "select howdah.send(%s, 'x', reliability => %s)", (name, level))
        receive(db, name)
        db.execute(
            "update howdah.journal set event = %s, reason = %s, reliability = 0 + case when %s then 2 end"
            " where event = 'consumed' and destination_id = %s",
            ("lost" if lost == "lost" else "discarded", lost, name == "reliable.lost", number),
        )
    queue(db, "level")
    at["level"] = one(db, "select howdah.send('level', 'x')")
    db.execute("update howdah.msgs set reliability = 3 where message_id = %s", (at["level"],))
    # What their levels allow is no fault.
    number = queue(db, "allowed")
    for rank, reason in (
        (0, "RESOURCES"),
        (0, "NOT_STORED: full"),
        (0, "LINK_AWAY: far"),
        (0, "SENDER_GONE"),
        (1, "SENDER_GONE"),
    ):
        name = ("BEST_EFFORT_NONPERSISTENT", "EXPRESS_NONPERSISTENT")[rank]
        gone = one(db, "select howdah.send('allowed', 'x', reliability => %s)", (name,))
        receive(db, "allowed")
        db.execute(
            "update howdah.journal set event = 'discarded', reason = %s, reliability = %s"
            " where event = 'consumed' and message_ids = array[%s::bigint]",
            (reason, rank, gone),
        )

    swapped = ("swapped.here", "swapped.there")
    for name in swapped:
        queue(db, name)
        at[name] = one(db, "select howdah.send(%s, %s)", (name, f"for {name}"))
    db.execute("update howdah.msgs m set body = o.body from howdah.msgs o where m.message_id <> o.message_id"
               " and m.message_id = any (%s) and o.message_id = any (%s)",
               [[at[name] for name in swapped]] * 2)  # fmt: skip

    expired_not_consumed = (
        "update howdah.journal set event = 'expired' where destination_id = %s and event = 'consumed' returning reason"
    )
    number = queue(db, "falsely.held")
    at["falsely.held"], _ = send(db, "falsely.held", 2)
    lease = one(db, "select lease from howdah.lease('falsely.held', 1, '1 hour')")
    assert one(db, "select howdah.ack('falsely.held', %s)", (lease,)) == 1
    assert one(db, expired_not_consumed, (number,)) == "held"

    queue(db, "moved.from")
    number = queue(db, "falsely.moved")
    at["falsely.moved"], *_ = send(db, "moved.from", 1)
    assert one(db, "select howdah.move_all('moved.from', 'falsely.moved')") == 1
    assert receive(db, "falsely.moved") == [at["falsely.moved"]]
    assert one(db, expired_not_consumed, (number,)) is None

    number = queue(db, "falsely.dead")
    queue(db, "died.from", max_failed_deliveries=1, exception_queue="falsely.dead")
    at["falsely.dead"], *_ = send(db, "died.from", 1, time_to_live="1 hour")
    assert fail(db, "died.from", at["falsely.dead"]) == "moved"
    assert receive(db, "falsely.dead") == [at["falsely.dead"]]
    assert one(db, expired_not_consumed, (number,)) is None

    for name, change in {
        "origin": "origin_id = 1",
        "cleared": "dead_at = null",
        "reason": "dead_reason = 'forged'",
    }.items():
        queue(db, f"{name}.dead")
        queue(db, name, max_failed_deliveries=1, exception_queue=f"{name}.dead")
        at[f"{name}.dead"], innocent = send(db, name, 2)
        assert [fail(db, name, message) for message in (at[f"{name}.dead"], innocent)] == ["moved"] * 2
        db.execute(f"update howdah.msgs set {change} where message_id = %s", (at[f"{name}.dead"],))

    queue(db, "ahead")
    at["ahead"], *_ = send(db, "ahead", 1)
    db.execute("update howdah.msgs set sent_at = sent_at + interval '1 hour' where message_id = %s", (at["ahead"],))

    number = queue(db, "journal.ahead")
    at["journal.ahead"], *_ = send(db, "journal.ahead", 1)
    db.execute("update howdah.journal set at = at + interval '50 minutes' where destination_id = %s", (number,))

    for name, change in (("failed.ahead", "+"), ("failed.early", "-")):
        queue(db, name)
        at[name], *_ = send(db, name, 1)
        assert fail(db, name, at[name]) == "returned"
        db.execute(f"update howdah.poison_details set recorded_at = recorded_at {change} interval '1 hour'"
            " where message_id = %s",
                   (at[name],))  # fmt: skip

    for name, change in {
        "failed.text": "update howdah.poison_details set error_text = 'yes'",
        "failed.time": "update howdah.poison_details set recorded_at = recorded_at + interval '1 microsecond'",
        "failed.less": "delete from howdah.poison_details",
    }.items():
        queue(db, name)
        at[name], innocent = send(db, name, 2)
        assert [fail(db, name, message, 3) for message in (at[name], innocent)] == ["returned"] * 2
        db.execute(f"{change} where message_id = %s and attempt = 2", (at[name],))

    queue(db, "dead.ahead", max_failed_deliveries=1)
    at[SYSTEM], *_ = send(db, "dead.ahead", 1)
    assert fail(db, "dead.ahead", at[SYSTEM]) == "moved"
    db.execute("update howdah.msgs set dead_at = dead_at + interval '1 hour' where message_id = %s", (at[SYSTEM],))

    for name, holder in itertools.product(("gap", "last", "sound"), "abc"):
        epoch = one(db, "select howdah.acquire_lock(%s, %s)", (name, holder))
        db.execute("select howdah.release_lock(%s, %s, %s)", (name, epoch, holder))
    db.execute("delete from howdah.lock_epochs where name = 'gap' and epoch = 2")
    db.execute("update howdah.lock set epoch = 7 where name = 'last'")

    number = queue(db, "hasty", redelivery_delay_ms=3_600_000)
    received, failed, retried, held, other = send(db, "hasty", 5)
    for message in (received, failed, retried, held):
        assert fail(db, "hasty", message) == "delayed"
    lease = one(db, "select lease from howdah.lease('hasty', 1, '1 hour')")
    assert fail(db, "hasty", other) == "held"
    assert one(db, "select howdah.ack('hasty', %s)", (lease,)) == 1
    db.execute("delete from howdah.parked where message_id = any (%s)", ([received, held],))
    journal(db, number, "consumed", [received])
    journal(db, number, "consumed", [held])
    db.execute("update howdah.journal set reason = 'held' where message_ids = %s::bigint[]", ([held],))
    db.execute("insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
               " recorded_by, due_at, duration_ms)"
               " select message_id, recorded_at + interval '9 ms', destination_id, 2, stage, outcome, recorded_by,"
               " due_at, 5 from howdah.poison_details"
               " where message_id = %s", (failed,))  # fmt: skip
    one(db, "select howdah.retry('hasty', %s)", ([retried],))
    assert receive(db, "hasty") == [retried]
    at["hasty"] = received

    number = queue(db, "backdated")
    at["backdated"], *_ = send(db, "backdated", 1)
    db.execute("update howdah.journal set at = at - interval '5 hours' where destination_id = %s", (number,))
    return at
