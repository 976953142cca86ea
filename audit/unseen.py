"""What no audit can see, whoever makes it. Every page says it."""

from __future__ import annotations

UNSEEN = (
    (
        "A message whose row and whose journal rows were deleted together; where sends are not recorded, a deleted row"
        " alone."
    ),
    "A forged record that a deleted message was consumed, if its time and transaction number are plausible.",
    "A digest that was computed anew after a change, by somebody who reads the engine's secret.",
    "The body of a message that was consumed: at journal_level full its digest is left, below that nothing.",
    (
        "A message that was deleted before a restart of the server, after all its rows were changed to non-persistent"
        " ones."
    ),
    (
        "The last incidents of a message that is not dead, if they were deleted; of an incident, what is not in its"
        " digest (who recorded it, worker, outcome, numbers, delays, traceback, details), if it was changed so that no"
        " other rule is broken."
    ),
    "Another origin, death or reason of a message that was moved more than once.",
    "A message that was changed where its topic keeps it, before it was read.",
    (
        "What a subscription with a selector or no_local was not given; messages that expire or are non-persistent"
        " which a subscription did not read."
    ),
    "A subscription's cursor that was moved in its first ten seconds.",
)
"""A sentence each; docs/audit-rules.md says what helps."""

LEAD = (
    "The tables are writable by their owner and superusers alone. Whoever has those rights, and takes pains, can make"
    " both sides of an account agree. One snapshot does not show:"
)
