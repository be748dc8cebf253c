"""Divergences, confidence bounds, confidence sequences, exploration levels and coverage bounds over
arrays.

Numbers are converted to float64 and shapes broadcast as in numpy; results are arrays of the common
shape, or floats. The interpreter's lock is released. Logarithms are natural, information is in nats.
NaN and numbers outside the range of an argument are a ValueError that names the argument and the
place. Masked arrays are refused.
"""

from ._native import confidence as _native

__all__ = _native.__all__
for _name in __all__:
    globals()[_name] = getattr(_native, _name)
    globals()[_name].__module__ = __name__
