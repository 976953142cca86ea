"""What each session of a worker process is handling, in memory that outlives the process.

A killed process cannot record anything. Its supervisor reads here which message was inside a handler. The file is
mapped by both; a slot's flag is written last and cleared first, so a half-written slot reads as empty.
"""

from __future__ import annotations

import mmap
import struct
import uuid
from dataclasses import dataclass
from pathlib import Path

from ..engine import Message

_SLOT = struct.Struct("<?xhhhqqd16sI")
"""flag, queue index, priority, stage, message id, position, start (Unix seconds), failure key, messages in hand."""
_COUNT = struct.Struct("<I")
_COUNT_AT = _SLOT.size - _COUNT.size


@dataclass(frozen=True)
class Hand:
    """A message that was inside a handler: enough to record its failure."""

    queue_index: int
    message_id: int
    priority: int
    position: int
    stage: int
    started: float
    failure_key: uuid.UUID


class Hands:
    """The slots of one process, one a session."""

    def __init__(self, path: Path, sessions: int) -> None:
        self._size = _SLOT.size * sessions
        self._sessions = sessions
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), self._size)

    @classmethod
    def create(cls, path: Path, sessions: int) -> Hands:
        """Make the file, empty."""
        path.write_bytes(bytes(_SLOT.size * sessions))
        return cls(path, sessions)

    def take(self, slot: int, queue_index: int, message: Message, started: float) -> uuid.UUID:
        """The session begins to handle a message; returns the key under which its failure would be recorded."""
        key = uuid.uuid4()
        at = slot * _SLOT.size
        count = self.count(slot)
        packed = _SLOT.pack(
            True,
            queue_index,
            message.priority,
            message.stage,
            message.message_id,
            message.position,
            started,
            key.bytes,
            count,
        )
        self._memory[at + 1 : at + _SLOT.size] = packed[1:]
        self._memory[at] = 1
        return key

    def leave(self, slot: int) -> None:
        """The handler has ended, or its failure has been recorded."""
        self._memory[slot * _SLOT.size] = 0

    def set_count(self, slot: int, messages: int) -> None:
        """How many messages the session has received and not yet committed."""
        _COUNT.pack_into(self._memory, slot * _SLOT.size + _COUNT_AT, messages)

    def count(self, slot: int) -> int:
        """What ``set_count`` last said."""
        return int(_COUNT.unpack_from(self._memory, slot * _SLOT.size + _COUNT_AT)[0])

    def queue_of(self, slot: int) -> int:
        """Index of the queue the session last took a message from."""
        return int(_SLOT.unpack_from(self._memory, slot * _SLOT.size)[1])

    def read(self) -> list[Hand]:
        """The messages that are inside handlers."""
        found = []
        for slot in range(self._sessions):
            flag, queue, priority, stage, message_id, position, started, key, _ = _SLOT.unpack_from(
                self._memory, slot * _SLOT.size
            )
            if flag:
                found.append(Hand(queue, message_id, priority, position, stage, started, uuid.UUID(bytes=key)))
        return found

    def close(self) -> None:
        """Unmap the file."""
        self._memory.close()
