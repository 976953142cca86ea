"""What a selector's looks find ahead is a hint: whatever happens to it, each message is received once, if selected."""

from __future__ import annotations

import os
import random
from collections import Counter
from contextlib import suppress

import psycopg
import pytest
from chance import seeds, use
from policy_support import Create
from psycopg.types.json import Jsonb
from selected import SELECTOR, fill, take
from support import Connect, Db, column, measured, one

CANDIDATES = "select coalesce(sum(cardinality(seqs)), 0)::integer from howdah.candidates"


@pytest.fixture(autouse=True)
def queue(create: Create) -> None:
    create(redelivery_delay_ms=0)


@pytest.fixture
def ahead(db: Db) -> None:
    """60,000 messages, of which the last 40,000 have one in a hundred that is selected; some are known."""
    fill(db, 20_000, every=1_000_000)
    fill(db, 40_000)
    assert len(take(db, 3)) == 3
    while one(db, CANDIDATES) <= 10:  # the first looks are short
        assert len(take(db)) == 1


@pytest.mark.usefixtures("ahead")
def test_what_was_found_ahead_is_taken_by_its_key_and_in_its_order(db: Db) -> None:
    took = take(db, 3)
    assert took == sorted(took)
    read = [measured(db, f"select howdah.receive('q', 1, selector => '{SELECTOR}')")["Buffers"] for _ in range(9)]
    assert sorted(read)[4] < 200, "one in a hundred, and 9 messages on each page: to look costs more"


@pytest.mark.usefixtures("ahead")
def test_a_rolled_back_message_comes_first_again(db: Db, connect: Connect) -> None:
    other = connect()
    with other.transaction(force_rollback=True):
        first = take(other, 2)
        assert take(db) > first, "what others have is passed over"
    assert take(db, 2) == first


@pytest.mark.slow
@pytest.mark.usefixtures("ahead")
def test_a_message_that_somebody_else_took_is_left_out(db: Db) -> None:
    known = one(db, "select message_ids[cardinality(message_ids)] from howdah.candidates order by upto desc limit 1")
    assert one(db, "select count(*) from howdah.receive_message('q', %s)", (known,)) == 1
    assert known not in [message for _ in range(500) for message in take(db)]


@pytest.mark.slow
@pytest.mark.usefixtures("ahead")
def test_a_message_committed_behind_what_was_looked_through_is_found(db: Db, connect: Connect) -> None:
    late = connect()
    with late.transaction():
        ours = one(late, "select howdah.send('q', 'late', headers => %s)", (Jsonb({"w": 7}),))
        fill(db, 20_000)
        while one(db, "select coalesce(max(upto), 0) from howdah.candidates") < ours // 1_000_000:
            assert len(take(db, 3)) == 3
    found: list[int] = []
    while ours not in found:
        found += take(db, 5)
    assert len(found) == len(set(found))


@pytest.mark.slow
@pytest.mark.usefixtures("ahead")
def test_a_message_in_use_does_not_keep_a_late_one_from_being_found(db: Db, connect: Connect) -> None:
    holder, late = connect(), connect()
    with holder.transaction(), late.transaction():
        assert len(take(holder, 2)) == 2
        ours = one(late, "select howdah.send('q', 'late', headers => %s)", (Jsonb({"w": 7}),))
        fill(db, 5_000, every=1_000_000)
        while take(db, 20):
            pass
        late.execute("commit")
        assert [message for _ in range(200) for message in take(db)] == [ours]
        late.execute("begin")


@pytest.mark.usefixtures("ahead")
def test_a_look_that_was_rolled_back_leaves_nothing_behind(db: Db, connect: Connect) -> None:
    db.execute("delete from howdah.candidates")
    other = connect()
    with other.transaction(force_rollback=True):
        first = take(other)
    assert one(db, CANDIDATES) == 0
    assert take(db) == first


def forge(db: Db, chosen: random.Random) -> None:
    """Anything may stand in a hint."""
    head, search = db.execute("select head, search from howdah.selections where head is not null").fetchone() or (
        "",
        "",
    )
    last = one(db, "select pg_sequence_last_value(positions) from howdah.destinations where name = 'q'")
    if chosen.random() < 0.3:
        db.execute("delete from howdah.candidates")
    elif chosen.random() < 0.5:
        positions = sorted(chosen.sample(range(1, last), 20))
        db.execute(
            "insert into howdah.candidates select d.id, md5(%(s)s)::uuid, d.main_rank, %(u)s, %(a)s, %(s)s, %(p)s,"
            " %(m)s, 5 from howdah.destinations d where d.name = 'q' on conflict do nothing",
            {
                "s": SELECTOR,
                "u": positions[-1],
                "a": positions[0] - 1,
                "p": positions,
                "m": [chosen.choice((p * 1_000_000 + 1, 1)) for p in positions],
            },
        )
        db.execute("delete from howdah.candidates where message_ids && array[1::bigint] and random() < 0.9")
    elif head:
        db.execute("select setval(%s::regclass, %s)", (search, chosen.randint(0, 2**50)))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(int(os.environ.get("HOWDAH_TEST_LISTED", "2"))))
