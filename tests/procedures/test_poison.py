"""What an operator sees of messages that fail, and how long it is kept."""

from datetime import timedelta

import pytest
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def dead(db: Db, error: str = "broken", error_class: str = "ValueError", body: str = "x") -> int:
    """A message that died of an error in q."""
    sent: int = one(db, "select howdah.send('q', %s)", (body,))
    assert fail(db, sent, error_text=error, error_class=error_class)[2] == "moved"
    return sent


def fingerprint(db: Db, text: str | None, error_class: str = "E", sqlstate: str | None = None) -> str:
    value: str = one(db, "select howdah._fingerprint(%s, %s, %s)", (error_class, text, sqlstate))
    return value


@pytest.mark.parametrize(
    ("one_text", "other_text"),
    [
        ("order 17 of 2,500.75", "order 4711 of 3"),
        ("no key 'a'", "no key 'b c'"),
        ('no "a" in `t`', 'no "xyz" in `u`'),
        ("can't find 'a'", "can't find 'b'"),
        ("job 0f8fad5b-d9cb-469f-a165-70867728950e", "job 7C9E6679-7425-40DE-944B-E07FC1F90AE7"),
        ("at 0x7f88", "at 0x1"),
        ("commit deadbeef01", "commit 0badcafe99"),
        ("two\n  lines", " two lines "),
        ("value -1.5e-3 late", "value 7 late"),
    ],
)
def test_errors_that_differ_in_values_only_have_one_fingerprint(db: Db, one_text: str, other_text: str) -> None:
    assert fingerprint(db, one_text) == fingerprint(db, other_text)


def test_errors_of_other_words_class_or_sqlstate_have_other_fingerprints(db: Db) -> None:
    different = {
        fingerprint(db, "no such order"),
        fingerprint(db, "no such customer"),
        fingerprint(db, "can't find a"),
        fingerprint(db, "can't find b"),
        fingerprint(db, "facade"),
        fingerprint(db, "defaced"),
        fingerprint(db, "no such order", "F"),
        fingerprint(db, "no such order", "E", "23505"),
        fingerprint(db, None),
    }
    assert len(different) == 9
    assert all(len(value) == 16 for value in different)


def test_a_long_error_is_fingerprinted_in_no_time(db: Db) -> None:
    with db.transaction():
        db.execute("set local statement_timeout = '10s'")
        assert fingerprint(db, "'" * 1_000_001)
        assert fingerprint(db, "1a " * 500_000)


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


def test_dead_messages_are_listed_by_queue_class_fingerprint_and_age_page_by_page(db: Db, clock: Clock) -> None:
    first = dead(db, "no order 1", "KeyError")
    clock.advance(3600)
    later = clock.now
    second, third = dead(db, "no order 2", "KeyError"), dead(db, "disk full", "OSError")
    listed = "select message_id from howdah.list_poison({})"
    assert column(db, listed.format("")) == [first, second, third]
    assert column(db, listed.format("error_class => 'KeyError'")) == [first, second]
    assert column(db, listed.format("older_than => %s"), (later,)) == [first]
    assert column(db, listed.format("newer_than => %s"), (later,)) == [second, third]
    assert column(db, listed.format("origin => 'aside'")) == []
    assert column(db, listed.format("queue => 'aside'")) == []
    of_cause = one(db, "select last_fingerprint from howdah.list_poison(max_rows => 1)")
    assert column(db, listed.format("fingerprint => %s"), (of_cause,)) == [first, second]
    assert column(db, "select incident_id from howdah.incidents(only_fingerprint => %s)", (of_cause,)) == [2, 1]
    assert column(db, "select incident_id from howdah.incidents('q', only_class => 'OSError')") == [3]
    assert column(db, "select incident_id from howdah.incidents(older_than => %s)", (later,)) == [1]
    assert column(db, "select incident_id from howdah.incidents(newer_than => %s, before_incident => 3)", (later,)) == [
        2
    ]
    shown: list[int] = []
    after = None
    while page := db.execute(
        "select message_id, position from howdah.list_poison(max_rows => 2, after => %s)", (after,)
    ).fetchall():
        shown += [row[0] for row in page]
        after = page[-1][1]
    assert shown == [first, second, third]


