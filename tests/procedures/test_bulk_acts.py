"""Filters choose what is replayed, moved or discarded, and a dry run says how many."""

import pytest
from operator_acts_support import acts, dead
from support import SYSTEM, Clock, Connect, Db, all_refused, column, fail, one, receive, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


def test_what_replays_by_fingerprint_is_what_the_cause_counts_as_dead(db: Db) -> None:
    orders = [dead(db, f"no order {number}") for number in range(3)]
    disk = dead(db, "disk full")
    cause, count = db.execute("select fingerprint, dead from howdah.poison_causes('q', max_causes => 1)").fetchall()[0]
    replay = "select howdah.replay(%s, fingerprint => %s)"
    assert one(db, replay, (SYSTEM, cause)) == count == 3
    assert [m.message_id for m in receive(db, n=9)] == orders
    assert one(db, replay, (SYSTEM, cause)) == 0
    assert column(db, "select message_id from howdah.list_poison()") == [disk]


def test_a_sample_of_those_that_a_filter_meets_is_replayed_the_longest_dead_first(db: Db, clock: Clock) -> None:
    ids = []
    for text in ("a", "b", "a", "a"):
        ids.append(dead(db, text, error_class=text.upper()))
        clock.advance(10)
    assert one(db, "select howdah.replay(%s, error_class => 'A', max_messages => 2)", (SYSTEM,)) == 2
    assert [m.message_id for m in receive(db, n=9)] == [ids[0], ids[2]]
    young = clock.now
    assert one(db, "select howdah.replay(%s, newer_than => %s)", (SYSTEM, young)) == 0
    assert one(db, "select howdah.replay(%s, older_than => %s, origin => 'q')", (SYSTEM, young)) == 2


def test_a_selector_chooses_what_is_listed_and_replayed_wherever_it_lies(db: Db) -> None:
    sent = []
    for number, region in enumerate(("EU", "US", "EU", "EU")):
        sent.append(
            one(db, "select howdah.send('q', 'x', headers => %s)", (f'{{"region": "{region}", "n": {number}}}',))
        )
        fail(db, sent[-1])
    one(db, "select howdah.park_messages(%s, array[%s]::bigint[], delay => interval '1 day')", (SYSTEM, sent[2]))
    chosen = "region = 'EU' and n < 3"
    assert column(db, "select message_id from howdah.list_poison(selector => %s)", (chosen,)) == [sent[0], sent[2]]
    assert one(db, "select howdah.replay(%s, selector => %s)", (SYSTEM, chosen)) == 2
    assert one(db, "select howdah.replay(%s, selector => %s)", (SYSTEM, chosen)) == 0
    assert {m.message_id for m in receive(db, n=9)} == {sent[0], sent[2]}
    refused(db, "HD023", "select howdah.replay(%s, selector => 'region =')", (SYSTEM,))
    refused(db, "HD005", "select howdah.replay(%s, array[1]::bigint[], selector => 'true')", (SYSTEM,))
    assert one(db, "select count(*) from howdah.list_poison()") == 2


BULK = {
    "replayed": "replay({queue}, {chosen}, max_messages => {most}, dry_run => {dry})",
    "moved": "move_messages({queue}, target => 'aside', {chosen}, max_messages => {most}, dry_run => {dry})",
    "discarded": "discard({queue}, {chosen}, max_messages => {most}, dry_run => {dry})",
}


def bulk(db: Db, act: str, chosen: str, *, most: str = "null", dry: bool = False) -> int:
    """Act on the dead messages of the system's exception destination that a filter, or a list of numbers, meets."""
    found: int = one(db, "select howdah." + BULK[act].format(queue=f"'{SYSTEM}'", chosen=chosen, most=most, dry=dry))
    return found


@pytest.mark.first_case
@pytest.mark.parametrize("act", BULK)
def test_the_filters_of_list_poison_choose_what_is_replayed_moved_or_discarded(db: Db, clock: Clock, act: str) -> None:
    ids = []
    for number, error_class in enumerate(("A", "B", "A", "A", "A")):
        ids.append(one(db, "select howdah.send('q', 'x', headers => jsonb_build_object('n', %s::int))", (number,)))
        fail(db, ids[-1], error_text="broken", error_class=error_class)
        clock.advance(60)
    filters = f"error_class => 'A', origin => 'q', older_than => '{clock.now}', selector => 'n < 4'"
    assert bulk(db, act, filters, dry=True) == 3
    assert bulk(db, act, filters, most="2", dry=True) == 2
    assert column(db, "select message_id from howdah.list_poison()") == ids
    assert acts(db) == []
    assert bulk(db, act, filters, most="2") == 2
    assert column(db, "select message_id from howdah.list_poison()") == [ids[1], ids[3], ids[4]]
    assert [(row[0], row[5]) for row in acts(db)] == [(act, ids[0]), (act, ids[2])]
    assert (
        bulk(db, act, "fingerprint => (select fingerprint from howdah.poison_causes() order by dead desc limit 1)") == 2
    )
    assert bulk(db, act, "error_class => 'none'") == 0


