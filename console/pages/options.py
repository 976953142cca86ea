"""Options of a queue by what they are about, with those marked that are not the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...engine.calls import Rows
from ...text.subjects import by_subject, differs
from .page import Columns

COLUMNS: Columns = (("option", "Option"), ("value", "Value"), ("default", "Default"), ("differs", "Not the default"))


def grouped(options: Mapping[str, Any], defaults: Mapping[str, Any] | None) -> list[tuple[str, Rows]]:
    """The options of each subject, each beside its default. defaults: None if nobody knows them."""
    return [
        (
            subject,
            [
                {
                    "option": key,
                    "value": options[key],
                    "default": (defaults or {}).get(key),
                    "differs": "changed" if defaults is not None and differs(key, options[key], defaults) else "",
                }
                for key in keys
            ],
        )
        for subject, keys in by_subject(options)
    ]
