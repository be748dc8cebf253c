"""SMPyBandits: `choice`, or `choiceMultiple` for lists, and `getReward`."""

from __future__ import annotations

from game import CLICKS, ITEMS, POSITIONS, REWARDS, TABLE, Row
from SMPyBandits.Policies import UCB, Thompson


def make(policy):
    def seeded(seed):
        started = policy(ITEMS)
        started.startGame()
        return started

    return seeded


def play(policy, rounds):
    shown = []
    for t in range(rounds):
        arm = policy.choice()
        policy.getReward(arm, REWARDS[t % TABLE][arm])
        shown.append(arm)
    return shown


def lists(policy, rounds):
    shown = []
    for t in range(rounds):
        items = policy.choiceMultiple(POSITIONS)
        for place, item in enumerate(items):
            policy.getReward(item, CLICKS[t % TABLE][item][place])
        shown.append(items)
    return shown


ROWS = [
    Row("arms", "UCB", "singly", make(UCB), play),
    Row("arms", "Thompson", "singly", make(Thompson), play),
    Row("lists", "Thompson", "singly, `choiceMultiple`, positions count alike, no order", make(Thompson), lists),
]
