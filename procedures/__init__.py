"""The SQL API: one function a file, in rooms by noun, and the installer.

Above each function stands a header. The installer makes the function's COMMENT from the header's first sentence and its
GRANTs from the ``Role`` line, so neither can drift.
"""

from .contents import FACADES, FILES, ROOMS, facade_files, source
from .facade import checked_name, facade_owner, install_facade
from .installer import Database, checksum, identifier, install, literal
from .parser import Header, headers
from .roles import Roles

__all__ = [
    "FACADES",
    "FILES",
    "ROOMS",
    "Database",
    "Header",
    "Roles",
    "checked_name",
    "checksum",
    "facade_files",
    "facade_owner",
    "headers",
    "identifier",
    "install",
    "install_facade",
    "literal",
    "source",
]
