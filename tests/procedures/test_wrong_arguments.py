"""Numbers, times and texts out of bounds are refused with an error of Howdah's own, before anything is written."""

from typing import Any

import pytest
from policy_support import Create
from psycopg.types.json import Jsonb
from support import Db, column, one, refused

HIGHEST = 2**63 - 1


@pytest.fixture(autouse=True)
def queue(create: Create, db: Db) -> None:
    create()
    one(db, "select howdah.send('q', 'a'::text)")


def test_a_lease_of_the_highest_number_is_one_that_has_no_messages(db: Db) -> None:
    for lease in (HIGHEST, -HIGHEST - 1, 2**43 - 1, 2**44):
        refused(db, "HD026", "select howdah.ack('q', %s)", (lease,))
        refused(db, "HD026", "select * from howdah.lease('q', acknowledge => %s)", (lease,))


@pytest.mark.parametrize("verb", ["receive", "receive_locked", "lease", "lease_ahead"])
@pytest.mark.parametrize("policy", ["shared", "round_robin"])
def test_a_consumer_of_any_number_that_is_not_open_is_refused(db: Db, verb: str, policy: str) -> None:
    one(db, "select howdah.alter_queue('q', %s)", (Jsonb({"delivery_policy": policy}),))
    for number in (HIGHEST, 2**31, -1, 0):
        said = refused(db, "HD032", f"select * from howdah.{verb}('q', consumer => %s)", (number,))
        assert f"consumer {number} of" in (said.message_primary or "")


def test_a_listener_refuses_a_consumer_of_any_number_that_is_not_open(db: Db) -> None:
    one(db, "select howdah.create_listener('l', 'q')")
    refused(db, "HD032", "select * from howdah.receive_as('l', consumer => %s)", (HIGHEST,))


