"""Messages and names are found by what is known of them, page by page, by those who may browse."""

import json

import pytest
from search_support import FIND, ids, pages, send
from support import SYSTEM, Connect, Db, column, fail, one, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


def test_messages_are_found_by_selector_header_body_priority_group_and_time(db: Db) -> None:
    plain = send(db, "about apples", priority=2)
    headed = send(db, "about pears", headers={"region": "EU", "n": 3}, priority=7)
    grouped = send(db, {"fruit": "plum"}, headers={"JMSXGroupID": "g"})
    sent_at = one(db, "select sent_at::text from howdah.find_messages('q', '{\"body\": \"pears\"}') limit 1")
    assert ids(db) == {plain, headed, grouped}
    assert ids(db, selector="region = 'EU' and n > 2") == {headed}
    assert ids(db, header={"region": "EU", "n": "3"}) == {headed}
    assert ids(db, body="apples") == {plain}
    assert ids(db, body="plum") == ids(db, group="g") == {grouped}
    assert ids(db, min_priority=5) == {headed}
    assert ids(db, min_priority=4) == {headed, grouped}
    assert ids(db, sent_before=sent_at) | ids(db, sent_after=sent_at) == {plain, headed, grouped}
    assert ids(db, sent_after="2100-01-01T00:00:00Z") == set()


def test_states_are_told_and_filtered(db: Db) -> None:
    ready, delayed, parked = send(db), send(db, delay="1 hour"), send(db)
    leased = one(db, "select howdah.send('q', 'l', priority => 9)")
    one(db, "select howdah.park_messages('q', array[%s]::bigint[])", (parked,))
    one(db, "select count(*) from howdah.lease('q')")
    dead = send(db)
    assert fail(db, dead)[2] == "moved"
    for state, message in (("ready", ready), ("delayed", delayed), ("parked", parked), ("leased", leased)):
        assert ids(db, state=state) == {message}
        assert one(db, "select state from howdah.show_message('q', %s)", (message,)) == state
    assert ids(db) == {ready, delayed, parked, leased}
    found = 'select message_id from howdah.find_messages(%s, \'{"state": "dead", "origin": "q"}\')'
    assert column(db, found, (SYSTEM,)) == [dead, None]
    assert one(db, "select state from howdah.show_message(%s, %s)", (SYSTEM, dead)) == "dead"


def test_a_page_ends_at_its_rows_and_the_next_begins_behind_it(db: Db) -> None:
    sent = [send(db, priority=priority) for priority in (1, 8, 4, 8)] + [send(db, delay="1 hour")]
    found, ends = pages(db, {}, rows=2)
    assert [row[0] for row in found] == [sent[1], sent[3], sent[2], sent[0], sent[4]]
    assert [(end[10], end[11]) for end in ends] == [(2, False), (2, False), (1, True)]


def test_a_look_is_bounded_and_says_how_far_it_looked(db: Db) -> None:
    one(db, "select count(*) from howdah.send_batch('q', array_fill('x'::text, array[20001]))")
    last = send(db, "needle", priority=0)
    (end,) = db.execute(FIND, ('{"body": "needle"}', None, 50)).fetchall()
    assert (end[0], end[10], end[11]) == (None, 20000, False)
    (found, end) = db.execute(FIND, ('{"body": "needle"}', json.dumps(end[9]), 50)).fetchall()
    assert (found[0], end[10], end[11]) == (last, 2, True)
    assert db.execute("select * from howdah.count_matching('q')").fetchall() == [(20002, 20002, True, None)]


@pytest.mark.slow
def test_a_look_ends_after_the_bytes_of_bodies_that_it_may_read(db: Db) -> None:
    for _ in range(5):
        send(db, "x" * 9_000_000)
    rows = db.execute(FIND, ('{"body": "y"}', None, 50)).fetchall()
    assert [(row[0], row[10], row[11]) for row in rows] == [(None, 4, False)]


def test_a_look_locks_nothing_and_waits_for_nobody(db: Db, connect: Connect) -> None:
    sent = send(db)
    holder = connect()
    with holder.transaction(force_rollback=True):
        assert column(holder, "select message_id from howdah.receive('q')") == [sent]
        assert ids(db) == {sent}
    looker = connect()
    with looker.transaction():
        assert ids(looker) == {sent}
        assert one(looker, "select count(*) from howdah.count_matching('q')") == 1
        assert one(looker, "select id from howdah.show_message('q', %s)", (sent,)) == sent
        assert column(db, "select message_id from howdah.receive('q')") == [sent]


