"""pybandits: `predict` and `update` of `SmabBernoulli`, Thompson sampling."""

from __future__ import annotations

from game import ITEMS, REWARDS, TABLE, Row
from pybandits.smab import SmabBernoulli

BATCH = 1000


def make(seed):
    return SmabBernoulli.cold_start(action_ids={str(item) for item in range(ITEMS)}, random_seed=seed)


def play(mab, rounds):
    return batches(mab, rounds, 1)


def batches(mab, rounds, size=BATCH):
    shown = []
    for t in range(0, rounds, size):
        actions, _ = mab.predict(n_samples=size)
        arms = [int(action) for action in actions]
        mab.update(actions=actions, rewards=[REWARDS[(t + i) % TABLE][arm] for i, arm in enumerate(arms)])
        shown.extend(arms)
    return shown


ROWS = [
    Row("arms", "SmabBernoulli", "singly", make, play),
    Row("arms", "SmabBernoulli", "1,000 at a time", make, batches, BATCH),
]
