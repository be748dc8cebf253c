"""Bounds on the regret, or on the rounds, of an instance.

Probabilities come in any order and are sorted inside, except those of leaving. Constants are as printed in the papers. Malformed input is a
ValueError.
"""

from ._native import (
    cascade_bai_lower_bound,
    cascade_lower_bound,
    dcm_lower_bound,
    dueling_lower_bound,
    multiple_play_lower_bound,
    pbm_lower_bound,
    pbm_relaxed_lower_bound,
    rank_one_upper_bound,
    semi_bandit_lower_bound,
)

__all__ = [
    "cascade_bai_lower_bound",
    "cascade_lower_bound",
    "dcm_lower_bound",
    "dueling_lower_bound",
    "multiple_play_lower_bound",
    "pbm_lower_bound",
    "pbm_relaxed_lower_bound",
    "rank_one_upper_bound",
    "semi_bandit_lower_bound",
]
