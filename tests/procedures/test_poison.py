"""What an operator sees of dead messages and incidents, and how long incidents are kept."""

import pytest
from operator_acts_support import dead
from support import SYSTEM, Clock, Connect, Db, column, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


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
