"""A database restored into another cluster: topics are refused until their cursors fit its transaction numbers."""

import pytest
from support import Clock, Connect, Db, fail, one, receive, refused
from topics_support import bodies, consume, publish, rotate, stored, subscribe, topic

# As a dump from a cluster that was a thousand million transactions further would bring them.
MOVED = """
create function pg_temp.later(xid8) returns xid8 language sql as
$$ select case when $1 = '3'::xid8 then $1 else ($1::text::bigint + 1000000000)::text::xid8 end $$;
create function pg_temp.later(pg_snapshot) returns pg_snapshot language sql as
$$ select (pg_temp.later(pg_snapshot_xmin($1))::text || ':' || pg_temp.later(pg_snapshot_xmax($1))::text || ':'
    || coalesce((select string_agg(pg_temp.later(x)::text, ',' order by x)
        from pg_snapshot_xip($1) x), ''))::pg_snapshot $$;
update howdah.topic_msgs_0 set xid = pg_temp.later(xid);
update howdah.topic_msgs_1 set xid = pg_temp.later(xid);
update howdah.topic_msgs_2 set xid = pg_temp.later(xid);
update howdah.acked set xid = pg_temp.later(xid);
update howdah.ack_cursors set xid = pg_temp.later(xid), snapshot = pg_temp.later(snapshot);
update howdah.engine set system_identifier = system_identifier + 1;
truncate howdah.topic_nonpersistent_0, howdah.topic_nonpersistent_1, howdah.topic_nonpersistent_2;
select setval('howdah.topic_checked', 1);
"""


def test_a_restored_database_refuses_topics_until_they_are_rebased_and_then_loses_and_doubles_nothing(
    db: Db, clock: Clock, connect: Connect
) -> None:
    topic(db, retain_ms=3_600_000)
    plain = subscribe(db, "plain")
    shared = subscribe(db, "shared", shared=True)
    chosen = subscribe(db, "chosen", selector="n > 2", options={"prioritized": True})
    done = subscribe(db, "done")
    late = connect()
    with late.transaction():
        publish(late, "late", headers={"n": 9}, priority=9)
        sent = [publish(db, str(n), headers={"n": n}, priority=n)[0] for n in range(5)]
        publish(db, "gone", delivery_mode="non-persistent")
        assert bodies(db, plain, 2) == ["0", "1"]
        fail(db, sent[2], plain, delay="1 h")
        with db.transaction():
            receive(db, shared, 9, "receive_locked")
            consume(db, shared, sent[3])
        assert bodies(db, chosen, 1) == ["4"]
    rotate(db, clock)
    assert len(bodies(db, done)) == 7
    db.execute(MOVED.encode())

    for query in (
        f"select howdah.receive('{plain}')",
        f"select howdah.receive_locked('{shared}')",
        f"select howdah.seek_subscription('{plain}', '-infinity')",
        "select howdah.subscribe('t', 'new')",
        f"select howdah.purge_queue('{plain}')",
        "select howdah.send('t', 'x')",
        "select howdah.send_batch('t', array['x'])",
        "select howdah.maintain_topics()",
    ):
        assert "rebase_topics" in (refused(db, "HD025", query).message_hint or "")
    refused(connect("howdah_consumer"), "42501", "select howdah.rebase_topics()")
    assert one(db, "select howdah.rebase_topics()")
    refused(db, "HD005", "select howdah.rebase_topics()")

    publish(db, "new", headers={"n": 3})
    assert bodies(db, plain) == ["late", "3", "4", "new"]
    assert bodies(db, shared) == ["late", "0", "1", "2", "4", "new"]
    assert bodies(db, chosen) == ["late", "new", "3"]
    assert bodies(db, done) == ["new"]
    clock.advance(3600)
    assert [(m.body, m.delivery_count) for m in receive(db, plain, 9)] == [("2", 2)]
    assert [bodies(db, name) for name in (plain, shared, chosen, done)] == [[], [], [], []]
    for _ in range(4):
        rotate(db, clock)
    assert stored(db) == 0
    publish(db, "last", headers={"n": 9})
    assert [bodies(db, name) for name in (plain, shared, chosen, done)] == [["last"]] * 4


@pytest.mark.parametrize("role", ["producer", "auditor"])
def test_only_administrators_rebase(connect: Connect, role: str) -> None:
    refused(connect(f"howdah_{role}"), "42501", "select howdah.rebase_topics()")
