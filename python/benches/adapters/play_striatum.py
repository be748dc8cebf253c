"""striatum: `get_action` and `reward`. It keeps the history of all rounds."""

from __future__ import annotations

from game import CLICKS, ITEMS, POSITIONS, REWARDS, TABLE, Row
from striatum.bandit.ucb1 import UCB1
from striatum.storage.action import Action, MemoryActionStorage
from striatum.storage.history import MemoryHistoryStorage
from striatum.storage.model import MemoryModelStorage


def make(seed):
    actions = MemoryActionStorage()
    actions.add([Action(item) for item in range(ITEMS)])
    return UCB1(MemoryHistoryStorage(), MemoryModelStorage(), actions)


def play(policy, rounds):
    shown = []
    for t in range(rounds):
        history, chosen = policy.get_action()
        arm = chosen.action.id
        policy.reward(history, {arm: REWARDS[t % TABLE][arm]})
        shown.append(arm)
    return shown


def lists(policy, rounds):
    shown = []
    for t in range(rounds):
        history, chosen = policy.get_action(n_actions=POSITIONS)
        items = [one.action.id for one in chosen]
        policy.reward(history, {item: CLICKS[t % TABLE][item][place] for place, item in enumerate(items)})
        shown.append(items)
    return shown


ROWS = [
    Row("arms", "UCB1", "singly", make, play),
    Row("lists", "UCB1", "singly, positions count alike", make, lists),
]
