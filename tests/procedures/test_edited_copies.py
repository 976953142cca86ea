"""An edited copy of a dead message goes to its origin and names the original."""

import pytest
from operator_acts_support import acts
from support import SYSTEM, Db, column, deliver_and_fail, fail, one, receive


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")
    one(db, "select howdah.create_queue('aside')")


@pytest.mark.first_case
@pytest.mark.parametrize("discard", [False, True])
def test_an_edited_copy_goes_to_the_origin_and_names_the_original(db: Db, discard: bool) -> None:
    sent = one(
        db,
        "select howdah.send('q', '{\"n\": 1}'::jsonb, headers => '{\"a\": 1, \"b\": 2}',"
        " correlation_id => 'c', priority => 7,"
        " message_type => 't', reply_to => 'r')",
    )
    deliver_and_fail(db)
    copy = one(
        db,
        "select howdah.replay_edited(%s, %s, body => '{\"n\": 2}', headers => '{\"a\": 3}', discard => %s)",
        (SYSTEM, sent, discard),
    )
    (message,) = receive(db)
    assert copy != sent
    assert (message.message_id, message.body, message.headers) == (
        copy, '{"n": 2}', {"a": 3, "howdah_edited_from": sent}
    )  # fmt: skip
    assert (message.correlation_id, message.priority, message.message_type, message.reply_to) == ("c", 7, "t", "r")
    assert (message.delivery_count, message.stage, message.origin_queue, message.content_type) == (
        1, 0, None, "application/json"
    )  # fmt: skip
    assert column(db, "select message_id from howdah.list_poison()") == ([] if discard else [sent])
    done = [row[0] for row in acts(db)]
    assert done == (["discarded", "edited", "edited"] if discard else ["edited", "edited"])


def test_what_is_not_edited_stays_and_each_call_makes_another_copy(db: Db) -> None:
    sent = one(
        db, "select howdah.send('q', '\\x00ff'::bytea, headers => '{\"a\": 1}', delivery_mode => 'non-persistent')"
    )
    fail(db, sent)
    edit = "select howdah.replay_edited(%s, %s, target => 'aside')"
    copies = [one(db, edit, (SYSTEM, sent)) for _ in range(2)]
    found = receive(db, "aside", n=9)
    assert [m.message_id for m in found] == copies
    assert {(m.bytes, m.headers["a"], m.delivery_mode) for m in found} == {(b"\x00\xff", 1, "non-persistent")}
    assert one(db, "select howdah.replay_edited(%s, %s, bytes => '\\x01')", (SYSTEM, sent))
    assert receive(db)[0].bytes == b"\x01"
