"""Divergences, confidence bounds and radii over arrays.

Numbers are converted to float64 and shapes broadcast as in numpy; the interpreter's lock is released. Logarithms are natural, information is in
nats. NaN and numbers outside the range of an argument are a ValueError.
"""

from ._native import (
    bernoulli_kl,
    bernstein_radius,
    hoeffding_radius,
    kl_ucb_lower,
    kl_ucb_upper,
    lil_radius,
    lil_radius_scaled,
    multi_position_lower,
    multi_position_upper,
    pbm_ucb_radius,
    rsf_ucb_radius,
    sample_bernstein_radius,
    scaled_radius,
    ucb1_radius,
)

__all__ = [
    "bernoulli_kl",
    "bernstein_radius",
    "hoeffding_radius",
    "kl_ucb_lower",
    "kl_ucb_upper",
    "lil_radius",
    "lil_radius_scaled",
    "multi_position_lower",
    "multi_position_upper",
    "pbm_ucb_radius",
    "rsf_ucb_radius",
    "sample_bernstein_radius",
    "scaled_radius",
    "ucb1_radius",
]
