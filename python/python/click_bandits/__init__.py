"""Bandit policies that learn which ranked list to show from clicks.

`Policy` chooses what to show and learns from the clicks; `policies()` lists the catalogue. `models` has simulated users, `confidence` confidence
bounds over arrays, and `bounds` bounds on the regret of an instance. `fit` fits click models to a click log.
"""

from . import bounds, confidence, models
from ._native import Batch, Decision, Fitted, Policy, Table, fit, policies

__all__ = ["Batch", "Decision", "Fitted", "Policy", "Table", "bounds", "confidence", "fit", "models", "policies"]