def test_a_subscription_refuses_a_consumer_of_any_number_that_is_not_open(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    refused(db, "HD032", "select * from howdah.receive(%s, consumer => %s)", (name, HIGHEST))


def test_due_schedules_are_one_to_a_hundred_thousand(db: Db) -> None:
    for number in (-1, 0, 100_001, None):
        refused(db, "HD005", "select * from howdah.due_schedules(%s)", (number,))


@pytest.mark.parametrize(
    "plans",
    [
        [1, 2],
        [{}],
        [{"schedule_id": 1, "times": ["x"]}],
        [{"schedule_id": 1, "was": "x"}],
        [{"schedule_id": 10**30}],
        [{"schedule_id": 1, "next_at": "infinity"}],
        [{"schedule_id": 1, "next_at": "4713-01-01 BC"}],
    ],
)
def test_plans_that_are_none_are_refused(db: Db, plans: object) -> None:
    refused(db, "HD005", "select * from howdah.fire_schedules(%s)", (Jsonb(plans),))


def test_a_header_that_schedules_is_a_whole_number(db: Db) -> None:
    wrong: tuple[Any, ...] = ([], {}, "1e400", 1.5, True, 10**20, "")
    for name in ("DELAY", "PERIOD", "REPEAT"):
        for value in wrong:
            headers = Jsonb({"AMQ_SCHEDULED_DELAY": "x", f"AMQ_SCHEDULED_{name}": value})
            refused(db, "HD005", "select howdah.send('q', 'x'::text, headers => %s)", (headers,))
    refused(
        db,
        "HD005",
        (
            "select howdah.send('q', 'x'::text, headers => '{\"AMQ_SCHEDULED_DELAY\":"
            ' 1, "AMQ_SCHEDULED_REPEAT": 1000000001}\')'
        ),
    )


def test_a_lock_has_a_name_of_250_characters_at_most_and_a_holder_of_1000(db: Db) -> None:
    refused(db, "HD005", "select howdah.acquire_lock(repeat('x', 1000000), 'me')")
    refused(db, "HD005", "select howdah.acquire_lock('l', repeat('x', 1000000))")
    assert column(db, "select name from howdah.lock where name like 'x%'") == []
    assert one(db, "select howdah.acquire_lock(repeat('x', 250), repeat('x', 1000))") is not None


def test_a_policys_pattern_has_242_characters_at_most(db: Db) -> None:
    refused(db, "HD003", "select howdah.set_policy(repeat('x', 1000000), '{}')")
    assert one(db, "select count(*) from howdah.list_policies()") == 0


@pytest.mark.parametrize("at", ["4713-01-01 BC", "1969-12-31 23:59:59Z", "infinity", "-infinity", "294276-01-01 UTC"])
@pytest.mark.parametrize("name", ["starts_at", "ends_at"])
def test_a_schedules_times_are_those_that_every_client_can_read(db: Db, name: str, at: str) -> None:
    refused(db, "HD005", f"select howdah.schedule('q', 'x'::text, period => '1 h', {name} => %s::timestamptz)", (at,))
    refused(
        db, "HD005", f"select howdah.schedule('q', 'x'::text, cron => '* * * * *', {name} => %s::timestamptz)", (at,)
    )


def test_a_length_of_time_is_as_long_as_what_it_adds_up_to(db: Db) -> None:
    odd = "-1 year 361 days"  # a day for PostgreSQL's comparison, and less than nothing where it is added to a time
    for name in ("time_to_live", "delay"):
        refused(db, "HD005", f"select howdah.send('q', 'x'::text, {name} => %s::interval)", (odd,))
    for name in ("time_to_live", "misfire_grace"):
        refused(db, "HD005", f"select howdah.schedule('q', 'x'::text, period => '1 h', {name} => %s::interval)", (odd,))


def test_a_message_sent_by_the_clock_lives_a_millisecond_at_least(db: Db) -> None:
    number = one(db, "select howdah.schedule('q', 'x'::text, period => '1 h', time_to_live => '1 microsecond')")
    assert one(db, "select time_to_live_ms from howdah.schedules where id = %s", (number,)) == 1


def test_an_audits_queues_and_rules_are_objects(db: Db) -> None:
    asked = "select howdah.record_audit('2026-01-01', 0, 'none', '2026-01-01', '10:20:', queues => %s, rules => %s)"
    unsound: list[Any] = [[1], [None], ["x"], [[]], [[{"queue": "q", "verdict": "proved"}]]]
    for wrong in unsound:
        refused(db, "HD005", asked, (Jsonb(wrong), Jsonb([])))
        refused(db, "HD005", asked, (Jsonb([]), Jsonb(wrong)))
    # Without live, parked and dead no later audit could count on from that snapshot.
    refused(db, "HD005", asked, (Jsonb([{"queue": "q", "verdict": "proved"}]), Jsonb([])))
    for right in ([], [{"queue": "q", "verdict": "proved", "live": 1, "parked": 0, "dead": 0}]):
        assert one(db, asked, (Jsonb(right), Jsonb(right))) > 0


def test_numbers_of_messages_in_several_dimensions_are_as_good_as_in_one(db: Db) -> None:
    refused(db, "HD026", "select howdah.ack('q', 1, array[[1, 2], [3, 4]])")
    refused(db, "HD013", "select howdah.discard('q', array[[1, 2], [3, 4]])")
    refused(db, "HD013", "select howdah.retry('q', array[[1, 2], [3, 4]])")


def test_a_priority_out_of_bounds_does_not_hide_a_failed_message(db: Db) -> None:
    number = one(db, "select message_id from howdah.browse('q')")
    asked = "select outcome from howdah.settle_failures('q', array[%s::bigint], array[%s], array[null::bigint])"
    for priority in (2**31 - 1, -(2**31), 10, -1):
        assert one(db, asked, (number, priority)) == "returned"


def test_options_of_a_subscription_are_an_object(db: Db) -> None:
    one(db, "select howdah.create_topic('t')")
    name = one(db, "select howdah.subscribe('t', 's')")
    wrong: tuple[Any, ...] = ("x", 1, [])
    for options in wrong:
        refused(db, "HD004", "select howdah.alter_queue(%s, %s)", (name, Jsonb(options)))


def test_an_attempt_that_there_is_already_is_not_begun_again(db: Db) -> None:
    one(db, "select howdah.alter_queue('q', '{\"backout_count\": \"hardened\"}')")
    attempt = one(db, "select attempt from howdah.begin_attempts('q')")
    refused(db, "HD005", "select * from howdah.begin_attempts('q', 1, %s)", (attempt,))


def test_a_run_of_the_archive_with_wrong_facts_is_refused(db: Db) -> None:
    epoch = one(db, "select howdah.acquire_lock('archive', 'me')")
    archive = one(db, "select howdah.begin_archive(%s)", (epoch,))
    facts: dict[str, Any] = {name: {"rows": 0, "checksum": 0} for name in ("journal", "incidents", "messages")}
    facts |= {"manifest": "m", "path": "p", "started_at": "2026-01-01T00:00:00Z"}
    finish = "select howdah.finish_archive_run(%s, %s, 1, %s, %s)"
    for wrong in (
        {"started_at": "infinity"},
        {"started_at": "x"},
        {"journal": {"rows": "x", "checksum": 0}},
        {"path": None},
    ):
        refused(db, "HD005", finish, (epoch, archive, "10:20:", Jsonb(facts | wrong)))
    refused(db, "HD005", finish, (epoch, archive, "x", Jsonb(facts)))
    refused(db, "HD005", finish[:-1] + ", array[1])", (epoch, archive, "10:20:", Jsonb(facts)))
    one(db, finish, (epoch, archive, "10:20:", Jsonb(facts)))
    restore = "select howdah.restore_message('q', %s, 1, 1, 'x', true, %s)"
    unsound: list[dict[str, Any]] = [{"priority": "x"}, {"conversation_id": "x"}, {"headers": []}, {"priority": 10**20}]
    for properties in unsound:
        refused(db, "HD005", restore, (archive, Jsonb(properties)))
    assert one(db, restore, (archive, Jsonb({"priority": 3, "headers": None}))) > 0


@pytest.mark.parametrize(
    "call",
    [
        "discard('q', %s, dry_run => null)",
        "move_messages('q', target => 'r', message_ids => %s, dry_run => null)",
        "move_all('q', 'r', dry_run => null)",
        "replay('q', %s, target => 'r', dry_run => null)",
        "replay_kept('q', target => 'r', dry_run => null)",
    ],
)
def test_dry_run_null_is_refused_and_nothing_is_done(db: Db, create: Create, call: str) -> None:
    create("r")
    parked = one(db, "select howdah.send('q', 'b')")
    one(db, "select count(howdah.park_messages('q', array[%s], howdah.now() + interval '1 hour'))", (parked,))
    refused(db, "HD005", f"select howdah.{call}", ([parked],) if "%s" in call else None)
    assert one(db, "select sum(messages) from howdah.resource_state()") == 2


def test_a_flag_whose_default_is_true_is_true_if_it_is_null(db: Db) -> None:
    one(db, "select howdah.set_policy('q', %s, apply => null)", (Jsonb({"max_failed_deliveries": 9}),))
    assert one(db, "select howdah.queue_options('q') ->> 'max_failed_deliveries'") == "9"
    offset = one(db, "select howdah.journal_offset('earliest')")
    db.execute("update howdah.engine set journal_dropped_xid = pg_current_xact_id()::text::bigint")
    refused(db, "HD036", "select howdah.next_journal_offset(%s, fail_on_loss => null)", (Jsonb(offset),))
