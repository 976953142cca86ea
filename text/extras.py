"""How an extra is installed. Howdah is in no package index yet, and whoever takes its name there is not us."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """The commands that install an extra, of a checkout and of a built wheel."""
    return f"pip install '.[{extra}]' in a checkout, or pip install 'FILE.whl[{extra}]' of a built wheel"
