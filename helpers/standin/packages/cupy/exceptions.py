"""NumPy's exceptions, under CuPy's name."""

from numpy.exceptions import *  # noqa: F403