@pytest.mark.parametrize(
    "given",
    [
        "[]", '{"colour": "red"}', '{"state": "lost"}', '{"min_priority": 10}', '{"min_priority": "x"}',
        '{"sent_after": "soon"}', '{"header": "x"}', '{"body": 1}', '{"group": null}',
    ],
)  # fmt: skip
def test_a_filter_with_an_unknown_key_or_a_wrong_value_is_refused(db: Db, given: str) -> None:
    for call in ("find_messages('q', %s)", "count_matching('q', %s)", "act_on_matching('q', 'discard', %s, 'why')"):
        refused(db, "HD005", f"select howdah.{call}", (given,))


@pytest.mark.parametrize(
    "after", ["3", "{}", '{"place": 9, "rank": 1, "key": 1}', '{"place": 1, "rank": 1, "key": -7}']
)
def test_a_cursor_that_no_search_gave_is_refused(db: Db, after: str) -> None:
    refused(db, "HD005", "select howdah.find_messages('q', '{}', %s)", (after,))
    refused(
        db,
        "HD005",
        "select howdah.act_on_matching('q', 'park', '{}', 'why', options => jsonb_build_object('after', %s::jsonb))",
        (after,),
    )


LOOKS = (
    "select count(*) from howdah.find_messages('q')",
    "select count(*) from howdah.count_matching('q')",
    "select count(*) from howdah.show_message('q', 1)",
    "select count(*) from howdah.message_history('q', 1)",
)
ACTS = ("select howdah.act_on_matching('q', 'discard', '{}', 'why')", "select howdah.set_redaction('>', '$')")


def test_a_browser_looks_and_a_producer_does_not_and_neither_acts(db: Db, connect: Connect) -> None:
    browser, producer = connect("howdah_browser"), connect("howdah_producer")
    for look in LOOKS:
        one(browser, look)
        refused(producer, "42501", look)
    for act in (*ACTS, "select howdah.drop_redaction('>', '$')"):
        refused(browser, "42501", act)
        refused(producer, "42501", act)


def test_another_teams_queue_is_refused(db: Db, connect: Connect) -> None:
    for verb, holder in db.execute("select verb, role from howdah.list_grants('q') order by verb = 'admin'").fetchall():
        one(db, "select howdah.revoke_queue('q', %s, %s)", (verb, holder))
    for look in LOOKS:
        refused(connect("howdah_browser"), "HD010", look)
    refused(connect("howdah_admin"), "HD010", ACTS[0])


def test_things_are_found_by_a_part_of_their_names_by_who_sees_them(db: Db, connect: Connect) -> None:
    one(db, "select howdah.create_topic('Shop.News')")
    one(db, "select howdah.subscribe('Shop.News', 'reader')")
    one(db, "select howdah.create_queue('shop.orders')")
    one(db, "select howdah.schedule('shop.orders', 'x', period => '1 hour', name => 'shop.nightly')")
    one(db, "select howdah.register_worker('shop-1', 'h', 1, 1, array['q'])")
    one(db, "select howdah.register_instance('shop-1', 'h', 1)")
    one(db, "select howdah.create_link('shop-link', 'shop.orders', 'there', dsn_env => 'HOWDAH_LINK_DSN')")
    found = "select kind, name, queue_name from howdah.find_names('SHOP')"
    everything = [
        ("instance", "shop-1", None),
        ("link", "shop-link", "shop.orders"),
        ("queue", "shop.orders", None),
        ("schedule", "shop.nightly", "shop.orders"),
        ("subscription", "Shop.News::reader", "Shop.News"),
        ("topic", "Shop.News", None),
        ("worker", "shop-1", None),
    ]
    assert db.execute(found).fetchall() == everything
    assert db.execute("select kind from howdah.find_names('', 1)").fetchall() == [(row[0],) for row in everything]
    reader = connect("howdah_browser")
    one(db, "select howdah.revoke_queue('shop.orders', 'browse', 'howdah_browser')")
    seen = [row for row in everything if "shop.orders" not in row]
    assert reader.execute(found).fetchall() == seen
