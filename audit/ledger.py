"""The ledger: one row for each message and each queue it was ever in, with what came, what went and what is there.

Pure functions from DataFrames to DataFrames. A message that passes a queue several times (moved away and replayed)
still has one row there. Its ``entered`` - ``exited`` must be 1 if it is present, and 0 if not.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

ENTRIES = ("sent", "moved_in", "replayed_in")
EXITS = ("consumed", "moved_out", "replayed_out", "expired", "discarded", "lost")
STATES = ("live", "parked", "dead")
ENDS = ("consumed", "expired", "discarded", "lost")
"""Exits after which a message is nowhere, for good."""

VERDICTS = ("ok", "lost", "unrecorded_entry", "unrecorded_exit", "missing", "from_nowhere", "twice")
"""What a row of the ledger may be judged as; the last three are faults.

ok: entries, exits and presence agree. lost: non-persistent, and the server was restarted since it came.
unrecorded_entry, unrecorded_exit: they disagree by one event that the journal need not have recorded.
"""

LEVEL_GRACE = "INTERVAL 1 MINUTE"
"""How long senders follow the old journal_level if their transaction began before the change."""

DESTINATIONS = 1_000_000
"""A message's number is its position in its first destination, times this, plus the destination's number."""

CREATION_GRACE = "INTERVAL 1 SECOND"
"""journal_level_at of a queue made with a journal_level option is later than created_at by less than this."""


def occurrences(journal: DataFrame, messages: DataFrame) -> DataFrame:
    """Everything that puts a message into a queue, takes it out or shows it there.

    Columns: destination_id, message_id, kind (one of ENTRIES, EXITS, STATES), at (of entries), left_at (of exits),
    nonpersistent, sent_at, came_at and stage (of what is present). A move or replay is an exit of one queue and an
    entry of another.
    """
    no_time = F.lit(None).cast("timestamp")
    absent = (no_time.alias("sent_at"), no_time.alias("came_at"), F.lit(None).cast("int").alias("stage"))
    transferred = F.col("event").isin("moved", "replayed")
    out = journal.select(
        "destination_id",
        "message_id",
        F.when(transferred, F.concat("event", F.lit("_out"))).otherwise(F.col("event")).alias("kind"),
        F.when(F.col("event") == "sent", F.col("at")).alias("at"),
        F.when(F.col("event") != "sent", F.col("at")).alias("left_at"),
        "nonpersistent",
        *absent,
    )
    into = journal.where(transferred).select(
        F.col("other_destination_id").alias("destination_id"),
        "message_id",
        F.concat("event", F.lit("_in")).alias("kind"),
        "at",
        no_time.alias("left_at"),
        "nonpersistent",
        *absent,
    )
    present = messages.select(
        "destination_id",
        "message_id",
        F.col("state").alias("kind"),
        no_time.alias("at"),
        no_time.alias("left_at"),
        "nonpersistent",
        "sent_at",
        F.coalesce("dead_at", "sent_at").alias("came_at"),
        "stage",
    )
    return out.unionByName(into).unionByName(present)


def count_rows(occurred: DataFrame) -> DataFrame:
    """The ledger without judgement, from ``occurrences``.

    Columns: destination_id, message_id, one count for each kind, entered, exited, present, and these.

    nonpersistent, always_nonpersistent: whether any of that was, and whether all was.
    entered_at: the last recorded entry.
    left_first: the first recorded exit.
    sent_at, came_at, stage: of a present message.
    ends_everywhere: how often, in all queues together, the message ended or is present. In a sound database it is at
    most 1.
    sent_everywhere: how often, in all queues together, it was sent.
    sent_first: when its first send was recorded, in whichever destination that was.
    """
    counts = [F.count(F.when(F.col("kind") == kind, 1)).alias(kind) for kind in (*ENTRIES, *EXITS, *STATES)]
    # One shuffle, by message: it serves the grouping and the window over all queues of a message.
    grouped = (
        occurred.repartition("message_id")
        .groupBy("destination_id", "message_id")
        .agg(
            *counts,
            F.max("nonpersistent").alias("nonpersistent"),
            F.min("nonpersistent").alias("always_nonpersistent"),
            F.min("at").alias("entered_first"),
            F.max("at").alias("entered_at"),
            F.min("left_at").alias("left_first"),
            F.min("sent_at").alias("sent_at"),
            F.min("came_at").alias("came_at"),
            F.min("stage").alias("stage"),
        )
    )
    everywhere = Window.partitionBy("message_id")
    # The place of its first send. What a subscription must read again counts as sent there.
    first_sent = (F.col("sent") > 0) & (F.col("message_id") % DESTINATIONS == F.col("destination_id"))
    return grouped.select(
        "destination_id",
        "message_id",
        *ENTRIES,
        *EXITS,
        *STATES,
        total(ENTRIES).alias("entered"),
        total(EXITS).alias("exited"),
        total(STATES).alias("present"),
        "nonpersistent",
        "always_nonpersistent",
        "entered_at",
        "left_first",
        "sent_at",
        "came_at",
        "stage",
        F.min(F.when(first_sent, F.col("entered_first"))).over(everywhere).alias("sent_first"),
        F.sum(total(ENDS) + total(STATES)).over(everywhere).alias("ends_everywhere"),
        F.sum("sent").over(everywhere).alias("sent_everywhere"),
    )


def queue_policies(destinations: DataFrame) -> DataFrame:
    """What each queue's journal can be expected to hold, one row a queue.

    Columns: destination_id, queue, kind, journal_level, max_failed_deliveries, exception_mode, server_started_at,
    dropped_at, created_at, and these.

    recorded_from: events before it may be missing from the journal. NULL: none may.
    records_sends: the journal has every entry by send from recorded_from on. It is false for a subscription, whose
    messages are the topic's.
    silent_moves: a message may have come by a move or replay that some other queue did not record.
    ordered_from: groups sent after it come in order. NULL: the queue promises none.
    counts_alone: each incident of a message, and nothing else, counts towards its limit.
    hardened: attempts count, and may leave no incident.
    policy_xid: its policy has not changed since this transaction.
    max_connections: how many sessions the server allows.
    incidents_whole: retention has deleted none of its incidents.
    read_at: the database's clock when it was read.
    """
    changed = F.col("journal_level_at") > F.col("created_at") + F.expr(CREATION_GRACE)
    pruned = F.col("journal_kept_from") > F.col("created_at")
    level_from = F.when(changed, F.col("journal_level_at") + F.expr(LEVEL_GRACE))
    kept_from = F.when(pruned, F.col("journal_kept_from"))
    silent = (F.col("journal_level") == "off") | changed | pruned
    whole = Window.partitionBy(F.lit(0))
    # In a round robin, each consumer takes the positions of its share.
    ordered = (F.col("message_groups") != "none") & (F.col("delivery_policy") != "round_robin")
    changed_groups = F.coalesce(F.col("groups_at") + F.expr(LEVEL_GRACE), "created_at")
    return destinations.select(
        "destination_id",
        "queue",
        "kind",
        "journal_level",
        "max_failed_deliveries",
        "exception_mode",
        "server_started_at",
        "dropped_at",
        F.greatest(level_from, kept_from).alias("recorded_from"),
        ((F.col("journal_level") == "full") & (F.col("kind") != "subscription")).alias("records_sends"),
        (F.sum(silent.cast("int")).over(whole) > silent.cast("int")).alias("silent_moves"),
        F.when(ordered, F.greatest(changed_groups, "incidents_kept_from")).alias("ordered_from"),
        ((F.col("count_by") == "message") & (F.col("backout_count") != "hardened")).alias("counts_alone"),
        (F.col("backout_count") == "hardened").alias("hardened"),
        "policy_xid",
        "max_connections",
        "created_at",
        (F.col("created_at") >= F.col("incidents_kept_from")).alias("incidents_whole"),
        "read_at",
    )


def judge_rows(counted: DataFrame, policies: DataFrame) -> DataFrame:
    """The ledger: ``count_rows`` with ``queue_policies`` of its queue and a verdict.

    Columns: those of count_rows, queue, kind, journal_level, records_sends, and these.

    balance: entered - exited - present.
    verdict: one of VERDICTS.
    derived_at: when the event that no record tells of can have been, for verdicts that derive one.
    unsent: where it was first sent to, every send is on record, and its own is not.

    Topics have no rows: what is published ends in each subscription. So ends_everywhere of such a message is what one
    of them may have, 1. The end of a message's number tells where it was sent to.
    """
    # An unknown destination number belongs to nobody.
    whole = (F.col("journal_level") == "full") & F.col("recorded_from").isNull()
    origins = policies.select(
        F.col("destination_id").alias("origin_id"), F.col("kind").alias("origin_kind"), whole.alias("origin_whole")
    )
    joined = (
        counted.join(F.broadcast(policies), on="destination_id", how="left")
        .where((F.col("kind") != "topic") | F.col("kind").isNull())
        .join(F.broadcast(origins), F.col("message_id") % DESTINATIONS == F.col("origin_id"), "left")
    )
    published = F.coalesce(F.col("origin_kind") == "topic", F.lit(False))
    unsent = F.coalesce("origin_whole", F.lit(True)) & F.col("sent_first").isNull()
    moved = _moved_unrecorded() & (published | (F.col("ends_everywhere") <= 1))
    balance = F.col("entered") - F.col("exited") - F.col("present")
    off = F.col("journal_level") == "off"
    verdict = (
        F.when(balance == 0, "ok")
        # Nobody takes from topics, and messages that a subscription has not read are not its own yet.
        .when((balance > 0) & (F.col("kind") != "queue"), "unrecorded_exit")
        .when((balance == -1) & (F.col("kind") == "subscription"), "unrecorded_entry")
        # No other queue's silence explains a message that was sent nowhere.
        .when(unsent & (balance == -1) & (F.col("entered") == 0), "from_nowhere")
        .when(off, F.when(balance > 0, "unrecorded_exit").otherwise("unrecorded_entry"))
        .when((balance == 1) & _lost_with_server(), "lost")
        .when((balance == 1) & (F.col("entered_at") < F.col("recorded_from")), "unrecorded_exit")
        .when(balance > 0, "missing")
        .when((balance == -1) & (_sent_unrecorded() | moved), "unrecorded_entry")
        # Several subscriptions may have moved their copies here.
        .when((balance < -1) & published & (F.col("kind") != "subscription") & moved, "unrecorded_entry")
        .when((balance == -1) & (F.col("entered") == 0), "from_nowhere")
        .otherwise("twice")
    )
    derived_at = (
        F.when(verdict == "unrecorded_entry", F.least("left_first", "came_at"))
        .when(verdict == "unrecorded_exit", F.col("entered_at"))
        .when(verdict == "lost", F.col("server_started_at"))
    )
    return joined.select(
        "destination_id",
        "message_id",
        *ENTRIES,
        *EXITS,
        *STATES,
        "entered",
        "exited",
        "present",
        F.when(published, F.lit(1)).otherwise(F.col("ends_everywhere")).alias("ends_everywhere"),
        F.when(published, F.lit(1)).otherwise(F.col("sent_everywhere")).alias("sent_everywhere"),
        "nonpersistent",
        "always_nonpersistent",
        "left_first",
        "sent_first",
        "queue",
        "kind",
        "journal_level",
        "records_sends",
        unsent.alias("unsent"),
        derived_at.alias("derived_at"),
        balance.alias("balance"),
        verdict.alias("verdict"),
    )


def total(names: tuple[str, ...]) -> Column:
    """The sum of several columns of a row."""
    return F.expr(" + ".join(names))


def _lost_with_server() -> Column:
    """Whether a restart of the server explains that a message is gone: a crash leaves no journal row."""
    return F.col("nonpersistent") & (F.col("present") == 0) & (F.col("entered_at") < F.col("server_started_at"))


def _sent_unrecorded() -> Column:
    """Whether the missing entry can be a send that the journal did not record.

    sent_at and stage are known of a present message alone; a message of stage 0 was never moved.
    """
    early = F.col("recorded_from").isNotNull() & (
        F.col("sent_at").isNull() | (F.col("sent_at") < F.col("recorded_from"))
    )
    return (F.col("sent") == 0) & (~F.col("records_sends") | early)


def _moved_unrecorded() -> Column:
    """Whether the missing entry can be a move that its old queue did not record. The message must have ended once."""
    return F.col("silent_moves") & (F.coalesce(F.col("stage"), F.lit(1)) > 0)
