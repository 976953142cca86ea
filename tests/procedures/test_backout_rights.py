"""Backing out needs rights of the consumer's role, which administrators grant."""

from __future__ import annotations

import pytest
from policy_support import (
    DEAD_LETTER,
    Create,
    send,
)
from support import (
    Connect,
    Db,
    fail,
    one,
    receive,
    refused,
)


@pytest.mark.behaviour("WAS-42")
@pytest.mark.behaviour("WAS-43")
def test_backing_out_needs_five_rights_of_the_consumers_role(db: Db, create: Create, connect: Connect) -> None:
    create("BACKOUT")
    create(preset="websphere_mq", max_failed_deliveries=1, exception_queue="BACKOUT")
    consumer = connect("howdah_consumer")
    for verb in ("send", "pass_all", "set_all"):  # get and inquire it has
        one(db, "select howdah.grant_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))
    sent = send(db, correlation_id="c")
    at = one(db, "select sent_at from howdah.browse('q')")
    fail(consumer, sent)
    assert receive(consumer) == []
    (backed_out,) = receive(db, "BACKOUT", 1, "browse")
    assert (backed_out.message_id, backed_out.correlation_id) == (sent, "c")
    assert one(db, "select sent_at from howdah.browse('BACKOUT')") == at
    for verb in ("receive", "browse", "send", "pass_all", "set_all"):
        assert one(db, "select howdah.revoke_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))
        assert not one(db, "select howdah.revoke_queue('BACKOUT', %s, 'howdah_consumer')", (verb,)), "a second call"
        sent = send(db)
        fail(consumer, sent)
        assert receive(consumer) == []
        (dead,) = receive(db, DEAD_LETTER)
        assert dead.message_id == sent, verb
        assert "NOT_AUTHORIZED" in str(dead.dead_reason)
        one(db, "select howdah.grant_queue('BACKOUT', %s, 'howdah_consumer')", (verb,))


def test_rights_are_granted_by_administrators_only_and_must_exist(db: Db, create: Create, connect: Connect) -> None:
    create()
    refused(db, "HD005", "select howdah.grant_queue('q', 'fly', 'howdah_consumer')")
    refused(db, "HD005", "select howdah.grant_queue('q', 'send', 'no such role')")
    refused(connect("howdah_consumer"), "42501", "select howdah.grant_queue('q', 'send', 'howdah_consumer')")
    rights = db.execute("select verb, role from howdah.list_grants('q')").fetchall()
    assert ("receive", "howdah_consumer") in rights
