"""Queues: made, changed, paused, purged and listed."""

import threading

import psycopg
import pytest
from support import SYSTEM, Connect, Db, all_refused, column, fail, one, receive, refused, wait_until_blocked


@pytest.mark.behaviour("WAS-07")
@pytest.mark.behaviour("WAS-11")
def test_a_fresh_queue_has_every_default(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")

    row = db.execute(
        "select is_system, sending_paused, receiving_paused, max_failed_deliveries, exception_mode, exception_queue,"
        " redelivery_delay_ms, blocked_retry_ms, max_message_bytes, default_priority, default_time_to_live_ms,"
        " journal_level, created_by = session_user from howdah.list_queues() where queue = 'q'"
    ).fetchall()
    assert row == [(False, False, False, 5, "system", None, 0, 5000, 73400320, 4, None, "exits", True)]


def test_create_gives_distinct_numbers_and_a_second_call_is_refused(db: Db) -> None:
    first, second = (one(db, "select howdah.create_queue(%s)", (name,)) for name in ("a", "b"))
    assert first != second

    assert "exists" in str(refused(db, "HD002", "select howdah.create_queue('a')").message_primary)


def test_two_sessions_that_create_one_name_get_one_queue(db: Db, connect: Connect) -> None:
    other = connect()
    with db.transaction():
        one(db, "select howdah.create_queue('q')")
        said: list[str | None] = []

        def create() -> None:
            try:
                one(other, "select howdah.create_queue('q')")
            except psycopg.Error as error:
                said.append(error.sqlstate)

        thread = threading.Thread(target=create)
        thread.start()
        wait_until_blocked(db, other)
    thread.join()
    assert said == ["HD002"]


@pytest.mark.parametrize("name", ["a", "A-Za.z_0/9", "x" * 242])
def test_a_name_of_letters_digits_and_dot_underscore_hyphen_slash_is_taken(db: Db, name: str) -> None:
    one(db, "select howdah.create_queue(%s)", (name,))
    assert name in column(db, "select queue from howdah.list_queues()")


@pytest.mark.behaviour("AMQ-20")
def test_job_queues_have_dotted_names(db: Db) -> None:
    for job in ("SUSPEND", "DELETE"):
        one(db, "select howdah.create_queue(%s)", (f"JOBS.{job}",))
        one(db, "select howdah.send(%s, %s)", (f"JOBS.{job}", job))
    assert [receive(db, f"JOBS.{job}")[0].body for job in ("SUSPEND", "DELETE")] == ["SUSPEND", "DELETE"]


def test_bad_input_to_create_is_refused(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    names = [
        "''",
        "null",
        "'a b'",
        "'a''b'",
        "'a;b'",
        "'a\"b'",
        "'ä'",
        "E'a\\n'",
        "repeat('x', 243)",
        "repeat('x', 300)",
    ]
    names += ["'a*'", "'_SYSTEM.x'", f"'{SYSTEM}'"]
    all_refused(db, [("HD003", f"select howdah.create_queue({name})") for name in names])


OPTIONS = [
    "null",
    "'[]'",
    "'3'",
    """'{"no_such": 1}'""",
    """'{"max_failed_deliveries": -2}'""",
    """'{"max_failed_deliveries": 1.5}'""",
    """'{"max_failed_deliveries": "5"}'""",
    """'{"max_failed_deliveries": null}'""",
    """'{"max_failed_deliveries": 1e30}'""",
    """'{"exception_mode": "nowhere"}'""",
    """'{"exception_mode": 1}'""",
    """'{"exception_mode": "named"}'""",
    """'{"exception_mode": "none", "exception_queue": "x"}'""",
    """'{"exception_queue": 7}'""",
    """'{"exception_queue": "q"}'""",
    """'{"redelivery_delay_ms": -1}'""",
    """'{"redelivery_delay_ms": 3155760000001}'""",
    """'{"blocked_retry_ms": -2}'""",
    """'{"max_message_bytes": 0}'""",
    """'{"max_message_bytes": 1073741824}'""",
    """'{"default_priority": 10}'""",
    """'{"default_priority": -1}'""",
    """'{"default_time_to_live_ms": 0}'""",
    """'{"journal_level": "some"}'""",
]


def test_bad_options_are_refused_by_create_and_alter(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    all_refused(db, [("HD004", f"select howdah.alter_queue('q', {options})") for options in OPTIONS])
    own = [options for options in OPTIONS if '"q"' not in options]
    all_refused(db, [("HD004", f"select howdah.create_queue('new', {options})") for options in own])
    all_refused(db, [("HD003", """select howdah.alter_queue('q', '{"exception_queue": "a;b"}')""")])


def test_an_unknown_option_is_answered_with_the_known_ones(db: Db) -> None:
    hint = refused(db, "HD004", """select howdah.create_queue('q', '{"no_such": 1}')""").message_hint
    assert hint is not None
    known = column(
        db, "select column_name::text from information_schema.columns where table_schema = 'howdah' and table_name ="
        " 'destinations' and column_name not in ('id', 'name', 'kind', 'is_system', 'created_at', 'created_by',"
        " 'dropped_at', 'sending_paused', 'receiving_paused', 'positions', 'failing', 'special',"
        " 'head', 'search', 'waiting', 'main_rank', 'senders', 'receivers', 'journal_level_at', 'groups_at',"
        " 'dispose_at', 'disabled_at', 'streak_from', 'room', 'tickets', 'own_max_message_bytes',"
        " 'poison_procedure_owner', 'own_persistent', 'own_sending_paused', 'own_receiving_paused',"
        " 'auto_created', 'limited', 'usual_send', 'usual_batch', 'usual_publish', 'usual_receive', 'is_queue',"
        " 'assured', 'journaled', 'grouped', 'default_time_to_live')"
    )  # fmt: skip
    assert sorted(hint.removeprefix("Options are: ").removesuffix(".").split(", ")) == sorted(known)


def test_alter_changes_what_it_names_and_nothing_else(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"default_priority": 7, "exception_queue": "dead"}')""")
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2}')""")
    one(db, """select howdah.alter_queue('q', '{"max_failed_deliveries": 2}')""")

    query = "select max_failed_deliveries, default_priority, exception_mode, exception_queue from howdah.list_queues()"
    assert db.execute(f"{query} where queue = 'q'".encode()).fetchall() == [(2, 7, "named", "dead")]
    one(db, """select howdah.alter_queue('q', '{"exception_mode": "none", "default_time_to_live_ms": null}')""")
    assert db.execute(f"{query} where queue = 'q'".encode()).fetchall() == [(2, 7, "none", None)]


def test_a_queue_that_is_not_there_cannot_be_administered(db: Db) -> None:
    calls = ["alter_queue({}, '{{}}')", "drop_queue({})", "purge_queue({})", "pause({})", "resume({})"]
    for name in ("'none'", "null", "repeat('x', 300)"):
        all_refused(db, [("HD001", "select howdah." + call.format(name)) for call in calls])


@pytest.mark.behaviour("WAS-12")
def test_the_system_exception_destination_is_named_after_the_engine_and_cannot_be_changed_or_dropped(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    sent = one(db, "select howdah.send('q', 'x')")
    assert fail(db, sent)[2] == "moved"
    assert [m.message_id for m in receive(db, SYSTEM, verb="browse")] == [sent]

    calls = ["alter_queue('{}', '{{}}')", "drop_queue('{}')", "drop_queue('{}', true)", "pause('{}')", "resume('{}')"]
    all_refused(db, [("HD012", "select howdah." + call.format(SYSTEM)) for call in calls])
    assert one(db, "select howdah.purge_queue(%s)", (SYSTEM,)) == 1


def test_pausing_one_side_leaves_the_other_and_resume_undoes_it(db: Db) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.pause('q', sending => true, receiving => false)")
    refused(db, "HD008", "select howdah.send('q', 'x')")
    refused(db, "HD008", "select howdah.send_batch('q', array['x'])")
    assert receive(db) == []

    one(db, "select howdah.pause('q')")
    one(db, "select howdah.pause('q')")
    one(db, "select howdah.resume('q', sending => true, receiving => null)")
    one(db, "select howdah.send('q', 'x')")
    for verb in ("receive", "receive_locked"):
        refused(db, "HD009", f"select howdah.{verb}('q')")
    assert len(receive(db, verb="browse")) == 1
    one(db, "select howdah.resume('q')")
    one(db, "select howdah.resume('q')")
    assert len(receive(db)) == 1


def test_purge_discards_all_but_what_somebody_holds(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.send_batch('q', array['a', 'b', 'c'])")
    one(db, "select howdah.send('q', 'd', delay => '1 hour')")
    one(db, "select howdah.send('q', 'e', delivery_mode => 'non-persistent')")
    consumer = connect()
    with consumer.transaction(force_rollback=True):
        # Non-persistent messages come first within a priority.
        held = receive(consumer, n=2)
        assert one(db, "select howdah.purge_queue('q')") == 3
    assert one(db, "select howdah.purge_queue('q')") == len(held)
    assert one(db, "select howdah.purge_queue('q')") == 0
    assert one(db, "select count(*) from howdah.audit_journal where event = 'discarded' and reason = 'purged'") == 5


def test_list_queues_shows_live_queues_by_name(db: Db) -> None:
    for name in ("b", "a", "c"):
        one(db, "select howdah.create_queue(%s)", (name,))
    one(db, "select howdah.drop_queue('c')")
    assert column(db, "select queue from howdah.list_queues()") == [SYSTEM, "a", "b"]


@pytest.mark.slow
def test_pausing_one_queue_of_many_pauses_no_other(db: Db) -> None:
    db.execute("select howdah.create_queue('q' || n) from generate_series(1, 300) n")
    one(db, "select howdah.pause('q7')")
    assert column(db, "select queue from howdah.list_queues() where sending_paused") == ["q7"]


def test_a_new_queue_asks_for_rights_at_no_other_queue(db: Db) -> None:
    one(db, "select count(howdah.create_queue('other' || n)) from generate_series(1, 20) n")
    with db.transaction():
        db.execute("set local track_functions = 'all'")
        one(db, "select howdah.create_queue('new', '{\"exception_queue\": \"other1\"}')")
        asked = one(
            db,
            "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions"
            " where schemaname = 'howdah' and funcname = '_has_right'",
        )
    assert asked <= 2
