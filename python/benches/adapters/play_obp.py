"""obp: `select_action` and `update_params`; `len_list` for lists."""

from __future__ import annotations

from game import CLICKS, ITEMS, POSITIONS, REWARDS, TABLE, Row
from obp.policy import BernoulliTS


def make(length):
    return lambda seed: BernoulliTS(n_actions=ITEMS, len_list=length, random_state=seed)


def play(policy, rounds):
    shown = []
    for t in range(rounds):
        (arm,) = policy.select_action()
        policy.update_params(action=arm, reward=REWARDS[t % TABLE][arm])
        shown.append(arm)
    return shown


def lists(policy, rounds):
    shown = []
    for t in range(rounds):
        items = policy.select_action()
        for place, item in enumerate(items):
            policy.update_params(action=item, reward=CLICKS[t % TABLE][item][place])
        shown.append(items)
    return shown


ROWS = [
    Row("arms", "BernoulliTS", "singly", make(1), play),
    Row("lists", "BernoulliTS", "singly, `len_list`, positions count alike", make(POSITIONS), lists),
]
