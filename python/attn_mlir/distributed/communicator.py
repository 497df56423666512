# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How ranks exchange arrays: the one thing that an executor needs of a library, and ranks that are threads of one process."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, Optional, Sequence

from ..errors import AttnError, DeviceError
from .plan import PlanError

#: Arrays by rank, when they are there.
Wait = Callable[[], list[Any]]


class Communicator:
    """Ranks 0 to `size` - 1, of which this is `rank`. All of them call the same methods in the same order."""

    rank: int
    size: int
    #: Bytes that this rank has sent to others.
    sent_bytes: int = 0

    def exchange(self, parts: Sequence[Any], counts: Sequence[int]) -> Wait:
        """Begins to send the flat array parts[p] to each rank p, and returns what waits for those of counts[p] elements from
        each; all have one type. Where a rank fails or does not come, waiting raises a DeviceError within a time limit."""
        raise NotImplementedError

    def agree(self, what: str) -> list[str]:
        """What each rank passes."""
        raise NotImplementedError


def agree_on(communicator: Communicator, facts: Callable[[], str]):
    """Raises an error on all ranks where `facts` raises one on some rank, or returns there what it does not on rank 0."""
    failure: Optional[AttnError] = None
    try:
        own = facts()
    except AttnError as error:
        failure, own = error, f"error: {error}"
    everyone = communicator.agree(own)
    if failure:
        raise failure
    for rank, other in enumerate(everyone):
        if other.startswith("error: "):
            raise PlanError(f"rank {rank}: {other.removeprefix('error: ')}")
        if other != everyone[0]:
            raise PlanError(f"rank {rank}: expected what rank 0 has, {everyone[0]}, got {other}")


class Mailboxes:
    """What ranks that are threads have sent and others have not received; they wait `timeout` seconds for each other, or for as long as
    none has failed."""

    def __init__(self, size: int, timeout: Optional[float] = None):
        self.size, self.timeout = size, timeout
        self.changed = threading.Condition()
        self.messages: dict[tuple[int, int, int], Any] = {}
        self.failure = ""

    def fail(self, reason: str):
        """Wakes all that wait."""
        with self.changed:
            self.failure = self.failure or reason
            self.changed.notify_all()

    def put(self, key: tuple[int, int, int], message: Any):
        with self.changed:
            self.messages[key] = message
            self.changed.notify_all()

    def take(self, key: tuple[int, int, int]) -> Any:
        """`key` is the number of the exchange, who sends, who receives."""
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        with self.changed:
            while key not in self.messages:
                if self.failure:
                    raise DeviceError(f"rank {key[2]}: another rank failed: {self.failure}")
                if not self.changed.wait(None if deadline is None else max(0.0, deadline - time.monotonic())):
                    raise DeviceError(f"rank {key[2]}: expected rank {key[1]} to send within {self.timeout:g} s, got nothing")
            return self.messages.pop(key)


class ThreadCommunicator(Communicator):
    """A rank that is a thread."""

    def __init__(self, mailboxes: Mailboxes, rank: int):
        self.mailboxes, self.rank, self.size = mailboxes, rank, mailboxes.size
        self.exchanges = 0

    def exchange(self, parts: Sequence[Any], counts: Sequence[int]) -> Wait:
        number = self.exchanges
        self.exchanges += 1
        for peer, part in enumerate(parts):
            if peer != self.rank:
                self.sent_bytes += part.nbytes
            self.mailboxes.put((number, self.rank, peer), part)

        def wait() -> list[Any]:
            received = [self.mailboxes.take((number, peer, self.rank)) for peer in range(self.size)]
            for peer, (array, count) in enumerate(zip(received, counts)):
                if len(array) != count:
                    raise DeviceError(f"rank {self.rank}: expected {count} elements from rank {peer}, got {len(array)}")
            return received

        return wait

    def agree(self, what: str) -> list[str]:
        number = self.exchanges
        self.exchanges += 1
        for peer in range(self.size):
            self.mailboxes.put((number, self.rank, peer), what)
        return [self.mailboxes.take((number, peer, self.rank)) for peer in range(self.size)]
