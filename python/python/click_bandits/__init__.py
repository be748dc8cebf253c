"""Bandit policies that learn which ranked list to show from clicks.

`Policy` chooses what to show and learns from the clicks; `policies()` lists the catalogue. `Live` is
a policy among items that come and go, whose answers come late, twice or never.
`simulate` runs experiments, and `distributed.simulate` runs them on a cluster. `models` has
simulated users, `confidence` confidence bounds over arrays, and `bounds` bounds on the regret of an
instance. `fit` fits click models to a click log, and `evaluate` tells what another ranking would
have earned on it; with a segment or features, `fit` gives a policy that sees who asks its start.
`interleaving_test` and `ab_test` tell which of two rankers real users prefer,
`test_plan` how many users that takes, and `judgments` rates the items of a fit for other tools.

Wrong names, shapes, numbers and damaged data are a ValueError, arguments of another type a TypeError,
and files that are not there a FileNotFoundError. They name the argument and what is expected, and
change nothing.
"""

from importlib.metadata import version as _version

from . import bounds, confidence, distributed, models
from ._native import (
    Batch,
    ContextFit,
    Decision,
    Evaluation,
    Fitted,
    Live,
    Policy,
    Simulation,
    Table,
    ab_test,
    evaluate,
    fit,
    interleaving_test,
    judgments,
    merge,
    policies,
    simulate,
    spec_files,
    test_plan,
)

__version__ = _version("click-bandits")

__all__ = [
    "Batch",
    "ContextFit",
    "Decision",
    "Evaluation",
    "Fitted",
    "Live",
    "Policy",
    "Simulation",
    "Table",
    "__version__",
    "ab_test",
    "bounds",
    "confidence",
    "distributed",
    "evaluate",
    "fit",
    "interleaving_test",
    "judgments",
    "merge",
    "models",
    "policies",
    "simulate",
    "spec_files",
    "test_plan",
]
