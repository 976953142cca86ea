"""What an operator pauses, resumes or cancels is an act, recorded once."""

import pytest
from support import Connect, Db, column, one


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def test_what_is_paused_and_resumed_is_an_act_and_a_change_and_stands_once_in_the_list_of_both(db: Db) -> None:
    db.execute("set howdah.reason = 'night'")
    one(db, "select howdah.create_link('away', 'q', 'there', service => 'other')")
    number = one(db, "select howdah.schedule('q', 'x'::text, period => '1 hour', name => 'hourly')")
    for act in ("pause('q')", "pause('q')", "pause_link('away')", "resume_link('away')", "resume_link('away')"):
        one(db, f"select howdah.{act}")
    one(db, "select howdah.resume('q', receiving => false)")
    for act in ("pause", "resume", "cancel"):
        one(db, f"select howdah.{act}_schedule(%s)", (number,))
    made = db.execute("select act, queue_name, reason, message_ids from howdah.list_acts() order by act_id").fetchall()
    assert made == [
        ("paused", "q", "night", []),
        ("paused", "q", "link away: night", []),
        ("resumed", "q", "link away: night", []),
        ("resumed", "q", "sending: night", []),
        *(("paused", "q", "schedule hourly: night", []), ("resumed", "q", "schedule hourly: night", [])),
        ("cancelled", "q", "schedule hourly: night", []),
    ]
    listed = "select kind, act from howdah.list_changes() where change_id is null or kind in ('link', 'schedule')"
    assert column(db, "select act_id from howdah.list_changes() where act_id is not null") == []
    assert db.execute(listed).fetchall()[::-1] == [
        *(("link", "created"), ("schedule", "created"), ("link", "altered"), ("link", "altered")),
        *(("schedule", "altered"), ("schedule", "altered"), ("schedule", "dropped")),
    ]
    assert one(db, "select count(*)::int from howdah.audit_acts") == 0, "no operation on messages"


def test_a_queue_that_failures_disabled_and_an_operator_resumes_is_an_act(db: Db) -> None:
    one(db, "update howdah.destinations set disabled_at = howdah.now() where name = 'q' returning 1")
    one(db, "select howdah.resume('q')")
    assert column(db, "select act from howdah.list_acts()") == ["resumed"]


def test_an_application_that_cancels_its_own_schedule_is_no_operator_unless_it_says_why(
    db: Db, connect: Connect
) -> None:
    application = connect("howdah_producer")
    make = "select howdah.schedule('q', 'x'::text, period => '1 hour')"
    one(application, "select howdah.cancel_schedule(%s)", (one(application, make),))
    one(application, make)
    assert one(application, "select howdah.cancel_schedules('q')") == 1
    assert column(db, "select act from howdah.list_acts()") == []
    for why in ("enough", ""):
        application.execute("select set_config('howdah.reason', %s, false)", (why,))
        number = one(application, make)
        one(application, "select howdah.pause_schedule(%s)", (number,))
    one(db, "select howdah.cancel_schedules('q')")
    made = column(db, "select actor || ' ' || act from howdah.list_acts() order by act_id")
    assert made == ["howdah_producer paused", *[f"{one(db, 'select session_user::text')} cancelled"] * 2]
