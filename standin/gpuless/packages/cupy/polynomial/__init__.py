"""``cupy.polynomial``: polynomials by their coefficients, the lowest power first."""

from __future__ import annotations

from cupy.polynomial import polynomial, polyutils  # noqa: F401
