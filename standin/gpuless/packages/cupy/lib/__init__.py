"""``cupy.lib``: views by strides."""

from cupy.lib import stride_tricks

__all__ = ["stride_tricks"]
