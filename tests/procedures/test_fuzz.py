"""Hostile arguments for every public function: only documented errors, nothing lost, and nobody's lists spoiled."""

import chance
import fuzz
import pytest
from fuzz_world import furnish
from support import Connect, Db, column, one


def test_hostile_arguments_meet_documented_errors_lose_no_message_and_spoil_no_list(db: Db, connect: Connect) -> None:
    furnish(db)
    sent = column(db, "select message_id from howdah.audit_messages where state <> 'dead'")
    assert len(sent) > 40
    fuzzing = fuzz.Fuzz(connect, chance.dice())
    fuzzing.run(fuzz.count())
    print(fuzzing.found.states)
    assert fuzzing.found.wrong == {}
    assert fuzzing.found.called == {function.name for function in fuzzing.functions}
    assert fuzzing.found.states["00000"] > fuzz.count() / 10
    assert fuzzing.found.states["57014"] < fuzz.count() / 50, "calls that do not end"
    assert fuzz.unaccounted(db, sent) == []
    assert fuzz.unreadable(db) == []
    assert fuzz.unusual(db) == []
    assert fuzz.stored_times_that_nobody_can_read(db) == []


@pytest.mark.slow
def test_the_test_sees_a_message_that_was_lost_and_a_list_that_nobody_can_read(db: Db) -> None:
    furnish(db)
    gone = one(
        db,
        (
            "delete from howdah.msgs m where m.dead_at is null and m.destination_id = 2"
            " and m.rank = 4 returning message_id"
        ),
    )
    assert fuzz.unaccounted(db, []) == [gone]
    db.execute("update howdah.schedules set starts_at = '4713-01-01 BC' where name = 'hourly'")
    assert {found.partition(":")[0] for found in fuzz.unreadable(db)} == {"list_schedules()"}
    assert fuzz.stored_times_that_nobody_can_read(db) == ["howdah.schedules.starts_at: 1"]
