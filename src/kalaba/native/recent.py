"""What was used last is kept; the rest may go, and its memory with it."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """At most so many values by their keys, those used last.

    Without a lock, which a process that forks would have to hold: where two threads ask for a value at once, it may be
    made twice.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: dict[Hashable, Value] = {}

    def __len__(self) -> int:
        """How many are kept."""
        return len(self._values)

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, made where it is not kept."""
        value = self._values.pop(key, None)
        return self.keep(key, make() if value is None else value)

    def keep(self, key: Hashable, value: Value) -> Value:
        """Keep a value as the one used last."""
        self._values.pop(key, None)
        self._values[key] = value
        for oldest in list(self._values)[: -self._most]:
            self._values.pop(oldest, None)
        return value
