"""BanditLab: `select_arm` and `update`, with a normal prior."""

from __future__ import annotations

import numpy as np
from game import ITEMS, REWARDS, TABLE, Row
from mab_framework import NonContextualTSBandit

NONE = np.ones(1)


def play(policy, rounds):
    shown = []
    for t in range(rounds):
        arm = policy.select_arm(NONE)
        policy.update([{"action": arm, "reward": REWARDS[t % TABLE][arm], "context": NONE}])
        shown.append(arm)
    return shown


ROWS = [Row("arms", "NonContextualTSBandit", "singly, normal prior", lambda seed: NonContextualTSBandit(ITEMS), play)]
