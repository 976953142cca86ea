"""Java's DataInput over bytes."""

from __future__ import annotations

import struct
from typing import Any

#: By their letters; a store has dozens of numbers a message.
_FORMS = {letter: struct.Struct(f">{letter}") for letter in "bBhHiqfd"}


class OpenWireError(Exception):
    """The bytes are not what was expected; the text says why."""


class Reader:
    """Reads values one after the other, big-endian."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        """How many bytes are left."""
        return len(self._data) - self._at

    def take(self, length: int) -> bytes:
        """Return the next bytes. Raises OpenWireError if there are not so many."""
        if length < 0 or length > self.left:
            raise OpenWireError(f"{length} bytes expected, {self.left} left")
        self._at += length
        return self._data[self._at - length : self._at]

    def number(self, kind: str) -> int:
        """Return a number; kind is its letter in struct: b, h, H, i or q."""
        value: int = self._unpacked(kind)
        return value

    def real(self, kind: str) -> float:
        """Return a float (f) or double (d)."""
        value: float = self._unpacked(kind)
        return value

    def _unpacked(self, kind: str) -> Any:
        form = _FORMS[kind]
        if form.size > self.left:
            raise OpenWireError(f"{form.size} bytes expected, {self.left} left")
        self._at += form.size
        return form.unpack_from(self._data, self._at - form.size)[0]

    def boolean(self) -> bool:
        """Return a byte as a boolean. Other values than 0 and 1 mean that something else stands here."""
        value = self.number("b")
        if value not in (0, 1):
            raise OpenWireError(f"a boolean is 0 or 1, not {value}")
        return value == 1

    def text(self, length: str = "H") -> str:
        """Return a text in Java's modified UTF-8, behind a length of 2 (H) or 4 bytes (i)."""
        return modified_utf8(self.take(self.number(length)))

    def sequence(self) -> bytes | None:
        """Return bytes behind a flag and a length of 4 bytes. None: the flag says that there are none."""
        return self.take(self.number("i")) if self.boolean() else None

    def string(self) -> str | None:
        """Return a text behind a flag."""
        return self.text() if self.boolean() else None


def modified_utf8(data: bytes) -> str:
    """Decode Java's modified UTF-8: NUL takes two bytes, and a letter beyond 16 bits is a pair of surrogates."""
    try:
        halves = data.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        return halves.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError as error:
        raise OpenWireError(f"a text is not in Java's UTF-8: {error.reason}") from error
