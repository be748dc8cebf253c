"""Users of every click model, as experiments name it."""

from __future__ import annotations

from typing import Any, NamedTuple

from click_bandits import models

THETA = [0.45, 0.35, 0.25, 0.15, 0.05]


class Row(NamedTuple):
    """A click model."""

    users: Any
    """Their class."""
    parameters: dict[str, Any]
    """By their keys in an experiment, in the order of the class."""
    policy: str
    """A policy that learns from them."""


USERS = {
    "pbm": Row(models.PositionBased, {"theta": THETA, "kappa": [0.9, 0.6, 0.3]}, "pbm-ts"),
    "semi-bandit": Row(models.RandomSemiBandit, {"theta": THETA, "kappa": [0.9, 0.6, 0.3]}, "rsf-ts"),
    "cascade": Row(models.Cascade, {"attraction": THETA, "positions": 3}, "cascade-ts"),
    "dcm": Row(models.DependentClick, {"attraction": THETA, "leave": [0.2, 0.5, 0.4]}, "dcm-ts"),
    "dbn": Row(
        models.DynamicBayesian,
        {"attraction": THETA, "satisfaction": THETA, "continuation": 0.9, "positions": 3},
        "epsilon-greedy",
    ),
    "ccm": Row(
        models.ClickChain, {"attraction": THETA, "continuation": [0.9, 0.4, 0.2], "positions": 3}, "epsilon-greedy"
    ),
    "ubm": Row(
        models.UserBrowsing,
        {"attraction": THETA, "examination": [[0.9], [0.5, 0.7], [0.3, 0.4, 0.6]]},
        "epsilon-greedy",
    ),
    "rank-one": Row(models.RankOne, {"rows": [0.8, 0.4], "columns": [0.7, 0.6, 0.1]}, "uts"),
    "dueling": Row(
        models.Dueling, {"preferences": [[0.5, 0.7, 0.8], [0.3, 0.5, 0.6], [0.2, 0.4, 0.5]]}, "double-ts"
    ),
}

FITTED = {"pbm": "pbm", "cascade": "cascade", "dcm": "dcm", "ubm": "ubm", "sdbn": "dbn", "dbn": "dbn", "ccm": "ccm"}
"""The models that are fitted to logs, from the simplest on, and the model of their users."""
