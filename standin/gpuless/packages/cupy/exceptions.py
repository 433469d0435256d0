"""NumPy's exceptions, under CuPy's name."""

from numpy.exceptions import (  # noqa: F401
    AxisError,
    ComplexWarning,
    ModuleDeprecationWarning,
    RankWarning,
    TooHardError,
    VisibleDeprecationWarning,
)