def test_a_message_is_found_wherever_it_lies(db: Db, connect: Connect) -> None:
    state = "select state from howdah.poison_message(%s)"
    sent = one(db, "select howdah.send('q', 'x', priority => 9)")
    assert one(db, state, (sent,)) == "live"
    other = connect()
    with other.transaction(force_rollback=True):
        receive(other)
        assert one(db, state, (sent,)) == "live"
    one(db, "select howdah.park_messages('q', %s, delay => '1 h')", ([sent],))
    assert one(db, state, (sent,)) == "parked"
    one(db, "select howdah.retry('q')")
    fail(db, sent)
    assert one(db, state, (sent,)) == "dead"
    assert one(db, "select (message).queue from howdah.poison_message(%s, %s)", (sent, SYSTEM)) == SYSTEM
    assert column(db, "select state from howdah.poison_message(%s, 'q')", (sent,)) == []
    one(db, "select howdah.replay(%s, target => 'aside')", (SYSTEM,))
    assert column(db, "select state from howdah.poison_message(%s, 'aside')", (sent,)) == ["live"]
    one(db, "select howdah.discard('aside', %s)", ([sent],))
    assert column(db, state, (sent,)) == []


def test_looking_shows_only_what_the_caller_may_browse(db: Db, connect: Connect) -> None:
    sent = dead(db)
    db.execute("delete from howdah.destination_grants where verb = 'browse' and role_name = 'howdah_browser'")
    browser = connect("howdah_browser")
    refused(browser, "HD010", "select * from howdah.list_poison()")
    refused(browser, "HD010", "select * from howdah.poison_causes('q')")
    assert column(browser, "select fingerprint from howdah.poison_causes()") == []
    assert column(browser, "select exception_queue from howdah.list_poison_queues()") == []
    assert column(browser, "select state from howdah.poison_message(%s)", (sent,)) == []


def test_incidents_are_deleted_when_they_are_old_and_their_message_is_gone(
    db: Db, connect: Connect, clock: Clock
) -> None:
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2}')""")
    gone, ready, waiting, held, volatile = (
        one(db, "select howdah.send('q', 'x', delivery_mode => %s, priority => %s)", (mode, priority))
        for mode, priority in [("persistent", 4)] * 3 + [("persistent", 9), ("non-persistent", 4)]
    )
    for sent in (gone, ready, waiting, held, volatile):
        fail(db, sent)
    buried = dead_of_two(db)
    one(db, "select howdah.park_messages('q', %s)", ([waiting],))
    one(db, "select howdah.discard('q', %s)", ([gone],))
    young = one(db, "select howdah.send('aside', 'x')")
    clock.advance(90 * 86400 - 1)
    fail(db, young, "aside")
    receive(db, "aside")
    assert one(db, "select howdah.maintain_incidents()") == 0
    clock.advance(2)
    receiver = connect()
    with receiver.transaction():
        assert receive(receiver)[0].message_id == held
        # The incident, and the two acts.
        assert one(db, "select howdah.maintain_incidents()") == 3
    left = column(db, "select message_id from howdah.audit_incidents order by incident_id")
    assert left == [ready, waiting, held, volatile, buried, buried, young]
    # The message in somebody's hands is gone now, the other one's incident is old enough, and so on.
    clock.advance(90 * 86400)
    assert one(db, "select howdah.maintain_incidents()") == 2
    assert column(db, "select message_id from howdah.audit_incidents order by incident_id") == [
        ready, waiting, volatile, buried, buried
    ]  # fmt: skip
    assert one(db, "select howdah.maintain_incidents()") == 0
    refused(db, "HD014", "select howdah.maintain_incidents(0)")


def dead_of_two(db: Db) -> int:
    """A message that died of two failures."""
    sent: int = one(db, "select howdah.send('q', 'x')")
    assert [fail(db, sent)[2] for _ in range(2)] == ["returned", "moved"]
    return sent


def test_a_pass_deletes_ten_thousand_incidents_at_most(db: Db) -> None:
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt,"
        " stage, outcome, recorded_by)"
        " select n, howdah.now() - interval '100 days', 1, 1, 0, 'gone', 'x' from generate_series(1, 10001) n"
    )
    assert [one(db, "select howdah.maintain_incidents()") for _ in range(3)] == [10000, 1, 0]


def test_the_incidents_of_a_queue_are_read_by_its_index_newest_first(db: Db) -> None:
    db.execute(
        "insert into howdah.poison_details (message_id, recorded_at, destination_id, attempt,"
        " stage, outcome, recorded_by)"
        " select n, howdah.now(), n % 100, 1, 0, 'gone', 'x' from generate_series(1, 20000) n"
    )
    db.execute("analyze howdah.poison_details")
    plan = "\n".join(
        column(
            db,
            "explain select * from howdah.poison_details where destination_id = 7 order by incident_id desc limit 10",
        )
    )
    assert "Index Scan Backward using ix_poison_details_queue" in plan
