"""Bandit policies that learn which ranked list to show from clicks.

`Policy` chooses what to show and learns from the clicks; `policies()` lists the catalogue. `Live` is
a policy among items that come and go, whose answers come late, twice or never.
`simulate` runs experiments, and `distributed.simulate` runs them on a cluster. `models` has
simulated users, `confidence` confidence bounds over arrays, and `bounds` bounds on the regret of an
instance. `fit` fits click models to a click log, and `evaluate` tells what another ranking would
have earned on it.
"""

from . import bounds, confidence, distributed, models
from ._native import (
    Batch,
    Decision,
    Evaluation,
    Fitted,
    Live,
    Policy,
    Simulation,
    Table,
    evaluate,
    fit,
    merge,
    policies,
    simulate,
    spec_files,
)

__all__ = [
    "Batch",
    "Decision",
    "Evaluation",
    "Fitted",
    "Live",
    "Policy",
    "Simulation",
    "Table",
    "bounds",
    "confidence",
    "distributed",
    "evaluate",
    "fit",
    "merge",
    "models",
    "policies",
    "simulate",
    "spec_files",
]
