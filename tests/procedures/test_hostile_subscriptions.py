"""Nobody ends, reads or misuses the subscription of another tenant, nor gains a right by his own."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from support import Connect, Db, one, refused
from topics_support import bodies, publish, subscribe, topic

Ordinary = Callable[..., str]


@pytest.fixture
def tenants(ordinary: Ordinary, become: Callable[[str], Db], db: Db) -> tuple[Db, Db]:
    """Two tenants; the topics s.a and s.b are the first one's, u the second one's."""
    roles = [ordinary(name, "howdah_consumer", "howdah_producer") for name in ("tena", "tenb")]
    for name, role in (("s.a", roles[0]), ("s.b", roles[0]), ("u", roles[1])):
        topic(db, name)
        for verb, holder in db.execute("select verb, role from howdah.list_grants(%s)", (name,)).fetchall():
            one(
                db, "select howdah.revoke_queue(%s, %s, %s)", (name, verb, holder)
            ) if holder != "howdah_admin" else None
        for verb in ("send", "receive", "browse"):
            one(db, "select howdah.grant_queue(%s, %s, %s)", (name, verb, role))
    return become(roles[0]), become(roles[1])


@pytest.mark.first_case
@pytest.mark.parametrize("other", ["nothing.*", "u"])
def test_nobody_ends_another_tenants_subscription_by_giving_its_name_to_one_of_his_own(
    tenants: tuple[Db, Db], db: Db, other: str
) -> None:
    mine, theirs = tenants
    name = subscribe(mine, "w", to="s.a", client_id="c")
    publish(mine, "precious", to="s.a")
    refused(theirs, "HD010", "select howdah.subscribe(%s, 'w', client_id => 'c')", (other,))
    assert bodies(mine, name) == ["precious"]
    assert subscribe(mine, "w", to="s.b", client_id="c") == "s.b:c:w", "who may end it gives it another topic"
    refused(mine, "HD001", "select howdah.receive(%s)", (name,))


@pytest.mark.first_case
@pytest.mark.parametrize("to", ["s.*", "new.*"], ids=["of topics", "of none yet"])
def test_others_do_nothing_at_a_tenants_subscription_by_wildcard(tenants: tuple[Db, Db], db: Db, to: str) -> None:
    mine, theirs = tenants
    name = subscribe(mine, "w", to=to, client_id="c", options={"max_failed_deliveries": 1})
    if to == "new.*":
        topic(db, "new.a")
    published = to.replace("*", "a")
    one(db, "select howdah.grant_queue(%s, 'send', %s)", (published, one(mine, "select session_user::text")))
    (sent,) = publish(mine, "precious", to=published)
    leased = "0"
    if to == "s.*":
        leased = one(mine, "select lease::text from howdah.lease(%s, 1, '1 h')", (name,))
    for call in (
        f"record_failure(%s, {sent}, reject => true)",
        "unsubscribe(%s)",
        "seek_subscription(%s, 'infinity')",
        "list_leases(%s)",
        f"ack(%s, {leased})",
        f"nack(%s, {leased}, reject => true)",
        f"release(%s, {leased})",
        f"extend(%s, {leased})",
        f"end_leases(%s, array[{leased}::bigint], array[{sent}::bigint])",
        f"redeliver(%s, array[{leased}::bigint], array[{sent}::bigint])",
        "open_consumer(%s)",
        "ensure_listener('l', %s)",
        f"consume_locked(%s, array[{sent}::bigint], array[4], array[{sent // 1_000_000}::bigint])",
        "browse(%s)",
        "receive(%s)",
        "lease(%s)",
    ):
        refused(theirs, "HD010", f"select howdah.{call}", (name,))
    if to == "s.*":
        one(mine, f"select howdah.ack(%s, {leased})", (name,))
    else:
        assert bodies(mine, name) == ["precious"]
    mine.execute("select howdah.unsubscribe(%s)", (name,))


def test_a_subscription_by_wildcard_is_shared_by_those_who_have_the_right_on_all_its_topics(
    tenants: tuple[Db, Db], connect: Connect, db: Db
) -> None:
    mine, theirs = tenants
    for name in ("open.a", "open.b"):
        topic(db, name)
    name = subscribe(mine, "w", to="open.*", shared=True)
    publish(db, "1", "2", to="open.a")
    assert bodies(theirs, name, 1) == ["1"]
    one(db, "select howdah.revoke_queue('open.b', 'receive', 'howdah_consumer')")
    mine.execute("select howdah.unsubscribe(%s)", (name,))
    refused(mine, "HD010", "select howdah.subscribe('open.*', 'w', shared => true)")


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ('"exception_mode": "named", "exception_queue": "secret"', "HD010"),
        ('"exception_queue": "secret"', "HD010"),
        ('"log_queue": "secret"', "HD010"),
        ('"log_queue": "none"', "HD001"),
        ('"journal_level": "off"', "HD010"),
        ('"persistent": false', "HD010"),
        ('"exception_prefix": "my."', "HD010"),
        ('"log_queue": "free", "exception_queue": "free"', None),
        ('"log_queue": null, "exception_queue": null, "preset": "activemq"', None),
    ],
)
def test_the_options_of_a_consumers_subscription_do_not_do_what_he_may_not(
    attacker: Db, connect: Connect, db: Db, option: str, expected: str | None
) -> None:
    topic(db, "t")
    one(db, "select howdah.create_queue('free')")
    options = f'{{{option}, "max_failed_deliveries": 1}}'
    query = "select howdah.subscribe('t', 's', options => %s)"
    if expected:
        refused(attacker, expected, query, (options,))
        one(db, "select howdah.create_queue('none')") if expected == "HD001" else None
        assert one(connect("howdah_admin"), query, (options,)) == "t::s", "an administrator's subscription may"
    else:
        assert one(attacker, query, (options,)) == "t::s"
