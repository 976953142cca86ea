"""Digests sum up what the journal has, message by message, for auditors alone."""

import psycopg
import pytest
from psycopg.types.json import Jsonb
from support import Connect, Db, one


@pytest.fixture
def queue(db: Db) -> str:
    db.execute("select howdah.create_queue('q')")
    return "q"


def test_digests_sum_up_what_the_journal_has(db: Db, connect: Connect) -> None:
    queues: dict[str, dict[str, object]] = {
        "plain": {},
        "grouped": {"message_groups": "transaction"},
        "dead": {},
        "failing": {"max_failed_deliveries": 1, "exception_queue": "dead"},
    }
    for name, options in queues.items():
        one(db, "select howdah.create_queue(%s, %s)", (name, Jsonb({"journal_level": "full"} | options)))
    one(db, "select howdah.create_topic('news', '{\"journal_level\": \"full\"}')")
    db.execute("select howdah.subscribe('news', 'reader')")
    for name in ("plain", "failing", "news"):
        one(db, "select howdah.send_batch(%s, array_fill('x'::text, array[150]))", (name,))
    for body in range(3):
        one(db, "select howdah.send('plain', %s::text, time_to_live => '1 hour')", (str(body),))
        one(db, "select howdah.send('grouped', 'x', headers => '{\"JMSXGroupID\": \"g\"}')")
    seen_by = one(db, "select pg_current_snapshot()::text")
    for name, count in (("plain", 1), ("plain", 100), ("grouped", 1), ("news::reader", 150)):
        assert len(db.execute("select * from howdah.receive(%s, %s)", (name, count)).fetchall()) == count
    failed = one(db, "select message_id from howdah.browse('failing') limit 1")
    assert one(db, "select outcome from howdah.record_failure('failing', %s, 'no')", (failed,)) == "moved"

    auditor = connect("howdah_auditor")
    in_view = (
        "select word, case when d.kind = 'queue' and event in ('sent', 'consumed') and group_id is null then event end"
        " as event, nonpersistent, count(*), bit_or(1::bigint << (message_id / 1000000 %% 64)::integer), min(at),"
        " max(at), count(*) filter (where not pg_visible_in_snapshot(xid::text::xid8, %s)), min(j.expires_at)"
        " from howdah.audit_journal j join howdah.audit_destinations d"
        " on d.destination_id = message_id %% 1000000 and d.kind = 'queue' group by 1, 2, 3 order by 1, 2, 3"
    )
    in_digests = (
        "select word, event, nonpersistent, sum(messages)::bigint, bit_or(numbers), min(first_at), max(last_at),"
        " sum(newer)::bigint, min(first_expires_at) from howdah.audit_digests(since => %s)"
        " join howdah.audit_destinations d on d.destination_id = word %% 1000000 and d.kind = 'queue'"
        " group by 1, 2, 3 order by 1, 2, 3"
    )
    told = auditor.execute(in_digests, (seen_by,)).fetchall()
    # What a group's message ended as is like any other end: its send tells that it is special.
    assert told == auditor.execute(in_view.encode(), (seen_by,)).fetchall()
    assert {row[1] for row in told} == {"sent", "consumed", None}
    assert 0 < sum(row[7] for row in told) < sum(row[3] for row in told)
    whole = (
        "select coalesce(sum(messages), 0), count(*) filter (where xids is not null) > 0 from howdah.audit_digests({})"
    )
    rows = one(auditor, "select count(*) from howdah.audit_journal")
    assert auditor.execute(whole.format("").encode()).fetchall() == [(rows, True)]
    parts = [auditor.execute(whole.format(part).encode()).fetchall()[0][0] for part in ("0, 1", "1, 2, rest => 1", "2")]
    assert sum(parts) == rows
    salted = "select bit_xor(moments) from howdah.audit_digests(salt => {}) where event = 'sent'"
    assert one(auditor, salted.format(1)) == one(auditor, salted.format(1)) != one(auditor, salted.format(2))
    for role in ("howdah_consumer", "howdah_producer", "howdah_browser"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect(role).execute("select * from howdah.audit_digests()")


def test_digests_sum_up_each_message_of_an_array_whatever_its_bounds(db: Db, queue: str) -> None:
    id = one(db, "select id from howdah.destinations where name = 'q'")
    first, second = 5_000_000 + id, 6_000_000 + id
    for numbers in (
        f"{{{first}}}",
        f"[0:0]={{{first}}}",
        f"[7:8]={{{first},{second}}}",
        f"{{{{{first},{second}}}}}",
        f"{{{{{first}}},{{{second}}}}}",
        f"[0:0][0:0]={{{{{first}}}}}",
    ):
        with db.transaction(force_rollback=True):
            db.execute("delete from howdah.journal")
            db.execute(
                "insert into howdah.journal (at, destination_id, event, message_ids, oldest_sent_at)"
                " values (howdah.now(), %s, 'consumed', %s, howdah.now())",
                (id, numbers),
            )
            found = db.execute(
                "select sum(messages), bit_or(numbers) from howdah.audit_digests() where word = %s", (id,)
            ).fetchone()
            assert found == ((2, 96) if str(second) in numbers else (1, 32)), numbers
