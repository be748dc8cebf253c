"""bayesianbandits: `Agent.pull` and `Agent.update`; `pull(top_k=...)` for lists."""

from __future__ import annotations

import numpy as np
from bayesianbandits import Agent, Arm, DirichletClassifier, NormalInverseGammaRegressor, ThompsonSampling
from game import CLICKS, ITEMS, POSITIONS, REWARDS, TABLE, Row


def first_class(probabilities):
    """The probability of a reward, of those of both classes."""
    return probabilities[..., 0]


def beta(seed):
    arms = [Arm(item, first_class, DirichletClassifier({1: 1.0, 0: 1.0})) for item in range(ITEMS)]
    return Agent(arms, ThompsonSampling(), random_seed=seed)


def normal(seed):
    arms = [Arm(item, learner=NormalInverseGammaRegressor()) for item in range(ITEMS)]
    return Agent(arms, ThompsonSampling(), random_seed=seed)


def play(agent, rounds):
    shown = []
    for t in range(rounds):
        (arm,) = agent.pull()
        agent.select_for_update(arm).update(np.array([REWARDS[t % TABLE][arm]]))
        shown.append(arm)
    return shown


def lists(agent, rounds):
    shown = []
    for t in range(rounds):
        (items,) = agent.pull(top_k=POSITIONS)
        for place, item in enumerate(items):
            agent.select_for_update(item).update(np.array([CLICKS[t % TABLE][item][place]]))
        shown.append(items)
    return shown


ROWS = [
    Row("arms", "ThompsonSampling", "singly, `DirichletClassifier`", beta, play),
    Row("arms", "ThompsonSampling", "singly, `NormalInverseGammaRegressor`", normal, play),
    Row("lists", "ThompsonSampling", "singly, `top_k`, `DirichletClassifier`, positions count alike", beta, lists),
]
