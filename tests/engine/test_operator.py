"""The operator's verbs from Python."""

import asyncio
from datetime import timedelta

import pytest
from support import SYSTEM, Db, one

from howdah.engine import Admin
from howdah.engine.aio import connect_async
from howdah.engine.database.runner import run
from howdah.engine.errors import BadArgument, NoSuchMessage


@pytest.fixture
def admin(db: Db) -> Admin:
    return Admin(lambda call: run(db, call))


@pytest.fixture
def dead(db: Db, admin: Admin) -> list[int]:
    """Two messages that died in q."""
    admin.create_queue("q", max_failed_deliveries=1)
    admin.create_queue("aside")
    ids = [one(db, "select howdah.send('q', %s, headers => '{\"a\": 1}')", (body,)) for body in ("x", "y")]
    for sent in ids:
        one(
            db,
            "select outcome from howdah.record_failure('q', %s, error_text => 'no order 7', error_class => 'E')",
            (sent,),
        )
    return ids


def test_causes_dead_messages_and_their_incidents(admin: Admin, dead: list[int]) -> None:
    (cause,) = admin.poison_causes("q")
    assert (cause["incidents"], cause["messages"], cause["dead"], cause["sample_message"]) == (2, 2, 2, dead[1])
    now = admin.now()
    assert admin.poison_causes(since=now) == []
    assert [row["message_id"] for row in admin.list_poison(fingerprint=cause["fingerprint"], older_than=now)] == dead
    assert admin.list_poison(newer_than=now) == []
    (place,) = admin.list_poison_queues(cause["fingerprint"])
    assert (place["exception_queue"], place["dead"]) == (SYSTEM, 2)
    (incident,) = admin.incidents(
        "q", error_class="E", fingerprint=cause["fingerprint"], before=cause["sample_incident"]
    )
    assert incident["message"] == dead[0]


def test_a_found_message_says_where_it_lies(admin: Admin, dead: list[int]) -> None:
    found = admin.poison_message(dead[0])
    assert found is not None
    assert (found.message.body, found.message.queue, found.state) == ("x", SYSTEM, "dead")
    assert (found.due_at, found.parked_reason) == (None, None)
    before = admin.now()
    assert admin.park_messages(SYSTEM, dead[:1], delay=timedelta(hours=1), reason="later") == 1
    found = admin.poison_message(dead[0], SYSTEM)
    assert found is not None
    assert (found.state, found.parked_reason) == ("parked", "operator")
    assert found.due_at is not None
    assert found.due_at - before > timedelta(minutes=59)
    assert admin.retry(SYSTEM) == 1
    assert admin.poison_message(dead[0], "q") is None


def test_acts_return_how_many_and_raise_what_the_database_says(admin: Admin, dead: list[int]) -> None:
    assert admin.move_messages(SYSTEM, dead[:1], "aside", "look") == 1
    with pytest.raises(NoSuchMessage):
        admin.move_messages(SYSTEM, dead[:1], "aside")
    with pytest.raises(BadArgument):
        admin.move_messages(SYSTEM, dead[1:], SYSTEM)
    assert admin.replay("aside", max_messages=5) == 1
    assert admin.replay(SYSTEM, error_class="E", reason="mended") == 1
    assert admin.maintain("incidents") == 0


@pytest.mark.parametrize(
    ("body", "content_type", "stored"),
    [
        ("text", "text/plain", "text"),
        (b"\x00", "application/octet-stream", b"\x00"),
        ({"n": 1}, "application/json", '{"n": 1}'),
        (None, None, "x"),
    ],
)
def test_an_edited_copy_has_the_body_that_was_given(
    admin: Admin, dead: list[int], body: object, content_type: str, stored: object
) -> None:
    copy = admin.replay_edited(SYSTEM, dead[0], body=body, content_type=content_type, headers={"b": 2}, discard=True)  # type: ignore[arg-type]
    found = admin.poison_message(copy)
    assert found is not None
    assert found.message.body == stored
    assert found.message.headers == {"b": 2, "howdah_edited_from": dead[0]}
    assert admin.poison_message(dead[0]) is None


def test_the_same_verbs_for_asyncio(dsn: str, dead: list[int]) -> None:
    async def scenario() -> None:
        async with connect_async(dsn, max_size=1) as connection:
            assert [row["message_id"] for row in await connection.admin.list_poison()] == dead
            found = await connection.admin.poison_message(dead[0])
            assert found is not None
            assert found.state == "dead"
            assert await connection.admin.replay(SYSTEM, origin="q") == 2

    asyncio.run(scenario())