@pytest.mark.parametrize("act", BULK)
def test_a_dry_run_says_what_the_act_would_say(db: Db, connect: Connect, act: str) -> None:
    ids = [dead(db), dead(db)]
    assert bulk(db, act, f"message_ids => array[{ids[0]}]", dry=True) == 1
    call = BULK[act].format(queue=f"'{SYSTEM}'", chosen="message_ids => array[1, 2]", most="null", dry=True)
    assert refused(db, "HD013", f"select howdah.{call}").message_primary
    refused(connect("howdah_consumer"), "42501", f"select howdah.{call}")
    assert len(column(db, "select message_id from howdah.list_poison()")) == 2
    if act == "replayed":
        one(db, "select howdah.drop_queue('q', true)")
        refused(db, "HD001", f"select howdah.replay('{SYSTEM}', dry_run => true)")
        assert one(db, f"select howdah.replay('{SYSTEM}', target => 'aside', dry_run => true)") == 2


def test_moving_and_discarding_in_bulk_need_a_choice(db: Db) -> None:
    sent = dead(db)
    all_refused(
        db,
        [
            ("HD005", f"select howdah.discard('{SYSTEM}')"),
            ("HD005", f"select howdah.discard('{SYSTEM}', '{{{sent}}}', origin => 'q')"),
            ("HD005", f"select howdah.discard('{SYSTEM}', origin => 'q', max_messages => -1)"),
            ("HD001", f"select howdah.discard('{SYSTEM}', origin => 'none')"),
            ("HD023", f"select howdah.discard('{SYSTEM}', selector => 'a =')"),
            ("HD005", f"select howdah.move_messages('{SYSTEM}', target => 'aside')"),
            ("HD005", f"select howdah.move_messages('{SYSTEM}', '{{{sent}}}', 'aside', origin => 'q')"),
            ("HD001", f"select howdah.move_messages('{SYSTEM}', origin => 'q')"),
            ("HD005", "select howdah.move_all('q', 'q')"),
            ("HD005", "select howdah.move_all('q', 'aside', -1)"),
            ("HD001", "select howdah.move_all('q', 'none')"),
        ],
    )


def test_moving_all_takes_live_parked_and_nonpersistent_messages_and_leaves_what_is_in_hand(
    db: Db, connect: Connect
) -> None:
    sent = [one(db, "select howdah.send('q', %s)", (body,)) for body in "abc"]
    later = one(db, "select howdah.send('q', 'd', delay => interval '1 hour')")
    light = one(db, "select howdah.send('q', 'e', priority => 1, delivery_mode => 'non-persistent')")
    consumer = connect("howdah_consumer")
    with consumer.transaction():
        (held,) = receive(consumer, n=1)
        assert one(db, "select howdah.move_all('q', 'aside', 2, dry_run => true)") == 2
        assert one(db, "select howdah.move_all('q', 'aside', reason => 'a new home')") == 4
    assert held.message_id == sent[0]
    moved = column(db, "select message_id from howdah.browse('aside', 9) order by 1")
    assert moved == sorted([*sent[1:], later, light])
    assert set(column(db, "select origin_queue from howdah.browse('aside', 9)")) == {"q"}
    assert {row[:4] for row in acts(db)} == {("moved", "q", "aside", "a new home")}
    assert one(db, "select howdah.move_all('q', 'aside')") == 0


READ = "select idx_tup_fetch + seq_tup_read from pg_stat_xact_user_tables where relid = 'howdah.msgs'::regclass"
"""How many rows of the messages this transaction has read."""


@pytest.mark.first_case
@pytest.mark.parametrize("call", ["discard('q', %s, dry_run => true)", "move_messages('q', %s, 'r', dry_run => true)"])
def test_a_dry_run_on_named_messages_reads_these_and_not_the_queue(db: Db, clock: Clock, call: str) -> None:
    one(db, "select howdah.create_queue('r')")
    one(db, "select howdah.send_batch('q', array(select 'x' from generate_series(1, 5000)))")
    ids = column(db, "select message_id from howdah.browse('q', 2000)")[-20:]
    ids.append(one(db, "select howdah.send('q', 'x', delay => '1 minute')"))
    ids.append(one(db, "select howdah.send('q', 'x', delivery_mode => 'non-persistent')"))
    with db.transaction():
        before = one(db, READ)
        assert one(db, f"select howdah.{call}", (ids,)) == 22
        assert one(db, READ) - before < 1000
    leased = one(db, "select message_id from howdah.lease('q', 1, interval '1 minute')")
    refused(db, "HD013", f"select howdah.{call}", ([leased],))
    clock.advance(61)
    assert one(db, f"select howdah.{call}", ([leased, leased],)) == 1
