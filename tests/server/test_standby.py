"""What a standby answers: what it has as a whole, and an error of Howdah's own for what it has in part."""

from __future__ import annotations

import chance
import fuzz
import psycopg
import pytest
from fuzz_world import furnish, look
from support import column, refused

from howdah.engine.embedded import EmbeddedServer

WHOLE = [
    "list_queues()",
    "queue_options('orders')",
    "engine_options()",
    "engine_state()",
    "list_topics()",
    "list_schedules()",
    "list_delayed('orders')",
    "list_listeners()",
    "list_workers()",
    "list_leases('orders')",
    "list_acts()",
    "list_audits()",
    "list_archive_runs()",
    "list_grants('orders')",
    "list_policies()",
    "list_transactions()",
    "list_open_transactions()",
    "incidents()",
    "check_server()",
    "health()",
    "audit_digests()",
    "audit_journal",
    "audit_incidents",
    "audit_acts",
    "audit_destinations",
    "audit_cursors",
    "audit_locks",
    "audit_workers",
    "archive_incidents",
]
IN_PART = [
    "browse('orders')",
    "queue_stats()",
    "resource_state()",
    "list_poison()",
    "list_poison_queues()",
    "poison_causes()",
    "poison_message(1)",
    "list_subscriptions()",
    "topic_history('news')",
    "last_acked_id(1)",
    "journal_offset()",
]


@pytest.mark.slow
def test_a_standby_answers_or_refuses_with_a_documented_error(private_server: EmbeddedServer) -> None:
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        furnish(db)
        world = look(db)
        in_use = set(column(db, "select proname::text from pg_proc where pronamespace = 'howdah'::regnamespace"))
    private_server.stop()
    (private_server.folder / "data" / "standby.signal").touch()
    dice = chance.dice()
    with psycopg.connect(private_server.start().dsn, autocommit=True) as db:
        for call in WHOLE:
            db.execute(f"select * from howdah.{call}".encode())
        for call in IN_PART:
            assert "standby" in (refused(db, "HD037", f"select * from howdah.{call}").message_primary or "")
        answered = {call.partition("(")[0] for call in WHOLE + IN_PART} & in_use
        refusals: list[tuple[str, str]] = []
        for function in fuzz.functions(db):
            given = {name: world.sound(dice, name, kind) for name, kind in function.arguments[: function.needed]}
            query, values = function.call(given)
            try:
                db.execute(query.encode(), values)
            except psycopg.Error as error:
                refusals.append((function.name, error.sqlstate or ""))
    by_itself = {"0A000", "25006"}  # PostgreSQL's: unlogged tables cannot be read, and nothing can be written
    others = [
        (name, state)
        for name, state in refusals
        if state not in fuzz.OURS and (state not in by_itself or name in answered)
    ]
    assert others == []
