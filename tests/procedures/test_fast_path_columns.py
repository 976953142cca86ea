"""The columns that the fast paths read say what the options of a destination say."""

import pytest
from support import Db, column, one

DERIVED = """select d.name, usual_send, usual_batch, usual_publish, usual_receive, is_queue, assured, journaled,
        grouped, d.default_time_to_live
    from howdah.destinations d where d.name in ('q', 't') order by 1"""

AS_IT_IS = """select d.name,
        main_rank = 9 - default_priority and not sending_paused and journal_level <> 'full',
        main_rank = 9 - default_priority and not sending_paused,
        kind = 'topic' and not sending_paused and journal_level <> 'full' and persistent
            and default_reliability = 'ASSURED_PERSISTENT' and room is null,
        not receiving_paused and keep_bodies_ms is null, kind = 'queue', default_reliability = 'ASSURED_PERSISTENT',
        journal_level <> 'off', message_groups = 'transaction' and not limited,
        default_time_to_live_ms * interval '1 millisecond'
    from howdah.destinations d where d.name in ('q', 't') order by 1"""


def altered(what: str, option: str, *values: str) -> tuple[str, ...]:
    return tuple(f"select howdah.alter_{what}" + f'{{"{option}": {value}}}\')' for value in values)


@pytest.mark.parametrize(
    ("change", "back"),
    [
        altered("queue('q', '", "journal_level", '"full"', '"exits"'),
        altered("topic('t', '", "journal_level", '"off"', '"exits"'),
        altered("queue('q', '", "default_priority", "9", "4"),
        altered("queue('q', '", "default_time_to_live_ms", "1500", "null"),
        altered("queue('q', '", "default_reliability", '"RELIABLE_PERSISTENT"', '"ASSURED_PERSISTENT"'),
        altered("topic('t', '", "default_reliability", '"RELIABLE_PERSISTENT"', '"ASSURED_PERSISTENT"'),
        altered("queue('q', '", "persistent", "false", "true"),
        altered("queue('q', '", "keep_bodies_ms", "1000", "null"),
        altered("queue('q', '", "message_groups", '"transaction"', '"none"'),
        altered("engine('", "persistent", "false", "true"),
        ("select howdah.pause('q')", "select howdah.resume('q')"),
    ],
)
def test_the_columns_that_the_fast_paths_read_follow_every_change(db: Db, change: str, back: str) -> None:
    one(db, "select howdah.create_queue('q')")
    one(db, "select howdah.create_topic('t')")
    first = db.execute(DERIVED).fetchall()
    assert first == [
        ("q", True, True, False, True, True, True, True, False, None),
        ("t", False, False, True, True, False, True, True, False, None),
    ]
    db.execute(change.encode())
    changed = db.execute(DERIVED).fetchall()
    assert changed == db.execute(AS_IT_IS).fetchall()
    assert changed != first
    db.execute(back.encode())
    assert db.execute(DERIVED).fetchall() == db.execute(AS_IT_IS).fetchall()


def test_a_queue_of_permits_is_not_one_of_groups_alone(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"message_groups": "transaction", "max_concurrent": 2}')""")
    assert column(db, "select grouped from howdah.destinations where name = 'q'") == [False]
