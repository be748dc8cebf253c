"""Click models: simulated users of every protocol.

Each model draws from a generator of random numbers of its own, which `seed` starts; pickling and
copying keep its state.
"""

from ._native import (
    Cascade,
    ClickChain,
    DependentClick,
    Dueling,
    DynamicBayesian,
    PositionBased,
    RandomSemiBandit,
    RankOne,
    UserBrowsing,
)

__all__ = [
    "Cascade",
    "ClickChain",
    "DependentClick",
    "Dueling",
    "DynamicBayesian",
    "PositionBased",
    "RandomSemiBandit",
    "RankOne",
    "UserBrowsing",
]
