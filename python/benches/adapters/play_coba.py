"""coba: `predict` and `learn`, without contexts."""

from __future__ import annotations

from coba.learners import BanditUCBLearner
from game import ITEMS, REWARDS, TABLE, Row

ARMS = list(range(ITEMS))


def play(learner, rounds):
    shown = []
    for t in range(rounds):
        arm, probability = learner.predict(None, ARMS)
        learner.learn(None, arm, REWARDS[t % TABLE][arm], probability)
        shown.append(arm)
    return shown


ROWS = [Row("arms", "BanditUCBLearner", "singly, UCB1-tuned", lambda seed: BanditUCBLearner(seed=seed), play)]
