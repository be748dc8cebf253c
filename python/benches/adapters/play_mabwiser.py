"""MABWiser: `MAB.predict` and `MAB.partial_fit`, without contexts."""

from __future__ import annotations

from game import ITEMS, REWARDS, REWARDS_ARRAY, TABLE, Row
from mabwiser.mab import MAB, LearningPolicy

import numpy as np

BATCH = 1000


def make(policy):
    """A policy that has seen every arm once, since `predict` needs a `fit`."""

    def seeded(seed):
        mab = MAB(list(range(ITEMS)), policy, seed=seed)
        mab.fit(list(range(ITEMS)), REWARDS[0])
        return mab

    return seeded


def singly(mab, rounds):
    shown = []
    for t in range(rounds):
        arm = mab.predict()
        mab.partial_fit([arm], [REWARDS[t % TABLE][arm]])
        shown.append(arm)
    return shown


def batches(mab, rounds):
    shown = []
    contexts = np.zeros((BATCH, 1))
    for t in range(0, rounds, BATCH):
        arms = mab.predict(contexts)
        mab.partial_fit(arms, REWARDS_ARRAY[np.arange(t, t + BATCH) % TABLE, arms])
        shown.extend(arms)
    return shown


UCB1, TS = LearningPolicy.UCB1(), LearningPolicy.ThompsonSampling()
ROWS = [
    Row("arms", "UCB1", "singly", make(UCB1), singly),
    Row("arms", "ThompsonSampling", "singly", make(TS), singly),
    Row("arms", "ThompsonSampling", "1,000 at a time", make(TS), batches, BATCH),
]
