"""vowpalwabbit: `predict` and `learn` of `--cb_explore`, with no feature but the constant."""

from __future__ import annotations

import random

from game import ITEMS, REWARDS, TABLE, Row
from vowpalwabbit import Workspace

ARMS = range(ITEMS)


class Player:
    """A workspace gives probabilities; its user draws from them."""

    def __init__(self, arguments, seed):
        self.workspace = Workspace(f"--cb_explore {ITEMS} {arguments} --random_seed {seed} --quiet")
        self.random = random.Random(seed)


def make(arguments):
    return lambda seed: Player(arguments, seed)


def play(player, rounds):
    shown = []
    workspace = player.workspace
    for t in range(rounds):
        weights = workspace.predict("|")
        (arm,) = player.random.choices(ARMS, weights)
        workspace.learn(f"{arm + 1}:{-REWARDS[t % TABLE][arm]}:{weights[arm]} |")
        shown.append(arm)
    return shown


ROWS = [
    Row("arms", "--cb_explore", "singly, epsilon-greedy (0.05)", make("--epsilon 0.05"), play),
    Row("arms", "--cb_explore --bag 5", "singly, five bootstrapped models", make("--bag 5"), play),
]
