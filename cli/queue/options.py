"""Format the options of a queue for people: by subject, with a mark at those that differ from the default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...text.subjects import by_subject, differs
from ..output import cell


def page(about: Mapping[str, Any], options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """Format a queue and its options. ``*`` marks an option that differs from the default, which follows it."""
    width = max(map(len, (*about, *options)))
    lines = [f"  {key:<{width}}  {cell(value)}".rstrip() for key, value in about.items()]
    for subject, keys in by_subject(options):
        lines += ["", subject]
        for key in keys:
            value, usual = options[key], defaults.get(key)
            changed = differs(key, value, defaults)
            default = f"  (default: {cell(usual) or 'none'})" if changed else ""
            lines.append(f"{'*' if changed else ' '} {key:<{width}}  {cell(value)}{default}".rstrip())
    return "\n".join(lines)
