"""The game that every package plays.

Arms: one of 20 is chosen, its reward is 0 or 1. Lists: 5 of 20 items are shown, and every position
answers 0 or 1 under the position-based model. Duels: two of 20 items are compared, the first wins
with the probability of the Bradley-Terry model whose strengths are the attraction. The answers are
drawn in advance and looked up, which costs the same in every row and little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

ITEMS = 20
POSITIONS = 5
ATTRACTION = np.linspace(0.05, 0.5, ITEMS)
EXAMINATION = np.array([0.9, 0.7, 0.5, 0.3, 0.2])
TABLE = 1024
"""Rounds with answers of their own; then they come again."""

_drawn = np.random.default_rng(1)
REWARDS_ARRAY = (_drawn.random((TABLE, ITEMS)) < ATTRACTION).astype(np.int64)
"""Rewards by round and arm."""
REWARDS: list[list[int]] = REWARDS_ARRAY.tolist()
CLICKS_ARRAY = (_drawn.random((TABLE, ITEMS, POSITIONS)) < ATTRACTION[:, None] * EXAMINATION).astype(np.int64)
"""Clicks by round, item and position."""
CLICKS: list[list[list[int]]] = CLICKS_ARRAY.tolist()
PREFERENCES = ATTRACTION[:, None] / (ATTRACTION[:, None] + ATTRACTION)
WINS_ARRAY = _drawn.random((TABLE, ITEMS, ITEMS)) < PREFERENCES
"""Whether the first item wins, by round, first and second item."""
WINS: list[list[list[bool]]] = WINS_ARRAY.tolist()


@dataclass(frozen=True)
class Row:
    """A policy of a package on a task."""

    task: str
    """`arms`, `lists` or `duels`."""
    policy: str
    """Its name in the package."""
    how: str
    """How it is called, and where its task differs."""
    make: Callable[[int], Any]
    """A fresh policy with this seed."""
    play: Callable[[Any, int], Any]
    """Plays this number of rounds with it; the actions in order."""
    step: int = 1
    """Rounds are played in multiples of this number."""


def worth(task: str, actions: Any) -> float:
    """Mean expected reward of the actions, as a fraction of the best; of both items of a duel."""
    shown = ATTRACTION[np.asarray(actions)]
    if task != "lists":
        return float(shown.mean() / ATTRACTION.max())
    best = np.sort(ATTRACTION)[::-1][:POSITIONS] @ EXAMINATION
    return float((shown @ EXAMINATION).mean() / best)
