"""slots: `online_trial`, which takes the result of the last arm and names the next."""

from __future__ import annotations

from game import ITEMS, REWARDS, TABLE, Row
from slots import MAB


def play_with(strategy):
    def play(mab, rounds):
        shown = []
        arm = 0
        for t in range(rounds):
            shown.append(arm)
            arm = mab.online_trial(bandit=arm, payout=REWARDS[t % TABLE][arm], strategy=strategy)["choice"]
        return shown

    return play


def make(seed):
    return MAB(num_bandits=ITEMS, live=True)


ROWS = [
    Row("arms", "ucb", "singly", make, play_with("ucb")),
    Row("arms", "bayesian", "singly, Thompson sampling", make, play_with("bayesian")),
]
