"""Lists of all that is there, a part at a time: leases and consumers of every queue, and who sees them."""

from __future__ import annotations

import pytest
from support import Connect, Db, column, one, refused
from topics_support import publish, subscribe, topic

LISTS = (
    "list_topics()",
    "list_subscriptions()",
    "list_schedules()",
    "list_workers()",
    "list_consumers()",
    "list_leases()",
    "list_links()",
    "list_instances()",
)
HELD = "select queue_name, messages, consumer from howdah.list_leases() order by queue_name, lease"


@pytest.fixture
def held(db: Db) -> int:
    """Leases of two queues and a subscription; the number of the consumer of one."""
    topic(db)
    subscribe(db)
    publish(db, "a", "b", "c")
    for queue in ("open", "secret"):
        one(db, "select howdah.create_queue(%s)", (queue,))
        one(db, "select howdah.send_batch(%s, array['1', '2', '3', '4'])", (queue,))
    number: int = one(db, "select howdah.open_consumer('open', exclusive => true, own_session => true)")
    one(db, "select count(*) from howdah.lease('open', 2, '1 h', consumer => %s)", (number,))
    one(db, "select count(*) from howdah.lease('open', 1, '1 h', consumer => %s)", (number,))
    one(db, "select count(*) from howdah.lease('secret', 3, '1 h')")
    one(db, "select count(*) from howdah.lease('t::s', 2, '1 h')")
    return number


def test_leases_of_all_queues_are_listed_with_who_has_them_if_they_end_with_a_session(db: Db, held: int) -> None:
    assert db.execute(HELD).fetchall() == [("open", 2, held), ("open", 1, held), ("secret", 3, None), ("t::s", 2, None)]
    numbers = column(db, "select lease from howdah.list_leases()")
    assert numbers == sorted(numbers)
    assert column(db, "select lease from howdah.list_leases(after => %s, max_rows => 2)", numbers[:1]) == numbers[1:3]
    for queue in ("open", "secret", "t::s"):
        row = "(lease, messages, leased_until, queue_name, consumer)"
        own = column(db, f"select {row}::text from howdah.list_leases(%s)", (queue,))
        assert own == column(db, f"select {row}::text from howdah.list_leases() where queue_name = %s", (queue,))


def test_consumers_of_all_queues_are_listed_and_the_active_ones_marked(db: Db, held: int) -> None:
    second = one(db, "select howdah.open_consumer('open', exclusive => true)")
    third = one(db, "select howdah.open_consumer('secret', exclusive => true)")
    fourth = one(db, "select howdah.open_consumer('secret')")
    assert db.execute("select consumer, queue_name, active from howdah.list_consumers()").fetchall() == [
        (held, "open", True),
        (second, "open", False),
        (third, "secret", True),
        (fourth, "secret", False),
    ]
    rest = column(db, "select consumer from howdah.list_consumers(after => %s, max_rows => 2)", (held,))
    assert rest == [second, third]


def test_leases_and_consumers_are_listed_to_who_may_browse_their_queue(db: Db, connect: Connect, held: int) -> None:
    one(db, "select howdah.open_consumer('secret', exclusive => true)")
    reader = connect("howdah_browser")
    assert one(reader, "select count(distinct queue_name) from howdah.list_leases()") == 3
    one(db, "select howdah.revoke_queue('secret', 'browse', 'howdah_browser')")
    assert column(reader, "select distinct queue_name from howdah.list_leases() order by 1") == ["open", "t::s"]
    assert column(reader, "select queue_name from howdah.list_consumers()") == ["open"]
    refused(reader, "HD010", "select * from howdah.list_leases('secret')")
    assert column(reader, "select queue_name from howdah.list_leases(max_rows => 1)") != []


@pytest.mark.first_case
@pytest.mark.parametrize("call", LISTS)
def test_a_list_has_no_more_rows_than_asked_for(db: Db, held: int, call: str) -> None:
    part = call.replace("()", "(max_rows => 1)")
    assert one(db, f"select count(*) from howdah.{part}") == min(1, one(db, f"select count(*) from howdah.{call}"))
    for wrong in (0, -1, 10_001):
        refused(db, "HD005", f"select * from howdah.{call.replace('()', '(max_rows => %s)')}", (wrong,))
