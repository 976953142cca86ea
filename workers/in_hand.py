"""What each session of a worker process handles, in memory that outlives the process.

A killed process cannot record anything. Its supervisor reads here which message was inside a handler. The file is
mapped by both; a slot's flag is written last and cleared first, so a half-written slot reads as empty. The names of the
process's queues stand behind the slots: another process may know other queues, or have them in another order.
"""

from __future__ import annotations

import itertools
import json
import mmap
import os
import struct
import time
import uuid
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..engine import Message
from ..engine.calls.message import place_of

_HEADER = 8
_STARTED_AT, _ABANDONED_AT, _ACCUSED_AT, _DOOMED_AT = 0, 1, 2, 3
_SLOT = struct.Struct("<?xhhhqqdd16sHBxI")
"""flag, queue of the message, its priority, stage, id, position, start, end of its time limit (0: none), failure key.
Then follow the queue that messages are held of, whether this session alone is to blame, and how many are held. Times
are in seconds of the machine's monotonic clock."""
_MESSAGE = struct.Struct("<xhhhqqdd8sQ")
"""The part between the flag and the end of the key. The key is written in two parts."""
_HELD = struct.Struct("<HBxI")
_HELD_AT = _SLOT.size - _HELD.size
_KEY_AT = 1 + _MESSAGE.size - 16
_LIMIT = struct.Struct("<d")
_LIMIT_AT = _KEY_AT - _LIMIT.size


DURATION_MS_MAX = 2**31 - 1
"""The longest duration that can be recorded, of almost 25 days."""


def ms_since(started: float) -> int:
    """Return the milliseconds since a time of the monotonic clock, which all processes of a machine share."""
    return min(max(0, round((time.monotonic() - started) * 1000)), DURATION_MS_MAX)


@dataclass(frozen=True)
class Hand:
    """A message that was inside a handler: enough to record its failure."""

    queue: str
    message_id: int
    priority: int
    position: int
    stage: int
    started: float
    failure_key: uuid.UUID


class Hands:
    """The slots of one process, one for each session."""

    def __init__(self, path: Path, sessions: int) -> None:
        self._sessions = sessions
        self._size = _HEADER + _SLOT.size * sessions
        # A failure key is this and a number. It is as unique as a random one and takes less than a tenth of the time.
        self._key = os.urandom(8)
        self._numbers = itertools.count(int.from_bytes(os.urandom(6)))
        # It stays open, because a cleaner of temporary files may remove it.
        self._file = os.open(path, os.O_RDWR)
        self._close = weakref.finalize(self, os.close, self._file)
        self._memory = mmap.mmap(self._file, self._size)

    @classmethod
    def create(cls, path: Path, sessions: int) -> Hands:
        """Create the empty file."""
        path.write_bytes(bytes(_HEADER + _SLOT.size * sessions))
        return cls(path, sessions)

    @property
    def started(self) -> bool:
        """Whether the process got as far as starting its sessions."""
        return self._memory[_STARTED_AT] == 1

    def start(self, queues: Iterable[str]) -> None:
        """Note that the process starts its sessions, and its queues in the order of their indexes."""
        os.pwrite(self._file, json.dumps(list(queues)).encode(), self._size)
        self._memory[_STARTED_AT] = 1

    def abandon(self) -> None:
        """Note that the process rolls everything back and ends: from now on the slots blame no message."""
        self._memory[_ABANDONED_AT] = 1

    def accuse(self, slots: list[int]) -> None:
        """Note that the process ends because of these sessions' messages: the others are not to blame."""
        for slot in slots:
            self._memory[self._at(slot) + _HELD_AT + 2] = 1
        self._memory[_ACCUSED_AT] = 1

    def take(self, slot: int, queue_index: int, message: Message, started: float, key: uuid.UUID | None = None) -> None:
        """Note that the session begins to handle a message. key: that of its recorded attempt, if any."""
        memory, at = self._memory, _HEADER + slot * _SLOT.size
        memory[at] = 0
        priority, stage, message_id, position = place_of(message)
        _MESSAGE.pack_into(
            memory,
            at + 1,
            queue_index,
            priority,
            stage,
            message_id,
            position,
            started,
            0.0,
            self._key,
            next(self._numbers),
        )
        if key is not None:
            memory[at + _KEY_AT : at + _KEY_AT + 16] = key.bytes
        memory[at] = 1

    def limit(self, slot: int, ends: float) -> None:
        """Note when the time limit of the session's handler is over; 0 if it has none, or has returned."""
        at = self._at(slot) + _LIMIT_AT
        self._memory[at : at + _LIMIT.size] = _LIMIT.pack(ends)  # in one piece: half of a time would look long over

    def overdue(self, latest: float) -> list[int]:
        """Return the slots of sessions whose handlers run, and had to return by then."""
        return [
            slot
            for slot in range(self._sessions)
            if self._memory[self._at(slot)]
            and 0 < _LIMIT.unpack_from(self._memory, self._at(slot) + _LIMIT_AT)[0] < latest
        ]

    def doom(self) -> None:
        """Note that the process is killed because a handler is over its time limit."""
        self._memory[_DOOMED_AT] = 1

    @property
    def doomed(self) -> bool:
        """Whether the process is killed because a handler is over its time limit."""
        return self._memory[_DOOMED_AT] == 1

    def key(self, slot: int) -> uuid.UUID:
        """Return the key under which a failure of the session's last message is recorded."""
        at = self._at(slot) + _KEY_AT
        return uuid.UUID(bytes=self._memory[at : at + 16])

    def leave(self, slot: int) -> None:
        """Note that the handler has ended or its failure is recorded."""
        self._memory[_HEADER + slot * _SLOT.size] = 0

    def hold(self, slot: int, queue_index: int, messages: int) -> None:
        """Note how many messages of a queue the session has received and not yet committed."""
        _HELD.pack_into(self._memory, self._at(slot) + _HELD_AT, queue_index, 0, messages)

    def held(self) -> list[tuple[int, int]]:
        """Return the queue index and the number of messages that each session holds."""
        found = []
        for slot in range(self._sessions):
            queue_index, _, messages = _HELD.unpack_from(self._memory, self._at(slot) + _HELD_AT)
            found.append((queue_index, messages))
        return found

    def read(self) -> list[Hand]:
        """Return the messages in handlers: none after a rollback on purpose, only the accused ones if there are any."""
        found, queues = [], self._queues() if self.started else []
        for slot in range(self._sessions):
            flag, queue, priority, stage, message_id, position, started, _, key, _, accused, _ = _SLOT.unpack_from(
                self._memory, self._at(slot)
            )
            if flag and not self._memory[_ABANDONED_AT] and accused >= self._memory[_ACCUSED_AT]:
                found.append(Hand(queues[queue], message_id, priority, position, stage, started, uuid.UUID(bytes=key)))
        return found

    def _queues(self) -> list[str]:
        names: list[str] = json.loads(os.pread(self._file, os.fstat(self._file).st_size, self._size))
        return names

    def close(self) -> None:
        """Unmap the file."""
        self._memory.close()
        self._close()

    @staticmethod
    def _at(slot: int) -> int:
        return _HEADER + slot * _SLOT.size
