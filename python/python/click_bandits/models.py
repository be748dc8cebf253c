"""Click models: simulated users of every protocol.

Each model draws from a generator of random numbers of its own, which `seed` starts; pickling and
copying keep its state.
"""

from ._native import models as _native

__all__ = _native.__all__
for _name in __all__:
    globals()[_name] = getattr(_native, _name)
