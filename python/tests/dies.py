"""A shard whose worker dies. Workers of engines import it, so it is a module of its own."""

import os
import signal

from click_bandits.distributed import _Shard


class DiesOnce:
    """Plays shards; the process of the first one kills itself, once."""

    def __init__(self, arguments, mark):
        self.arguments = arguments
        self.mark = mark

    def __call__(self, number):
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return _Shard(*self.arguments)(number)
        os.kill(os.getpid(), signal.SIGKILL)


class InTurn:
    """A policy in Python: the items in turn, from one that the seed tells."""

    def __init__(self, seed, items, positions):
        self.first, self.items, self.positions = seed % items, items, positions

    def select(self):
        return [(self.first + place) % self.items for place in range(self.positions)]

    def update(self, decision, clicks):
        self.first += not any(clicks)
