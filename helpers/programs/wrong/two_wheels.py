"""Two builds of CuPy in one environment."""

# %% wrong
import cupy  # noqa: F401
