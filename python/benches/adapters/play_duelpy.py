"""duelpy: `step`, which asks a `FeedbackMechanism` for the winner."""

from __future__ import annotations

import numpy as np
from duelpy.algorithms import DoubleThompsonSampling, RelativeUCB
from duelpy.feedback import FeedbackMechanism
from game import ITEMS, TABLE, WINS, Row


class Prepared(FeedbackMechanism):
    """The prepared winners."""

    def __init__(self):
        super().__init__(list(range(ITEMS)))
        self.shown = []

    def duel(self, arm_i_index, arm_j_index):
        winner = WINS[len(self.shown) % TABLE][arm_i_index][arm_j_index]
        self.shown.append((arm_i_index, arm_j_index))
        return winner

    def get_num_duels(self):
        return len(self.shown)


def make(algorithm):
    """The algorithm and its feedback."""

    def seeded(seed):
        feedback = Prepared()
        return algorithm(feedback, time_horizon=10**9, random_state=np.random.RandomState(seed)), feedback

    return seeded


def play(both, rounds):
    algorithm, feedback = both
    before = len(feedback.shown)
    while len(feedback.shown) < before + rounds:
        algorithm.step()
    return feedback.shown[before : before + rounds]


ROWS = [
    Row("duels", "RelativeUCB", "singly", make(RelativeUCB), play),
    Row("duels", "DoubleThompsonSampling", "singly", make(DoubleThompsonSampling), play),
]
