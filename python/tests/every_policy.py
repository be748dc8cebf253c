"""Every policy of the catalogue on simulated users of every protocol that it plays."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from click_bandits import Policy, models, policies

ATTRACTION = [0.45, 0.35, 0.25, 0.15, 0.1, 0.05]
EXAMINATION = [0.9, 0.6, 0.3]
PREFERENCES = [[0.5 + 0.08 * (j - i) for j in range(5)] for i in range(5)]


def users_of(protocol: str, seed: int = 1) -> Any:
    """Users of a protocol."""
    if protocol == "pbm":
        return models.PositionBased(ATTRACTION, EXAMINATION, seed=seed)
    if protocol == "semi-bandit":
        return models.RandomSemiBandit(ATTRACTION, EXAMINATION, seed=seed)
    if protocol == "cascade":
        return models.Cascade(ATTRACTION, 3, seed=seed)
    if protocol == "dcm":
        return models.DependentClick(ATTRACTION, [0.4, 0.9, 0.2], seed=seed)
    if protocol == "clicks-only":
        return models.DynamicBayesian(ATTRACTION, [0.5] * 6, 0.8, 3, seed=seed)
    if protocol == "rank-one":
        return models.RankOne([0.8, 0.3, 0.2, 0.6], [0.2, 0.9, 0.5], seed=seed)
    if protocol == "dueling":
        return models.Dueling(PREFERENCES, seed=seed)
    raise AssertionError(protocol)


def pairs() -> list[tuple[str, str]]:
    """Every policy with every protocol that it plays."""
    return [(row["name"], protocol) for row in policies() for protocol in row["plays"]]


def arguments(row: Any, protocol: str, users: Any) -> dict[str, Any]:
    """Keyword arguments of `Policy`; examination and the order of positions only for policies that
    know them."""
    known = dict(users.known())
    if "examination" in known and "at most the order" in row["told"]:
        known["positions"] = len(known.pop("examination"))
    if "order" not in row["told"]:
        known.pop("order", None)
    if row["contexts"] == "needed":
        known["item_features"] = [[item / 10] for item in range(known["items"])]
    if row["needs_horizon"]:
        known["horizon"] = 1000
    return known


def policy_on(name: str, protocol: str, users: Any, seed: int = 7) -> Policy:
    """A fresh policy for these users."""
    row = next(row for row in policies() if row["name"] == name)
    return Policy(name, **arguments(row, protocol, users), seed=seed)


def answer_of(users: Any, shown: Any) -> tuple[Any, ...]:
    """The arguments of `update` after the decision."""
    response = users.respond(shown)
    return response if isinstance(response, tuple) else (response,)


def play(policy: Policy, users: Any, rounds: int) -> list[tuple[int, ...]]:
    """Plays and returns the actions."""
    actions = []
    for _ in range(rounds):
        decision = policy.select()
        policy.update(decision, *answer_of(users, decision))
        actions.append(decision.action)
    return actions


def rounds_of(policy: Policy) -> int:
    """Displays that the policy counted."""
    state = json.loads(policy.save())["policy"]["state"]
    return sum(np.ravel(state["shows"] if "shows" in state else state["counts"]["shows"]))
