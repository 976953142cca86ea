"""Only a suitable function is registered, called, or dropped once nobody uses it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import Connect, Db, column, one, refused
from transformation_support import put, shop_of, topic


@pytest.fixture
def shop(db: Db) -> Iterator[str]:
    """A role that owns a schema with the function shop.made, which is registered as "made"."""
    with shop_of(db) as role:
        yield role


def test_messages_wait_while_the_function_is_not_suitable(db: Db, shop: str) -> None:
    """It is no message's fault."""
    topic(db)
    one(db, "select howdah.send('t', 'tea')")
    db.execute("alter function shop.made security invoker")
    assert "it is not SECURITY DEFINER" in (
        refused(db, "HD049", "select * from howdah.receive('t::s')").message_primary or ""
    )
    assert one(db, "select unfit from howdah.list_transformations()") == "it is not SECURITY DEFINER"
    db.execute("alter function shop.made security definer")
    assert column(db, "select body from howdah.receive('t::s')") == ["TEA"]


def test_only_suitable_functions_are_registered(db: Db, shop: str) -> None:
    put(db, shop, "return m;", "invokers", "")
    put(db, one(db, "select current_user"), "return m;", "mine")
    for name, function, state, says in (
        ("x", "shop.nowhere", "HD004", "there is no such function (howdah.message)"),
        ("x", "made", "HD004", "there is no such function"),
        ("x", "shop.invokers", "HD004", "it is not SECURITY DEFINER"),
        ("x", "shop.mine", "HD004", "a superuser"),
        ("a b", "shop.made", "HD003", "bad name"),
        ("made", "shop.other", "HD004", "there is no such function"),
    ):
        said = refused(db, state, "select howdah.register_transformation(%s, %s)", (name, function))
        assert says in (said.message_primary or "")
    put(db, shop, "return m;", "other")
    refused(db, "HD049", "select howdah.register_transformation('made', 'shop.other')")
    assert one(db, "select howdah.register_transformation('made', 'shop.made')") is False


def test_one_that_is_used_is_not_dropped(db: Db, shop: str) -> None:
    topic(db)
    assert "subscription t::s" in (
        refused(db, "HD049", "select howdah.drop_transformation('made')").message_primary or ""
    )
    assert one(db, "select used_by from howdah.list_transformations()") == ["subscription t::s"]
    one(db, "select howdah.transform_subscription('t::s')")
    assert one(db, "select howdah.drop_transformation('made')") is True
    assert one(db, "select howdah.drop_transformation('made')") is False
    refused(db, "HD005", "select howdah.transform_subscription('t::s', 'made')")


def test_one_of_an_ended_subscription_or_a_dropped_bridge_is_dropped(db: Db, shop: str) -> None:
    topic(db)
    one(db, "select howdah.create_queue('q'), howdah.bridge('t', 'q', null, 'made')")
    one(db, "select howdah.unsubscribe('t::s')")
    refused(db, "HD049", "select howdah.drop_transformation('made')")
    one(db, "select howdah.drop_queue('q')")
    assert one(db, "select howdah.drop_transformation('made')") is True


def test_administrators_alone_set_them(db: Db, connect: Connect, shop: str) -> None:
    topic(db)
    for role in ("howdah_producer", "howdah_consumer"):
        other = connect(role)
        for call in ("register_transformation('x', 'shop.made')", "transform_subscription('t::s')"):
            refused(other, "42501", f"select howdah.{call}")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("alter function shop.made owner to howdah_consumer", "it belongs to howdah_consumer, not to"),
        ("alter function shop.made owner to current_user", "a superuser"),
        ("drop function shop.made", "there is no such function"),
        ("alter function shop.made rename to other", "there is no such function"),
        ("revoke execute on function shop.made from public", "may not EXECUTE it"),
        ("revoke usage on schema shop from howdah_nobody", "has no USAGE of its schema"),
        (
            "drop function shop.made; create function shop.made(m howdah.message) returns setof howdah.message"
            + " language sql security definer as 'select m'",
            "it is no function that returns",
        ),
    ],
)
def test_a_function_that_became_another_is_not_called(db: Db, shop: str, change: str, says: str) -> None:
    """Subscriptions wait, bridges reject, and nobody registers it."""
    topic(db)
    one(db, "select howdah.create_queue('q', '{\"exception_queue\": \"dead\"}'), howdah.bridge('t', 'q', null, 'made')")
    one(db, "select howdah.send('t', 'before')")
    assert column(db, "select body from howdah.receive('q')") == ["BEFORE"]
    db.execute(change.encode())
    assert says in one(db, "select unfit from howdah.list_transformations()")
    one(db, "select howdah.send('t', 'after')")
    assert says in (refused(db, "HD049", "select * from howdah.receive('t::s')").message_primary or "")
    assert says in one(db, "select error_text from howdah.incidents('q')")
    assert column(db, "select body from howdah.receive('dead')") == ["after"]
    assert one(db, "select behind from howdah.list_subscriptions()") == 2
    if "howdah_consumer" not in says:  # who may own one, but did not when it was registered
        refused(db, "HD004", "select howdah.register_transformation('again', 'shop.made')")


def test_a_consumers_search_path_brings_in_no_function(db: Db, connect: Connect, shop: str) -> None:
    """The function without a SET clause sees the path of Howdah's functions, not the consumer's."""
    topic(db)
    db.execute(
        "create schema other; create function other.upper(text) returns text language sql as $$ select 'forged' $$;"
        " grant usage on schema other to public; alter function shop.made reset search_path"
    )
    one(db, "select howdah.send('t', 'tea')")
    consumer = connect("howdah_consumer")
    consumer.execute("set search_path = other, pg_catalog")
    assert column(consumer, "select body from howdah.receive('t::s')") == ["TEA"]
