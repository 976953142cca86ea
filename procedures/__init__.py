"""The SQL API: one function a file, in rooms by noun, and the installer.

Above each function stands a header. The installer makes the function's COMMENT from the header's first sentence and its
GRANTs from the ``Role`` line, so neither can drift.
"""

from .contents import FILES, ROOMS, source
from .installer import Database, checksum, identifier, install, literal
from .parser import Header, headers
from .roles import Roles

__all__ = [
    "FILES",
    "ROOMS",
    "Database",
    "Header",
    "Roles",
    "checksum",
    "headers",
    "identifier",
    "install",
    "literal",
    "source",
]
