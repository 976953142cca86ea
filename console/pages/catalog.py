"""The pages of one table, by their path."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .listings import Listing, to_act, to_queue
from .page import Link

QUEUE = (("queue", "text"),)


def _of_cause(act: str) -> Callable[[Mapping[str, Any], Link], str]:
    """The form of an act on all dead messages there with the row's cause."""

    def place(row: Mapping[str, Any], link: Link) -> str:
        filter_ = json.dumps({"state": "dead", "cause": row["last_fingerprint"]})
        return link("/act", act=act, queue=row["exception_queue"], filter=filter_)

    return lambda row, link: place(row, link) if row["last_fingerprint"] else _message(row, link)


def _message(row: Mapping[str, Any], link: Link) -> str:
    return link("/message", queue=row.get("exception_queue") or row.get("queue_name"), id=row["message_id"])


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
            "Cancel": to_act("cancel-schedule", "schedule_id"),
        },
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
        "Nothing waits for its time in this queue.",
        arguments=QUEUE,
        needed="queue",
        limit="max_messages",
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
    ),
    "/consumers": Listing(
        "Consumers",
        "list_consumers",
        (
            ("consumer", "Consumer"),
            ("active", "Active"),
            ("exclusive", "Exclusive"),
            ("priority", "Priority"),
            ("groups", "Groups"),
            ("opened_at", "Since"),
            ("opened_by", "By"),
            ("seen_at", "Seen"),
            ("instance", "Instance"),
        ),
        "This queue has no open consumer.",
        arguments=QUEUE,
        needed="queue",
        acts={"End": to_act("end-consumer", "consumer")},
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
    ),
    "/instances": Listing(
        "Instances",
        "list_instances",
        (
            ("name", "Instance"),
            ("state", "State"),
            ("waits_for", "Waits for"),
            ("master", "Master"),
            ("workers", "Workers"),
            ("consumers", "Consumers"),
            ("unread", "Changes unread"),
            ("host", "Host"),
            ("pid", "Process"),
            ("version", "Version"),
            ("silent_for", "Silent for"),
        ),
        "No instance is registered. Workers run well without.",
    ),
    "/transactions": Listing(
        "Prepared transactions",
        "list_transactions",
        (
            ("gid", "Transaction"),
            ("owner", "Owner"),
            ("prepared_at", "Prepared"),
            ("age", "Age"),
            ("ours", "Howdah's"),
            ("before_start", "Before the server's start"),
        ),
        "No prepared transaction holds anything up.",
        hint="A prepared transaction keeps its locks and its rows until somebody ends it.",
    ),
    "/storage": Listing(
        "Storage",
        "list_storage",
        (
            ("table_name", "Table"),
            ("bytes", "Bytes"),
            ("live_rows", "Rows"),
            ("dead_rows", "Dead rows"),
            ("vacuumed_at", "Vacuumed"),
            ("options", "Options"),
        ),
        "There is nothing stored.",
    ),
    "/changes": Listing(
        "Configuration changes",
        "list_changes",
        (
            ("change_id", "Change"),
            ("at", "At"),
            ("actor", "By"),
            ("kind", "Kind"),
            ("name", "Name"),
            ("act", "Act"),
            ("before", "Before"),
            ("after", "After"),
            ("reason", "Reason"),
        ),
        "Nothing was changed yet.",
        arguments=(("of_kind", "text"), ("of_name", "text")),
        limit="max_changes",
        after=("before_change", "change_id"),
    ),
    "/acts": Listing(
        "Acts",
        "list_acts",
        (
            ("act_id", "Act"),
            ("at", "At"),
            ("actor", "By"),
            ("act", "What"),
            ("queue_name", "Queue"),
            ("other_queue", "To"),
            ("reason", "Reason"),
            ("message_ids", "Messages"),
        ),
        "No operator has acted yet.",
        hint="What operators did, under their own names.",
        arguments=(("queue", "text"), ("message_id", "bigint")),
        limit="max_acts",
        after=("before_act", "act_id"),
    ),
    "/audits": Listing(
        "Audits",
        "list_audits",
        (
            ("run_id", "Audit"),
            ("started_at", "Started"),
            ("taken_at", "Snapshot of"),
            ("severity", "Verdict"),
            ("errors", "Errors"),
            ("warnings", "Warnings"),
            ("rows_read", "Rows read"),
            ("reason", "Why"),
            ("output", "Pages"),
            ("recorded_by", "By"),
        ),
        "Nothing was audited yet. Audit: howdah audit",
        always=(("max_runs", "integer", 200),),
    ),
    "/dead": Listing(
        "Dead messages",
        "list_poison",
        (
            ("message_id", "Message"),
            ("exception_queue", "Lies in"),
            ("origin_queue", "Died in"),
            ("dead_at", "Died"),
            ("dead_reason", "Why"),
            ("failures", "Failures"),
            ("last_error_class", "Error"),
            ("last_error_text", "It said"),
            ("last_fingerprint", "Cause"),
        ),
        "No message is dead here.",
        arguments=(
            ("queue", "text"),
            ("origin", "text"),
            ("error_class", "text"),
            ("fingerprint", "text"),
            ("selector", "text"),
        ),
        limit="max_rows",
        after=("after", "message_id"),
        acts={"Replay this cause": _of_cause("replay"), "Discard this cause": _of_cause("discard")},
        links={
            "message_id": _message,
            "last_fingerprint": lambda row, link: link("/dead", fingerprint=row["last_fingerprint"]),
        },
    ),
}
