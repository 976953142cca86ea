"""Howdah as a broker of Celery, and of whatever else uses kombu: ``broker_transport = "howdah.kombu:Transport"``.

``transport`` waits, ``receiving`` delivers, ``channel`` has AMQP's other verbs. ``places`` and ``catalogue`` say where
AMQP's queues lie in Howdah. ``leases`` keeps what a worker has in hand, ``envelope`` translates messages, and
``server`` runs the calls. ``results`` is Celery's result backend, and ``store`` is where it keeps them.
"""

from __future__ import annotations

from kombu.transport import TRANSPORT_ALIASES

from .server import using
from .transport import Transport

__all__ = ["Transport", "using"]

# kombu goes by the scheme of the URL when it switches to another broker of a list.
TRANSPORT_ALIASES.setdefault("howdah", "howdah.kombu:Transport")
