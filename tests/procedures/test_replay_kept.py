"""A kept message is sent again as a new one, or deleted before its time."""

from __future__ import annotations

from kept_support import HOUR, IDS, by_one, by_receive, rows, send
from policy_support import Create
from psycopg.types.json import Jsonb
from support import (
    Clock,
    Db,
    all_refused,
    column,
    one,
    receive,
)


def test_a_kept_message_is_sent_again_as_a_new_message_and_the_act_is_on_record(
    db: Db, create: Create, clock: Clock
) -> None:
    create(keep_bodies_ms=HOUR, journal_level="full", default_time_to_live_ms=60_000)
    create("other", journal_level="full")
    first = send(db, headers=Jsonb({"a": 1}), priority=7, correlation_id="c", reply_to="other", message_type="t")
    second = send(db, body="y" * 5000, delivery_mode="non-persistent")
    third = send(db, body=b"\x00")
    by_receive(db)
    assert one(db, "select howdah.replay_kept('q', dry_run => true)") == 3
    assert one(db, "select count(*) from howdah.audit_messages") == 0
    assert one(db, "select howdah.replay_kept('q', %s, reason => 'again')", ([first, first],)) == 1
    (copy,) = receive(db)
    assert copy.message_id not in (first, second, third)
    assert (copy.body, copy.headers, copy.priority, copy.correlation_id, copy.reply_to, copy.message_type) == (
        "x", {"a": 1, "howdah_replayed_from": first}, 7, "c", "other", "t"
    )  # fmt: skip
    assert copy.expires_at is not None
    assert copy.sent_at == clock.now
    assert one(db, "select howdah.replay_kept('q', target => 'other', max_messages => 3)") == 3
    assert [(m.body, m.bytes, m.delivery_mode, m.headers["howdah_replayed_from"]) for m in receive(db, "other", 9)] == [
        ("x", None, "persistent", first),
        ("y" * 5000, None, "non-persistent", second),
        (None, b"\x00", "persistent", third),
    ]
    assert one(db, "select count(*) from howdah.browse_kept('q')") == 4
    assert one(db, "select count(*) from howdah.browse_kept('other')") == 0
    acts = rows(db, "select act, queue, other_queue, reason, array_agg(message_id order by message_id) from"
                    " howdah.audit_acts group by act_id, act, queue, other_queue, reason order by act_id")  # fmt: skip
    assert acts[0] == ("resent", "q", "q", "again", [first, copy.message_id])
    assert acts[1][:4] == ("resent", "q", "other", None)
    assert len(acts[1][4]) == 6
    assert column(db, "select count(*) from howdah.audit_journal where event = 'sent' and message_id = any (%s)"
                      " group by message_id", (acts[1][4],)) == [1] * 6  # fmt: skip


def test_what_was_kept_in_a_time_is_sent_again_or_deleted(db: Db, create: Create, clock: Clock) -> None:
    create(keep_bodies_ms=HOUR)
    create("other")
    numbers = []
    times = []
    for _ in range(4):
        clock.advance(1)
        numbers.append(send(db))
        by_one(db)
        times.append(clock.now)
    again = "select howdah.replay_kept('q', target => 'other', kept_from => %s, kept_before => %s)"
    assert one(db, again, (times[1], times[3])) == 2
    assert [m.headers["howdah_replayed_from"] for m in receive(db, "other", 9)] == numbers[1:3]
    assert one(db, "select howdah.delete_kept('q', kept_before => %s, reason => 'law')", (times[1],)) == 1
    assert one(db, "select howdah.delete_kept('q', %s)", ([numbers[0], numbers[1], 5],)) == 1
    assert column(db, IDS) == numbers[2:]
    reasons = column(db, "select reason from howdah.list_acts('q') where act = 'purged'")
    assert reasons == ["1 kept messages", "1 kept messages: law"]


def test_bad_calls_for_kept_messages_are_refused_and_send_nothing(db: Db, create: Create) -> None:
    create(keep_bodies_ms=HOUR, max_message_bytes=10)
    create("small", max_message_bytes=1)
    create("shut")
    one(db, "select howdah.pause('shut')")
    one(db, "select howdah.create_topic('t')")
    subscription = one(db, "select howdah.subscribe('t', 's')")
    number = send(db, body="12")
    by_one(db)
    all_refused(
        db,
        [
            ("HD005", "select howdah.replay_kept('q', max_messages => -1)"),
            ("HD005", "select howdah.replay_kept('q', array[1], kept_from => now())"),
            ("HD005", f"select howdah.replay_kept('q', target => '{subscription}')"),
            ("HD005", "select howdah.delete_kept('q', array[1], kept_before => now())"),
            ("HD001", "select howdah.replay_kept('q', target => 't')"),
            ("HD001", "select howdah.replay_kept('nowhere')"),
            ("HD001", "select howdah.delete_kept('t')"),
            ("HD007", "select howdah.replay_kept('q', target => 'small')"),
            ("HD008", "select howdah.replay_kept('q', target => 'shut')"),
            ("HD013", f"select howdah.replay_kept('q', array[{number}, 5])"),
            ("HD013", f"select howdah.replay_kept('q', array[{number}, null])"),
            ("HD004", "select howdah.create_queue('x', '{\"keep_bodies_ms\": 0}')"),
            ("HD004", f"select howdah.alter_queue('{subscription}', '{{\"keep_bodies_ms\": 1}}')"),
        ],
    )
    assert one(db, "select count(*) from howdah.audit_messages") == 0
