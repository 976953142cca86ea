"""How to install an extra. Howdah is in no package index yet: a package of that name there is not ours."""

from __future__ import annotations


def how_to_install(extra: str) -> str:
    """The commands that install an extra, of a checkout and of a built wheel."""
    return f"pip install '.[{extra}]' in a checkout, or pip install 'FILE.whl[{extra}]' of a built wheel"
