"""What a redaction rule hides leaves the server by no look, no guess and no other place of the message."""

import json
import secrets
from typing import Any

import pytest
from search_support import ids, pages, send
from support import SYSTEM, Connect, Db, column, fail, one, refused


@pytest.fixture(autouse=True)
def queue(db: Db) -> None:
    one(db, """select howdah.create_queue('q', '{"max_failed_deliveries": 1}')""")


SECRET = {"name": "Ada", "card": {"number": "4111", "month": 3}, "people": [{"pin": "9876"}, {"pin": "5432"}]}


def test_what_a_rule_hides_leaves_the_server_neither_by_a_look_nor_by_a_guess(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card.number', 'PCI')")
    one(db, "select howdah.set_redaction('>', '$.people[*].pin')")
    sent = send(db, SECRET)
    hidden = {"name": "Ada", "card": {"number": "[redacted]", "month": 3}, "people": [{"pin": "[redacted]"}] * 2}
    for viewer in (db, connect("howdah_browser")):
        assert json.loads(one(viewer, "select body from howdah.show_message('q', %s)", (sent,))) == hidden
        assert json.loads(pages(viewer, {})[0][0][7]) == hidden
        for guess in ("4111", "9876", "411"):
            assert ids(viewer, body=guess) == set()
            assert (
                one(viewer, "select matching from howdah.count_matching('q', %s)", (json.dumps({"body": guess}),)) == 0
            )
        assert ids(viewer, body="Ada") == {sent}


def test_the_older_looks_show_redacted_bodies_to_those_who_only_browse(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    sent = send(db, SECRET)
    looks = (
        "select body from howdah.browse('q')",
        f"select (message).body from howdah.poison_message({sent})",
    )
    for look in looks:
        assert "4111" not in one(connect("howdah_browser"), look)
        assert "4111" in one(connect("howdah_consumer"), look)
        assert "4111" in one(db, look)
    assert one(connect("howdah_auditor"), "select msg from howdah.activemq_msgs where container = 'queue://q'") is None
    one(db, "select howdah.create_topic('t')")
    one(db, "select howdah.set_redaction('t', '$.card')")
    one(db, "select howdah.send('t', %s::jsonb)", (json.dumps(SECRET),))
    assert not any(
        "4111" in body for body in column(connect("howdah_browser"), "select body from howdah.topic_history('t')")
    )


@pytest.mark.parametrize(
    ("kind", "body"),
    [("text", "4111"), ("text", '"4111"'), ("text", '{"card": "4111"'), ("bytea", b'{"card": "4111"}')],
)
def test_where_a_rule_matches_a_body_that_is_no_json_object_is_hidden_whole(
    db: Db, connect: Connect, kind: str, body: Any
) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    sent = one(db, f"select howdah.send('q', %s::{kind})", (body,))
    assert one(db, "select body from howdah.show_message('q', %s)", (sent,)) == "[redacted]"
    shown = db.execute("select body, bytes from howdah.browse('q')").fetchall()
    assert shown[0][0 if kind == "text" else 1] == body
    seen = connect("howdah_browser").execute("select body, bytes from howdah.browse('q')").fetchall()
    assert seen == [("[redacted]", None) if kind == "text" else (None, b"[redacted]")]


def test_redaction_rules_are_listed_dropped_and_on_record(db: Db) -> None:
    assert one(db, "select howdah.set_redaction('a.*', '$.x', 'one')") is True
    assert one(db, "select howdah.set_redaction('a.*', '$.x', 'two')") is False
    user = one(db, "select current_user")
    rules = "select pattern, path, reason, set_by from howdah.list_redactions()"
    assert db.execute(rules.encode()).fetchall() == [("a.*", "$.x", "two", user)]
    assert one(db, "select howdah.drop_redaction('a.*', '$.x', 'over')") is True
    assert one(db, "select howdah.drop_redaction('a.*', '$.x')") is False
    changes = db.execute("select act, actor, name, reason from howdah.list_changes('redaction')").fetchall()
    made = [("dropped", "over"), ("altered", "two"), ("created", "one")]
    assert changes == [(act, user, "a.* $.x", reason) for act, reason in made]
    refused(db, "HD003", "select howdah.set_redaction('a b', '$')")
    for path in ("card", "$..card", "$.a b", "$." + secrets.token_hex(5000), "", None):
        refused(db, "HD005", "select howdah.set_redaction('q', %s)", (path,))


def test_a_dead_message_and_one_of_a_subscription_stay_redacted(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    one(db, "select howdah.set_redaction('t', '$.card')")
    one(db, "select howdah.create_topic('t')")
    subscription = one(db, "select howdah.subscribe('t', 'c', 's')")
    one(db, "select howdah.send('t', %s::jsonb)", (json.dumps(SECRET),))
    dead = send(db, SECRET)
    assert fail(db, dead)[2] == "moved"
    browser = connect("howdah_browser")
    bodies = [
        one(browser, "select body from howdah.browse(%s)", (SYSTEM,)),
        one(browser, "select body from howdah.browse(%s)", (subscription,)),
        one(browser, "select (message).body from howdah.poison_message(%s)", (dead,)),
        one(browser, "select body from howdah.show_message(%s, %s)", (SYSTEM, dead)),
        column(browser, "select body from howdah.find_messages(%s)", (SYSTEM,))[0],
    ]
    assert [json.loads(body)["card"] for body in bodies] == ["[redacted]"] * 5
    guess = json.dumps({"body": "4111"})
    assert one(browser, "select matching from howdah.count_matching(%s, %s)", (SYSTEM, guess)) == 0


def test_a_topics_message_stays_redacted_when_it_dies_in_a_subscription_or_waits_there(
    db: Db, connect: Connect
) -> None:
    one(db, "select howdah.set_redaction('news.eu', '$.card')")
    one(db, "select howdah.create_topic('news.eu')")
    for pattern in ("news.eu", "news.>"):
        subscription = one(db, "select howdah.subscribe(%s, 's')", (pattern,))
        one(db, "select howdah.alter_queue(%s, '{\"max_failed_deliveries\": 1}')", (subscription,))
        number = one(db, "select howdah.send('news.eu', %s::jsonb)", (json.dumps(SECRET),))
        assert fail(db, number, queue=subscription)[2] == "moved"
        browser = connect("howdah_browser")
        bodies = [
            one(browser, "select body from howdah.browse(%s)", (SYSTEM,)),
            one(browser, "select (message).body from howdah.poison_message(%s)", (number,)),
            one(browser, "select body from howdah.show_message(%s, %s)", (SYSTEM, number)),
            column(browser, "select body from howdah.find_messages(%s)", (SYSTEM,))[0],
        ]
        assert [json.loads(body)["card"] for body in bodies] == ["[redacted]"] * 4
        guess = json.dumps({"body": "4111"})
        assert one(browser, "select matching from howdah.count_matching(%s, %s)", (SYSTEM, guess)) == 0
        one(db, "select howdah.purge_queue(%s)", (SYSTEM,))
        one(db, "select howdah.unsubscribe(%s)", (subscription,))


def test_an_alias_shows_nothing_that_its_queue_hides(db: Db, connect: Connect) -> None:
    one(db, "select howdah.set_redaction('q', '$.card')")
    one(db, "select howdah.create_queue('other'), howdah.create_alias('short', 'q')")
    moved = one(db, "select howdah.send('other', %s::jsonb)", (json.dumps(SECRET),))
    one(db, "select howdah.move_messages('other', array[%s]::bigint[], 'q')", (moved,))
    send(db, SECRET)
    bodies = column(connect("howdah_browser"), "select body from howdah.browse('short')")
    assert [json.loads(body)["card"] for body in bodies] == ["[redacted]"] * 2
