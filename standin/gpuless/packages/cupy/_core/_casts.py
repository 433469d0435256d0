"""Numbers with a fraction that become integers, by a GPU's rule (PTX ISA, "cvt").

What is beyond the integer's range becomes its end. A NaN becomes 0 or, where the number or the
integer has 64 bits, the integer whose highest bit alone is set. An integer of 8 or 16 bits is the
low bits of one of 32. The shim's ``standin_fits`` is the same rule for casts in kernels.
"""

from __future__ import annotations

import warnings

import numpy as np


def cast(source: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``source`` itself, unless it has fractions and ``dtype`` has none: then integers, of
    ``dtype`` or of 32 bits."""
    if dtype.kind not in "iu" or source.dtype.kind not in "fc":
        return source
    if source.dtype.kind == "c":
        text = "Casting complex values to real discards the imaginary part"
        warnings.warn(text, np.exceptions.ComplexWarning, stacklevel=4)
        source = source.real
    wide = dtype if dtype.itemsize == 8 else np.dtype(f"{dtype.kind}4")
    limits = np.iinfo(wide)
    number = source.astype(np.float64)
    too_low, too_high = number <= limits.min - 1, number >= float(limits.max + 1)
    is_nan = np.isnan(number)
    outside = too_low | too_high | is_nan
    if not outside.any():
        return number.astype(wide)
    result = np.where(outside, 0, number).astype(wide)
    np.copyto(result, limits.min, where=too_low)
    np.copyto(result, limits.max, where=too_high)
    if 8 in (source.dtype.itemsize, wide.itemsize):
        np.copyto(result, np.array(1 << 8 * wide.itemsize - 1, "u8").astype(wide), where=is_nan)
    return result


def as_type(value, dtype: np.dtype) -> np.ndarray:
    """``value`` as a kernel reads it into a variable of ``dtype``."""
    source = np.asarray(value)
    if source.dtype.kind == "c" and dtype.kind not in "bc":
        source = source.real
    return cast(source, dtype).astype(dtype, copy=False)
