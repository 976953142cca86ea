"""When a session's messages count as consumed: acknowledge modes, kinds of acknowledgement, and their thresholds."""

from __future__ import annotations

from enum import IntEnum

from ..errors import BadArgument


class AckMode(IntEnum):
    """Who acknowledges, and when; the numbers are those of JMS and ActiveMQ."""

    #: One transaction of the session: its commit acknowledges all that was received in it.
    SESSION_TRANSACTED = 0
    #: The session itself: before ``receive`` returns, or after the listener has returned.
    AUTO = 1
    #: The application, by ``acknowledge``: all that the session has delivered so far.
    CLIENT = 2
    #: The session, now and then: less work, and after a crash some messages come twice.
    DUPS_OK = 3
    #: The application, each message for itself.
    INDIVIDUAL = 4

    @property
    def by_client(self) -> bool:
        """Whether the application calls ``acknowledge``."""
        return self in (AckMode.CLIENT, AckMode.INDIVIDUAL)


class AckType(IntEnum):
    """What an acknowledgement says, in ActiveMQ's numbers; ``AckSession.acks`` counts them."""

    #: Handed out, not consumed: the window may grow. This takes no statement.
    DELIVERED = 0
    #: At its queue's limit. The queue's policy has dealt with what ``redeliver`` does not give back.
    POISON = 1
    #: Consumed.
    STANDARD = 2
    #: Its delivery failed, and it is delivered again.
    REDELIVERED = 3
    #: This message alone is consumed.
    INDIVIDUAL = 4
    #: The selector does not select it. The server evaluates it, so no client ever says so.
    UNMATCHED = 5
    #: Expired while it waited in the consumer's buffer.
    EXPIRED = 6


OPTIMIZED = 0.65
"""Share of the prefetch that an optimised consumer delivers before it acknowledges."""
HALF = 0.5
"""Share of the prefetch after which DUPS_OK acknowledges on a topic, and by which a client's window may grow."""


def mode_of(transacted: bool, mode: int) -> AckMode:
    """Return a new session's mode. Raises BadArgument for no mode, and for SESSION_TRANSACTED without transaction."""
    if transacted:
        return AckMode.SESSION_TRANSACTED
    try:
        wanted = AckMode(mode)
    except ValueError:
        raise BadArgument(
            f"{mode!r} is not an acknowledge mode",
            "Modes are " + ", ".join(f"{m.name} {m.value}" for m in AckMode) + ".",
        ) from None
    if wanted is AckMode.SESSION_TRANSACTED:
        raise BadArgument("SESSION_TRANSACTED is the mode of transacted sessions", "jms_session(transacted=True).")
    return wanted