def test_random_schedules_lose_nothing_and_double_nothing(db: Db, connect: Connect, number: int) -> None:
    """Four sessions, which hold what they took, come back, commit late, and lease."""
    chosen = random.Random(use(seeds(number + 1)[number]))
    fill(db, 20_000, every=1_000_000)
    assert len(take(db)) == 1
    db.execute("set lock_timeout = '50ms'")
    sent: set[int] = set()
    got: Counter[int] = Counter()
    sessions = [connect() for _ in range(4)]
    held: list[list[int]] = [[] for _ in sessions]
    made: list[set[int]] = [set() for _ in sessions]
    leases: list[tuple[int, list[int]]] = []

    def end(at: int, committed: bool) -> None:
        sessions[at].execute("commit" if committed else "rollback")
        if committed:
            got.update(held[at])
            sent.update(made[at])
        held[at], made[at] = [], set()

    def step(at: int) -> None:
        session = sessions[at]
        if session.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
            session.execute("begin")
        kind = chosen.random()
        if kind < 0.5:
            held[at] += take(session, chosen.choice((1, 1, 1, 3, 40)))
        elif kind < 0.56:
            for message, headers in session.execute(
                "select message_id, headers from howdah.receive('q', %s)", (chosen.choice((1, 50)),)
            ).fetchall():
                held[at] += [message] if headers["w"] == 7 else []
        elif kind < 0.8:
            headers = [Jsonb({"w": chosen.choice((1, 1, 1, 7))}) for _ in range(chosen.choice((1, 5, 50)))]
            ids = column(
                session,
                "select unnest(howdah.send_batch('q', array_fill('x'::text, array[%s]), headers => %s::jsonb[]))",
                (len(headers), headers),
            )
            made[at].update(message for message, header in zip(ids, headers, strict=True) if header.obj["w"] == 7)
        elif kind < 0.9:
            rows = db.execute(
                "select lease, message_id from howdah.lease('q', 3, selector => %s)", (SELECTOR,)
            ).fetchall()
            if rows:
                leases.append((rows[0][0], [message for _, message in rows]))
        elif leases:
            lease, messages = leases.pop(chosen.randrange(len(leases)))
            if chosen.random() < 0.5:
                one(db, "select howdah.ack('q', %s)", (lease,))
                got.update(messages)
            else:
                one(db, "select howdah.release('q', %s)", (lease,))

    for _ in range(12):
        one(
            db,
            "select count(*) from howdah.send_batch('q', array_fill('x'::text, array[3000]), headers => (select"
            " array_agg(jsonb_build_object('w', 1)) from generate_series(1, 3000)))",
        )
        for _ in range(20):
            step(chosen.randrange(len(sessions)))
            if chosen.random() < 0.1:
                with suppress(psycopg.errors.LockNotAvailable):  # an open transaction may have recorded something
                    forge(db, chosen)
            if chosen.random() < 0.4:
                end(chosen.randrange(len(sessions)), chosen.random() < 0.6)
    for at in range(len(sessions)):
        end(at, chosen.random() < 0.6)
    for lease, _ in leases:
        one(db, "select howdah.release('q', %s)", (lease,))
    idle = 0
    while idle < 300 and set(got) != sent:
        taken = take(db, chosen.choice((1, 5)))
        got.update(taken)
        idle = 0 if taken else idle + 1
    assert sent - set(got) == set(), "lost"
    assert set(got) - sent == set(), "not selected, or never sent"
    assert max(got.values(), default=1) == 1, "doubled"


@pytest.mark.usefixtures("ahead")
def test_what_was_found_ahead_goes_with_its_selector(db: Db) -> None:
    one(db, "select howdah.drop_queue('q', force => true)")
    one(db, "select howdah.maintain_consumers()")
    assert one(db, CANDIDATES) == 0


@pytest.mark.slow
def test_a_selector_that_selects_much_finds_nothing_ahead(db: Db) -> None:
    fill(db, 20_000, every=1_000_000)
    fill(db, 20_000, every=10)
    for _ in range(100):
        assert len(take(db, 10)) == 10
    assert one(db, CANDIDATES) < 200, "where they begin, the look ended"
