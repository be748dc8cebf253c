"""contextualbandits: `predict`, or `topN` for lists, and `partial_fit`, with the constant 1 as the
only context."""

from __future__ import annotations

import numpy as np
from contextualbandits.online import LinTS, LinUCB
from game import ITEMS, REWARDS, REWARDS_ARRAY, TABLE, Row

BATCH = 1000
ONE, MANY = np.ones((1, 1)), np.ones((BATCH, 1))


def make(policy):
    return lambda seed: policy(ITEMS, fit_intercept=False, random_state=seed)


def play(policy, rounds):
    shown = []
    for t in range(rounds):
        arms = policy.predict(ONE)
        policy.partial_fit(ONE, arms, np.array([REWARDS[t % TABLE][arms[0]]]))
        shown.append(arms[0])
    return shown


def batches(policy, rounds):
    shown = []
    for t in range(0, rounds, BATCH):
        arms = policy.predict(MANY)
        policy.partial_fit(MANY, arms, REWARDS_ARRAY[np.arange(t, t + BATCH) % TABLE, arms])
        shown.append(arms)
    return np.concatenate(shown)


ROWS = [
    Row("arms", "LinUCB", "singly, a constant as the context", make(LinUCB), play),
    Row("arms", "LinTS", "singly, a constant as the context", make(LinTS), play),
    Row("arms", "LinTS", "1,000 at a time, a constant as the context", make(LinTS), batches, BATCH),
]
