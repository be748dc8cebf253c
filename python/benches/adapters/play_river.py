"""river.bandit: `pull` and `update`."""

from __future__ import annotations

from game import ITEMS, REWARDS, TABLE, Row
from river import bandit, proba

ARMS = list(range(ITEMS))


def play(policy, rounds):
    shown = []
    for t in range(rounds):
        arm = policy.pull(ARMS)
        policy.update(arm, REWARDS[t % TABLE][arm])
        shown.append(arm)
    return shown


ROWS = [
    Row("arms", "UCB", "singly, delta 1", lambda seed: bandit.UCB(delta=1.0, seed=seed), play),
    Row("arms", "ThompsonSampling", "singly", lambda seed: bandit.ThompsonSampling(proba.Beta(), seed=seed), play),
]
