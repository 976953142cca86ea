"""Metrics as text in the format OpenMetrics 1.0, which Prometheus reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .families import FAMILIES, SAMPLES

if TYPE_CHECKING:
    from ..engine import Connection

Sample = dict[str, Any]
"""A row of howdah.metrics: name, labels, value and created."""

CONTENT_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8"
"""The content type of the text."""


def exposition(connection: Connection, queues: int = 100) -> str:
    """What monitoring asks for, as text: the whole engine, and so many queues, the busiest first. One round trip."""
    return rendered(connection.admin.metrics(queues))


def rendered(samples: Iterable[Sample]) -> str:
    """Samples as text, each metric with its type and help before it."""
    found: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample["name"] in SAMPLES:  # another release of the procedures may have more
            found.setdefault(SAMPLES[sample["name"]], []).append(sample)
    lines: list[str] = []
    for name, family in FAMILIES.items():
        if name in found:
            lines += (f"# TYPE {name} {family.kind}", f"# HELP {name} {_escaped(family.help)}")
            lines += _lines(name, found[name])
    return "\n".join([*lines, "# EOF\n"])


def _lines(name: str, samples: list[Sample]) -> Iterable[str]:
    """The samples of one metric, those of one set of labels together, as the format wants them."""
    groups: dict[tuple[tuple[str, str], ...], list[Sample]] = {}
    for sample in samples:
        key = tuple(sorted((label, value) for label, value in sample["labels"].items() if label != "le"))
        groups.setdefault(key, []).append(sample)
    for key, group in groups.items():
        for sample in sorted(group, key=_place):
            bound = (("le", _bound(sample["labels"]["le"])),) if "le" in sample["labels"] else ()
            yield f"{sample['name']}{_labels((*key, *bound))} {_number(sample['value'])}"
        if group[0]["created"] is not None:
            yield f"{name}_created{_labels(key)} {group[0]['created'].timestamp():.6f}"


def _place(sample: Sample) -> tuple[str, float]:
    return sample["name"], float(sample["labels"].get("le", "0"))


def _bound(text: str) -> str:
    """A bucket's bound as OpenMetrics wants it: a float."""
    return "+Inf" if text == "+Inf" else repr(float(text))


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    text = ",".join(f'{label}="{_escaped(value)}"' for label, value in labels)
    return f"{{{text}}}" if text else ""


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
