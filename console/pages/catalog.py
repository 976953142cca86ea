"""The pages of one table, by their path."""

from __future__ import annotations

from ..database import Work
from .dead import DEAD
from .engine_lists import ENGINE_LISTS
from .kept import KEPT
from .listings import Listing, to_act, to_messages, to_queue

QUEUE = (("queue", "text"),)
#: The usual name of that argument in lists.
ROWS = "max_rows"


LISTINGS = {
    "/topics": Listing(
        "Topics",
        "list_topics",
        (
            ("topic", "Topic"),
            ("subscriptions", "Subscriptions"),
            ("durable_subscriptions", "Durable"),
            ("bridges", "Bridges"),
            ("published", "Published"),
            ("discarded", "Discarded"),
            ("sending_paused", "Paused"),
            ("refused_for", "Refuses because"),
        ),
        "There is no topic. Create one: howdah topic create news",
        links={"topic": lambda row, link: link("/subscriptions", topic=row["topic"])},
        limit=ROWS,
        after=(("after", "text", "topic"),),
    ),
    "/subscriptions": Listing(
        "Subscriptions",
        "list_subscriptions",
        (
            ("subscription", "Subscription"),
            ("topic_name", "Topic"),
            ("behind", "Behind, messages"),
            ("behind_for", "Behind for"),
            ("delivered", "Delivered"),
            ("set_aside", "Set aside"),
            ("paused", "Paused"),
            ("selector", "Selector"),
            ("silent_for", "Silent for"),
        ),
        "Nobody subscribes. Subscribe: howdah subscription create TOPIC NAME",
        hint="Behind: what was published and this subscription has not had.",
        arguments=(("topic", "text"),),
        acts={"Seek": to_act("seek", "subscription")},
        pick="subscription",
        all_of="topic",
        limit=ROWS,
        after=(("after", "text", "subscription"),),
    ),
    "/schedules": Listing(
        "Schedules",
        "list_schedules",
        (
            ("schedule_id", "Schedule"),
            ("name", "Name"),
            ("queue_name", "Queue"),
            ("state", "State"),
            ("cron", "Cron"),
            ("period", "Every"),
            ("time_zone", "Zone"),
            ("next_at", "Next"),
            ("last_fired_at", "Last"),
            ("fired", "Fired"),
            ("missed", "Missed"),
            ("last_error", "Error"),
        ),
        "Nothing is scheduled. Schedule: howdah schedule add QUEUE BODY --cron '0 6 * * *'",
        arguments=QUEUE,
        links={"queue_name": to_queue},
        acts={
            "Pause": to_act("pause-schedule", "schedule_id"),
            "Resume": to_act("resume-schedule", "schedule_id"),
            "Fire now": to_act("fire-schedule", "schedule_id"),
            "Cancel": to_act("cancel-schedule", "schedule_id"),
        },
        pick="schedule_id",
        all_of="queue",
        limit=ROWS,
        after=(("after_at", "timestamptz", "next_at"), ("after_schedule", "bigint", "schedule_id")),
    ),
    "/delayed": Listing(
        "Delayed",
        "list_delayed",
        (
            ("message_id", "Message"),
            ("due_at", "Due"),
            ("sent_at", "Sent"),
            ("reason", "Why"),
            ("priority", "Priority"),
            ("message_type", "Type"),
            ("correlation_id", "Correlation"),
            ("bytes", "Bytes"),
        ),
        "Nothing waits for its time in this queue. Send something for later: howdah send QUEUE BODY --delay 10min",
        arguments=QUEUE,
        needed="queue",
        limit="max_messages",
        after=(
            ("after_due", "timestamptz", "due_at"),
            ("after_priority", "integer", "priority"),
            ("after_position", "bigint", "position"),
        ),
    ),
    "/workers": Listing(
        "Workers",
        "list_workers",
        (
            ("name", "Worker"),
            ("host", "Host"),
            ("pid", "Process"),
            ("sessions", "Sessions"),
            ("queues", "Queues"),
            ("in_hand", "In hand"),
            ("started_at", "Since"),
            ("silent_for", "Silent for"),
            ("instance", "Instance"),
        ),
        "No worker runs. Start one: howdah worker QUEUE --handler module:function",
        limit=ROWS,
        after=(
            ("after_name", "text", "name"),
            ("after_start", "timestamptz", "started_at"),
            ("after_worker", "uuid", "worker_id"),
        ),
    ),
    "/consumers": Listing(
        "Consumers",
        "list_consumers",
        (
            ("consumer", "Consumer"),
            ("queue_name", "Queue"),
            ("active", "Active"),
            ("exclusive", "Exclusive"),
            ("priority", "Priority"),
            ("groups", "Groups"),
            ("opened_at", "Since"),
            ("opened_by", "By"),
            ("seen_at", "Seen"),
            ("instance", "Instance"),
        ),
        "There is no open consumer. Queues with exclusive consumers, one at a time or sticky groups have them: start a"
        " worker, howdah worker QUEUE --handler module:function",
        hint="Consumers of queues that tell theirs apart, and of subscriptions. Other queues are with their workers.",
        arguments=QUEUE,
        links={"queue_name": to_messages},
        acts={"End": to_act("end-consumer", "consumer")},
        pick="consumer",
        all_of="queue",
        limit=ROWS,
        after=(("after", "bigint", "consumer"),),
    ),
    "/leases": Listing(
        "Leases",
        "list_leases",
        (
            ("lease", "Lease"),
            ("queue_name", "Queue"),
            ("messages", "Messages"),
            ("leased_until", "Until"),
            ("consumer", "Consumer"),
        ),
        "Nothing is leased. Lease messages: howdah.lease(queue), or a worker with leases.",
        hint="The oldest lease first. Those of the past have ended: their messages go to whoever receives next. The"
        " consumer is known if the lease ends with its session.",
        arguments=QUEUE,
        links={"queue_name": to_messages},
        limit=ROWS,
        after=(("after", "bigint", "lease"),),
    ),
    "/links": Listing(
        "Links",
        "list_links",
        (
            ("name", "Link"),
            ("source", "From"),
            ("target_queue", "To"),
            ("state", "State"),
            ("waiting", "Waiting"),
            ("forwarded", "Forwarded"),
            ("forwarded_at", "Last"),
            ("away_since", "Away since"),
            ("last_error", "Error"),
        ),
        "No link forwards to another engine. Create one: howdah link create",
        acts={"Pause": to_act("pause-link", "name"), "Resume": to_act("resume-link", "name")},
        pick="name",
        limit=ROWS,
        after=(("after", "text", "name"),),
    ),
    "/transformations": Listing(
        "Transformations",
        "list_transformations",
        (
            ("name", "Transformation"),
            ("function", "Function"),
            ("used_by", "Used by"),
            ("unfit", "Cannot be called because"),
            ("registered_at", "Registered"),
            ("registered_by", "By"),
        ),
        "No function changes messages on their way. Register one: howdah transformation register NAME FUNCTION",
        hint="While one cannot be called, its subscriptions and links wait, and its bridges reject.",
        limit=ROWS,
        after=(("after", "text", "name"),),
    ),
    **ENGINE_LISTS,
    "/dead": DEAD,
    "/kept": KEPT,
}


def closed(work: Work) -> frozenset[str]:
    """Paths of the pages that this person's role may not read at all: the menu leaves them out."""
    functions = {path: listing.function for path, listing in LISTINGS.items()}
    functions |= {"/messages": "find_messages", "/causes": "poison_causes"}
    callable_ = work.callable_among(list(functions.values()))
    return frozenset(path for path, function in functions.items() if function not in callable_)
