"""Howdah's exceptions, found by SQLSTATE and never by text.

The first sentence of each class's docstring says what happened; the message is the database's own, with its hint. The
driver's error is the ``__cause__``.
"""

from __future__ import annotations

from .base import HowdahError


class NoSuchQueue(HowdahError, LookupError):
    """There is no queue of that name, or a message has no queue to return to."""

    sqlstate = "HD001"


class QueueExists(HowdahError):
    """A queue of that name already exists."""

    sqlstate = "HD002"


class BadName(HowdahError, ValueError):
    """The name is not valid for a queue or listener."""

    sqlstate = "HD003"


class BadOption(HowdahError, ValueError):
    """An option of a queue or listener is unknown or has a wrong value."""

    sqlstate = "HD004"


class BadArgument(HowdahError, ValueError):
    """An argument is missing, of the wrong kind or out of bounds."""

    sqlstate = "HD005"


class BadPriority(HowdahError, ValueError):
    """A priority is not 0 to 9."""

    sqlstate = "HD006"


class BodyTooLarge(HowdahError, ValueError):
    """A body is larger than the queue allows."""

    sqlstate = "HD007"


class QueuePaused(HowdahError):
    """Sending to the queue or receiving from it is paused."""


class EngineHalted(QueuePaused):
    """The engine is paused, quiesced or stopped: nobody sends or receives until it is resumed."""

    sqlstate = "HD040"


class SendingPaused(QueuePaused):
    """Sending to the queue is paused."""

    sqlstate = "HD008"


class ReceivingPaused(QueuePaused):
    """Receiving from the queue is paused."""

    sqlstate = "HD009"


class NotAllowed(HowdahError, PermissionError):
    """The caller has no right to do that."""

    sqlstate = "HD010"


class QueueNotEmpty(HowdahError):
    """A queue that holds messages is dropped only by force."""

    sqlstate = "HD011"


class SystemQueue(HowdahError):
    """The queue belongs to the engine and can be neither changed nor dropped."""

    sqlstate = "HD012"


class NoSuchMessage(HowdahError, LookupError):
    """The message is not in that queue, or another session has it in hand."""

    sqlstate = "HD013"


class LockLost(HowdahError):
    """A lease expired or went to another holder."""

    sqlstate = "HD014"


class UnknownWorker(HowdahError):
    """The worker is no longer registered."""

    sqlstate = "HD015"


class QueueDisabled(QueuePaused):
    """Failures in a row disabled the queue."""

    sqlstate = "HD016"


class ConversationEnded(HowdahError):
    """The conversation was ended: no message can be sent in it."""

    sqlstate = "HD017"


class ResourceAllocation(HowdahError):
    """The whole engine is full: no message can be sent, and no queue or topic created."""

    sqlstate = "HD027"


class QueueFull(ResourceAllocation):
    """The queue has no room for more messages, or bytes."""

    sqlstate = "HD018"


class AttemptNeeded(HowdahError):
    """The queue is hardened: an attempt is committed before its message is received."""

    sqlstate = "HD019"


class NoSuchListener(HowdahError, LookupError):
    """There is no listener of that name."""

    sqlstate = "HD020"


class ListenerExists(HowdahError):
    """A listener of that name exists already, or belongs to another queue."""

    sqlstate = "HD021"


class NoSuchAttempt(HowdahError, LookupError):
    """The attempt does not exist or is uncommitted, or a failure was reported for a message without one."""

    sqlstate = "HD022"


class InvalidSelector(HowdahError, ValueError):
    """A message selector breaks the grammar; the message says at which character."""

    sqlstate = "HD023"


class SubscriptionInUse(HowdahError):
    """Somebody else reads the subscription, or it exists and cannot be changed so."""

    sqlstate = "HD024"


class RestoredDatabase(HowdahError):
    """The database was restored into another cluster: its topics wait for ``rebase_topics``."""

    sqlstate = "HD025"


class LeaseLost(HowdahError):
    """The lease does not hold one of these messages, or no longer: others may have received it."""

    sqlstate = "HD026"


class QueueInUse(HowdahError):
    """The temporary queue has an active consumer."""

    sqlstate = "HD030"


class NoReply(HowdahError, TimeoutError):
    """No answer to a request came in time."""


class NoSuchSchedule(HowdahError, LookupError):
    """There is no such schedule, or another role owns it."""

    sqlstate = "HD029"


class ConsumerNotOpen(HowdahError):
    """The queue tells its consumers apart, and none is open under this number (any more)."""

    sqlstate = "HD032"


class ConsumerRefused(HowdahError):
    """The queue takes only one consumer and has one."""

    sqlstate = "HD033"


class JournalGone(HowdahError, LookupError):
    """Retention dropped rows of the journal that a reader of it had yet to read."""

    sqlstate = "HD036"


class ForeignOffset(HowdahError):
    """A reader's place in the journal belongs to another server, or a standby lacks a part of what was asked for.

    The server may be another cluster, a standby, or one that was set back.
    """

    sqlstate = "HD037"


class ClientIdInUse(HowdahError):
    """Another client has claimed the client id; JMS's InvalidClientIDException."""

    sqlstate = "HD038"


class ReliabilityTooHigh(HowdahError, ValueError):
    """The message's level of reliability is above the highest one that its queue or topic takes."""

    sqlstate = "HD039"


class NoSuchLink(HowdahError):
    """There is no link of that name, or no such link leads here."""

    sqlstate = "HD041"


class LinkExists(HowdahError):
    """A link of that name exists already."""

    sqlstate = "HD042"


class LinkRefused(HowdahError):
    """The target of a link refuses messages; the cause's detail names them."""

    sqlstate = "HD043"


class ServiceUnavailable(HowdahError):
    """There is no such service, it is not active, it demands TLS, or it is not for administration."""

    sqlstate = "HD044"


class ChangesRefused(HowdahError):
    """The configuration cannot be changed now: its master is away. Or a change cannot be taken back."""

    sqlstate = "HD045"


class InstanceRefused(HowdahError):
    """The instance's settings contradict the cluster's, its name is taken, or another has the exclusive lock."""

    sqlstate = "HD046"


class NameNotFound(HowdahError, LookupError):
    """There is no administered object of that name."""

    sqlstate = "HD047"


class ReadOnlyObject(HowdahError):
    """The administered object is read-only: its attributes cannot be set."""

    sqlstate = "HD048"


class TransformationRefused(HowdahError):
    """A transformation cannot be called, is in use, or has another function."""

    sqlstate = "HD049"


class ContractViolated(HowdahError, ValueError):
    """The body does not keep to the JSON Schema of the queue or topic."""

    sqlstate = "HD050"
