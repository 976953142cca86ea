"""Where a process's spans and metrics go: the global providers' or those that an application names."""

from __future__ import annotations

from opentelemetry import metrics, trace

from .consuming import Consuming, links_of
from .library import current_ids, headers_of
from .producing import Producing

_NOBODYS = ("opentelemetry.trace", "opentelemetry.metrics")
"""Modules of the providers that do nothing: those of the API alone."""


def _is_real(provider: object) -> bool:
    module = type(provider).__module__
    return not any(module == name or module.startswith(f"{name}.") for name in _NOBODYS)


class Traces(Producing, Consuming):
    """All that is traced. Applications make one for providers that are not global, and ``switch.use`` it."""

    current_ids = staticmethod(current_ids)
    current_headers = staticmethod(headers_of)
    links_of = staticmethod(links_of)


def found() -> Traces | None:
    """Return the traces of the global providers. None: there is no SDK."""
    if _is_real(trace.get_tracer_provider()) or _is_real(metrics.get_meter_provider()):
        return Traces()
    return None
