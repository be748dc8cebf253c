"""This package: `select` and `update`, singly and in batches."""

from __future__ import annotations

import numpy as np
from click_bandits import Policy
from game import (
    CLICKS,
    CLICKS_ARRAY,
    EXAMINATION,
    ITEMS,
    POSITIONS,
    REWARDS,
    REWARDS_ARRAY,
    TABLE,
    WINS,
    WINS_ARRAY,
    Row,
)

BATCH = 1000
PLACES = np.arange(POSITIONS)


def make(name, **sizes):
    return lambda seed: Policy(name, items=ITEMS, seed=seed, **sizes)


def arm(policy, rounds):
    shown = []
    for t in range(rounds):
        decision = policy.select()
        (item,) = decision.action
        policy.update(decision, [REWARDS[t % TABLE][item]])
        shown.append(item)
    return shown


def arms(policy, rounds):
    shown = []
    for t in range(0, rounds, BATCH):
        batch = policy.select_batch(BATCH)
        times = np.arange(t, t + BATCH) % TABLE
        policy.update_batch(batch, REWARDS_ARRAY[times[:, None], batch.actions])
        shown.append(batch.actions[:, 0])
    return np.concatenate(shown)


def one_list(policy, rounds):
    shown = []
    for t in range(rounds):
        decision = policy.select()
        clicks = CLICKS[t % TABLE]
        policy.update(decision, [clicks[item][place] for place, item in enumerate(decision.action)])
        shown.append(decision.action)
    return shown


def lists(policy, rounds):
    shown = []
    for t in range(0, rounds, BATCH):
        batch = policy.select_batch(BATCH)
        times = np.arange(t, t + BATCH) % TABLE
        policy.update_batch(batch, CLICKS_ARRAY[times[:, None], batch.actions, PLACES])
        shown.append(batch.actions)
    return np.concatenate(shown)


def duel(policy, rounds):
    shown = []
    for t in range(rounds):
        decision = policy.select()
        first, second = decision.action
        policy.update(decision, first if WINS[t % TABLE][first][second] else second)
        shown.append(decision.action)
    return shown


def duels(policy, rounds):
    shown = []
    for t in range(0, rounds, BATCH):
        batch = policy.select_batch(BATCH)
        first, second = batch.actions.T
        times = np.arange(t, t + BATCH) % TABLE
        policy.update_batch(batch, np.where(WINS_ARRAY[times, first, second], first, second))
        shown.append(batch.actions)
    return np.concatenate(shown)


def both(task, name, single, batched, note="", **sizes):
    """The row of single calls and that of batches."""
    return [
        Row(task, name, "singly" + note, make(name, **sizes), single),
        Row(task, name, "1,000 at a time" + note, make(name, **sizes), batched, BATCH),
    ]


ONE = {"model": "semi-bandit", "positions": 1, "order": [0]}
ALL_SEEN = {"model": "semi-bandit", "positions": POSITIONS, "order": list(range(POSITIONS))}
ROWS = [
    *both("arms", "cascade-ucb1", arm, arms, ", one position: UCB1", **ONE),
    *both("arms", "cascade-ts", arm, arms, ", one position: Thompson sampling", **ONE),
    *both("lists", "cascade-ts", one_list, lists, ", positions count alike", **ALL_SEEN),
    *both("lists", "pbm-ucb", one_list, lists, examination=EXAMINATION),
    *both("lists", "pbm-ts", one_list, lists, examination=EXAMINATION),
    *both("duels", "rucb", duel, duels),
    *both("duels", "double-ts", duel, duels),
]
