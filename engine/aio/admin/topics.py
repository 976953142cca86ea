"""Topics and subscriptions: names and argument types of the procedures, nothing else.

To publish, ``send`` to the topic's name. To receive, ``receive`` by the subscription's name, as ``subscribe`` returns.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Unpack

from ...calls import Call, Rows, messages_of, scalar, table
from ...calls.admin_options import AliasOptions, SubscriptionOptions, TopicOptions
from ...calls.bodies import to_json
from ...calls.columns import ALIAS_COLUMNS, SUBSCRIPTION_COLUMNS, TOPIC_COLUMNS
from ...calls.message import Message
from ...calls.topics import Subscription, moment, unsubscribe
from .poison_admin import AsyncPoisonAdmin


class AsyncTopics(AsyncPoisonAdmin):
    """The verbs of topics over anything that runs a call."""

    def __init__(self, run: Callable[[Call[Any]], Awaitable[Any]], *, client_id: str = "") -> None:
        """client_id: the client of subscriptions that name none."""
        super().__init__(run)
        self._client_id = client_id

    async def create_alias(self, alias: str, target: str, **options: Unpack[AliasOptions]) -> None:
        """Give a queue or topic another name, with levels of its own. Raises NoSuchQueue, QueueExists, BadOption."""
        await self._run(
            scalar("create_alias", alias=("text", alias), target=("text", target), options=("jsonb", to_json(options)))
        )

    async def alter_alias(self, alias: str, target: str | None = None, **options: Unpack[AliasOptions]) -> None:
        """Change options of an alias, or what it stands for."""
        await self._run(
            scalar("alter_alias", alias=("text", alias), target=("text", target), options=("jsonb", to_json(options)))
        )

    async def drop_alias(self, alias: str) -> bool:
        """End an alias; its target stays. Returns False if there was none."""
        return await self._run(scalar("drop_alias", alias=("text", alias)).then(bool))

    async def list_aliases(self) -> Rows:
        """Return every alias; a level that is None is the target's."""
        return await self._run(table("list_aliases", ALIAS_COLUMNS))

    async def create_topic(self, topic: str, **options: Unpack[TopicOptions]) -> int:
        """Create a topic. The SQL API lists the options. Raises QueueExists, BadName, BadOption, InvalidSelector."""
        return await self._run(
            scalar("create_topic", topic=("text", topic), options=("jsonb", to_json(options))).then(int)
        )

    async def alter_topic(self, topic: str, **options: Unpack[TopicOptions]) -> None:
        """Change options of a topic."""
        await self._run(scalar("alter_topic", topic=("text", topic), options=("jsonb", to_json(options))))

    async def topic_options(self, topic: str) -> dict[str, Any]:
        """Return every option of a topic with its value."""
        return await self._run(scalar("topic_options", topic=("text", topic)).then(dict))

    async def drop_topic(self, topic: str, *, force: bool = False) -> int:
        """Drop a topic. Returns how many subscriptions ``force`` dropped. Raises QueueNotEmpty, SubscriptionInUse."""
        return await self._run(scalar("drop_topic", topic=("text", topic), force=("boolean", force)).then(int))

    async def list_topics(self) -> Rows:
        """Return every topic."""
        return await self._run(table("list_topics", TOPIC_COLUMNS))

    async def topic_history(self, topic: str, since: datetime | None = None, max_messages: int = 100) -> list[Message]:
        """Return a topic's messages that are still stored, oldest first, from a time on. Takes nothing."""
        return await self._run(
            messages_of("howdah.topic_history(%s::text, %s::timestamptz, %s::integer)", (topic, since, max_messages))
        )

    async def subscribe(
        self,
        topic: str,
        name: str | None = None,
        *,
        client_id: str | None = None,
        selector: str | None = None,
        shared: bool = False,
        durable: bool = True,
        no_local: bool = False,
        since: datetime | None = None,
        **options: Unpack[SubscriptionOptions],
    ) -> str:
        """Subscribe to a topic or wildcard. Returns the subscription's name, which every verb takes like a queue's.

        - client_id: None is the one that the connection has claimed, if any.
        - since: also receive what was sent from that time on and is still stored; datetime.min: all of it.
        - options: prioritized, and the poison policy as in create_queue.

        The same definition again changes nothing; another definition starts the subscription anew.
        Raises NoSuchQueue, BadName, BadOption, BadArgument, InvalidSelector, SubscriptionInUse.
        """
        client_id = self._client_id if client_id is None else client_id
        wanted = Subscription(topic, name, client_id, selector, shared, durable, no_local, since, options)
        return await self._run(wanted.call())

    async def unsubscribe(self, subscription: str) -> None:
        """End a subscription. It loses the messages that it has not read. Raises SubscriptionInUse."""
        await self._run(unsubscribe(subscription))

    async def seek_subscription(self, subscription: str, since: datetime) -> int:
        """Move a subscription to a time: what is still stored from then on comes again; what is older is skipped.

        datetime.min is the beginning, datetime.max the end. Returns how many messages it had not read and now skips.
        Raises SubscriptionInUse.
        """
        call = scalar("seek_subscription", subscription=("text", subscription), since=("timestamptz", moment(since)))
        return await self._run(call.then(int))

    async def list_subscriptions(self, topic: str | None = None) -> Rows:
        """Return every subscription, or those to a topic, and how far behind each is."""
        return await self._run(table("list_subscriptions", SUBSCRIPTION_COLUMNS, topic=("text", topic)))

    async def bridge(
        self, topic: str, queue: str, selector: str | None = None, transformation: str | None = None
    ) -> None:
        """Pass a topic's messages on to a queue too. Another call changes the selector and the transformation."""
        await self._run(
            scalar(
                "bridge",
                topic=("text", topic),
                queue=("text", queue),
                selector=("text", selector),
                transformation=("text", transformation),
            )
        )

    async def unbridge(self, topic: str, queue: str) -> bool:
        """Stop passing messages on to a queue. Returns whether they were."""
        return await self._run(scalar("unbridge", topic=("text", topic), queue=("text", queue)).then(bool))

    async def list_bridges(self, topic: str) -> Rows:
        """Return the queues that get a topic's messages."""
        return await self._run(table("list_bridges", "queue, selector, transformation", topic=("text", topic)))

    async def register_transformation(self, name: str, function: str) -> bool:
        """Let bridges, links and subscriptions use a function, SCHEMA.FUNCTION. Returns whether it is new.

        Raises BadOption if the function is not suitable, and TransformationRefused if the name has another one.
        """
        call = scalar("register_transformation", name=("text", name), function=("text", function))
        return await self._run(call.then(bool))

    async def drop_transformation(self, name: str) -> bool:
        """Forget a transformation. Returns whether there was one. Raises TransformationRefused if it is used."""
        return await self._run(scalar("drop_transformation", name=("text", name)).then(bool))

    async def list_transformations(self) -> Rows:
        """Return the transformations: their functions, why one cannot be called, and who uses them."""
        columns = "name, function, unfit, used_by, registered_at, registered_by"
        return await self._run(table("list_transformations", columns))

    async def transform_subscription(self, subscription: str, transformation: str | None = None) -> None:
        """Let a subscription's consumers get messages as a transformation makes them; None: as they were published."""
        await self._run(
            scalar(
                "transform_subscription",
                subscription=("text", subscription),
                transformation=("text", transformation),
            )
        )

    async def rebase_topics(self) -> str:
        """Adapt topics after a restore into another cluster. Returns what was rewritten.

        Raises BadArgument if there is nothing to do.
        """
        return await self._run(scalar("rebase_topics").then(str))
