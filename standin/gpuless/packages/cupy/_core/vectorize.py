"""``cupy.vectorize``: on a GPU, a kernel made out of a Python function; here, the function's own
syntax tree, done for all elements at once.

As in CuPy the types are those of the arguments, not of the values: every branch is done, so that a
line that CuPy could not compile is an error here too, and what a branch or loop writes is kept for
the elements that took it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cupy._core._creation import array
from cupy._core._dispatch import SCALARS, unsupported
from cupy._core._elements import Elements
from cupy._core._ndarray import ndarray
from cupy._core._routines import broadcast_to
from cupy._core._ufunc import broadcast


class vectorize:
    """A function of numbers as a function of arrays, element by element, with broadcasting.

    ``pyfunc`` may use numbers, tuples, ``if``, ``while``, ``for`` over ``range`` and CuPy's ufuncs;
    its source must be at hand. ``otypes``, ``excluded`` and ``signature`` raise
    NotImplementedError, as in CuPy; ``cache`` has no effect.
    """

    def __init__(
        self, pyfunc: Callable, otypes=None, doc=None, excluded=None, cache=False, signature=None
    ):
        self.pyfunc = pyfunc
        self.__doc__ = doc or pyfunc.__doc__
        self.excluded, self.cache, self.signature = excluded, cache, signature
        self.otypes = otypes and "".join(np.dtype(one).char for one in otypes)
        for name, value in (("excluded", excluded), ("signature", signature)):
            if value is not None:
                raise NotImplementedError(
                    f"cupy.vectorize does not support `{name}` option currently."
                )

    def __call__(self, *args):
        """The results for these device arrays and numbers: an array, or a tuple of arrays."""
        if self.otypes is not None:
            raise NotImplementedError
        for arg in args:
            if not isinstance(arg, (ndarray, *SCALARS)):
                raise unsupported(arg)
        values = [arg if isinstance(arg, ndarray) else array(arg) for arg in args]
        shape = broadcast([value.shape for value in values])
        return Elements(self.pyfunc, shape).call([broadcast_to(v, shape) for v in values])
