"""Bounds on the regret, or on the rounds, of an instance.

Probabilities come in any order and are sorted inside, except those of leaving and of a list.
Numbers beside them, such as a horizon, may be arrays; they broadcast as in numpy. The interpreter's
lock is released. Constants are as printed in the papers, unless the name says `corrected`.
Malformed input is a ValueError.
"""

from ._native import bounds as _native

__all__ = _native.__all__
for _name in __all__:
    globals()[_name] = getattr(_native, _name)
    globals()[_name].__module__ = __name__
