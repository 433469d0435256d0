"""What other libraries take from this module of CuPy's."""

from cupy._core._kernel import ctype_of as get_typename

__all__ = ["get_typename"]
