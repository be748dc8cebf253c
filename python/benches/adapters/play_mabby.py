"""mabby: `Agent.choose` and `Agent.update`."""

from __future__ import annotations

import numpy as np
from game import ITEMS, REWARDS, TABLE, Row
from mabby.strategies import BetaTSStrategy, UCB1Strategy

STEPS = 10**9


def make(strategy):
    def seeded(seed):
        agent = strategy().agent()
        agent.prime(ITEMS, STEPS, np.random.default_rng(seed))
        return agent

    return seeded


def play(agent, rounds):
    shown = []
    for t in range(rounds):
        arm = agent.choose()
        agent.update(REWARDS[t % TABLE][arm])
        shown.append(arm)
    return shown


ROWS = [
    Row("arms", "UCB1Strategy", "singly, alpha 1", make(lambda: UCB1Strategy(alpha=1.0)), play),
    Row("arms", "BetaTSStrategy", "singly", make(BetaTSStrategy), play),
]
