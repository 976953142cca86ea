"""Causes count the last failures and the dead of each error, and say how far they looked."""

from datetime import timedelta

import pytest
from operator_acts_support import dead
from support import SYSTEM, Clock, Connect, Db, fail, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def test_causes_count_failures_messages_and_dead_and_give_a_sample(db: Db) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2}')""")
    ids = [one(db, "select howdah.send('q', 'x')") for _ in range(3)]
    for number, sent in enumerate(ids):
        fail(db, sent, error_text=f"no order {number}", error_class="KeyError")
    fail(db, ids[0], error_text="no order 99", error_class="KeyError")
    fail(db, ids[1], error_text="disk full", error_class="OSError")
    rows = db.execute(
        "select error_class, incidents, messages, dead, sample_text, sample_message, sample_queue"
        " from howdah.poison_causes()"
    ).fetchall()
    assert rows == [
        ("KeyError", 4, 3, 1, "no order 99", ids[0], "q"),
        ("OSError", 1, 1, 1, "disk full", ids[1], "q"),
    ]


def test_the_dead_of_one_cause_are_found_in_each_exception_queue_that_the_caller_may_browse(
    db: Db, connect: Connect, clock: Clock
) -> None:
    one(db, "select howdah.create_queue('q.dead')")
    dead(db)
    first = clock.now
    clock.advance(60)
    dead(db)
    dead(db, "of another cause")
    one(
        db,
        """select howdah.alter_queue('q', '{"max_failed_deliveries": 2, "exception_mode": "named",
            "exception_queue": "q.dead"}')""",
    )
    aside = one(db, "select howdah.send('q', 'x')")
    fail(db, aside, error_text="of another cause", error_class="ValueError")
    assert fail(db, aside, stage=1, error_text="broken", error_class="ValueError")[2] == "moved"
    alive = one(db, "select howdah.send('q', 'x')")
    fail(db, alive, error_text="broken", error_class="ValueError")
    cause = one(db, "select fingerprint from howdah.poison_causes() where sample_text = 'broken'")
    places = "select exception_queue, dead, first_dead_at, last_dead_at from howdah.list_poison_queues(%s)"
    assert db.execute(places, (cause,)).fetchall() == [
        (SYSTEM, 2, first, clock.now),
        ("q.dead", 1, clock.now, clock.now),
    ]
    assert one(db, "select sum(dead)::int from howdah.list_poison_queues()") == 4
    assert one(db, "select dead from howdah.poison_causes() where fingerprint = %s", (cause,)) == 3
    assert db.execute(places, ("none",)).fetchall() == []
    db.execute(
        "delete from howdah.destination_grants where verb = 'browse' and role_name = 'howdah_browser'"
        " and destination_id = (select id from howdah.destinations where name = 'q.dead')"
    )
    browser = connect("howdah_browser")
    assert [row[:2] for row in browser.execute(places, (cause,)).fetchall()] == [(SYSTEM, 2)]


def test_causes_of_one_queue_since_a_time_the_commonest_few(db: Db, clock: Clock) -> None:
    causes = "select array_agg(sample_text order by messages desc) from howdah.poison_causes(%s, %s, %s)"
    dead(db, "old")
    clock.advance(60)
    since = clock.now
    dead(db, "new")
    dead(db, "new")
    elsewhere = one(db, "select howdah.send('aside', 'x')")
    fail(db, elsewhere, "aside", error_text="elsewhere")
    assert one(db, causes, ("q", None, 10)) == ["new", "old"]
    assert one(db, causes, ("q", since, 10)) == ["new"]
    assert one(db, causes, ("aside", None, 10)) == ["elsewhere"]
    assert one(db, causes, (None, None, 1)) == ["new"]


def test_causes_are_of_the_last_failures_and_say_how_far_they_looked(db: Db, clock: Clock) -> None:
    causes = "select sample_text, incidents, dead, looked, looked_from, complete from howdah.poison_causes({})"
    dead(db, "old")
    clock.advance(60)
    since = clock.now
    dead(db, "new")
    dead(db, "new")
    assert [row[3:] for row in db.execute(causes.format("")).fetchall()] == 2 * [
        (3, since - timedelta(minutes=1), True)
    ]
    assert db.execute(causes.format("max_failures => 2")).fetchall() == [("new", 2, 2, 2, since, False)]
    assert db.execute(causes.format("'q', max_failures => 1")).fetchall() == [("new", 1, 1, 1, since, False)]
    # All three failures were looked at, and so were all three dead messages, but there may be more.
    assert [row[5] for row in db.execute(causes.format("max_failures => 3")).fetchall()] == [False, False]
    # A failure of before was seen, so there are no more since then.
    one(db, "select howdah.discard(%s, origin => 'q', max_messages => 1)", (SYSTEM,))
    assert db.execute(causes.format(f"since => '{since}', max_failures => 3")).fetchall() == [
        ("new", 2, 2, 3, since - timedelta(minutes=1), True)
    ]
    assert one(db, "select howdah.create_queue('other')") is not None
    assert db.execute(causes.format("'other'")).fetchall() == []


def test_causes_read_no_more_failures_than_asked_for(db: Db) -> None:
    one(db, "select howdah.create_queue('busy')")
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " recorded_by, fingerprint) select n, now(), d.id, 1, 0, 'gone', 'x', n % 10 from howdah.destinations d,"
        " generate_series(1, 5000) n where d.name = 'busy'"
    )
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt, stage, outcome,"
        " recorded_by, fingerprint) select n, now(), d.id, 1, 0, 'gone', 'x', 'y' from howdah.destinations d,"
        " generate_series(1, 100) n where d.name = 'busy' union all select n, now(), e.id, 1, 0, 'gone', 'x', 'z'"
        " from howdah.destinations e, generate_series(1, 5000) n where e.name = 'aside'"
    )
    db.execute("analyze howdah.poison_details")
    for queue in ("null::text", "'busy'"):
        with db.transaction():
            one(db, "select count(*) from howdah.poison_details where incident_id = 0")
            before = reads(db)
            assert one(db, f"select sum(incidents)::int from howdah.poison_causes({queue}, max_failures => 100)") == 100
            assert reads(db) - before <= 100 + 10


def reads(db: Db) -> int:
    """How many failures this transaction has read by an index or otherwise."""
    number: int = one(
        db,
        "select (pg_stat_get_xact_tuples_returned(r) + pg_stat_get_xact_tuples_fetched(r))::int"
        " from (values ('howdah.poison_details'::regclass)) t(r)",
    )
    return number


def test_where_the_dead_lie_is_told_by_origin_and_of_the_last_dead_alone(db: Db) -> None:
    first = one(db, "select howdah.create_queue('r', '{\"max_failed_deliveries\": 1}')")
    assert first is not None
    dead(db)
    dead(db)
    fail(db, one(db, "select howdah.send('r', 'x')"), "r", error_text="broken", error_class="ValueError")
    places = "select exception_queue, dead, looked, complete from howdah.list_poison_queues({})"
    assert db.execute(places.format("")).fetchall() == [(SYSTEM, 3, 3, True)]
    assert db.execute(places.format("origin => 'r'")).fetchall() == [(SYSTEM, 1, 3, True)]
    assert db.execute(places.format("origin => 'q', max_dead => 2")).fetchall() == [(SYSTEM, 1, 2, False)]
    assert db.execute(places.format("origin => 'aside'")).fetchall() == []
    first = one(db, "select first_position from howdah.list_poison_queues(origin => 'r')")
    assert one(db, "select origin_queue from howdah.list_poison(after => %s - 1)", (first,)) == "r"
