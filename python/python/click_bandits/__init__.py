"""Bandit policies that learn which ranked list to show from clicks.

`Policy` chooses what to show and learns from the clicks; `policies()` lists the catalogue. `models` has simulated users, `confidence` confidence
bounds over arrays, and `bounds` bounds on the regret of an instance.
"""

from . import bounds, confidence, models
from ._native import Batch, Decision, Policy, Table, policies

__all__ = ["Batch", "Decision", "Policy", "Table", "bounds", "confidence", "models", "policies"]
