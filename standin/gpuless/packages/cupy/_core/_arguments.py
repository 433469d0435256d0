"""The arguments of a CUDA C kernel, checked against its parameters.

A GPU takes whatever bytes it is given. Here an argument that the kernel would misread is an error.
"""

from __future__ import annotations

import sys

import numpy as np

from cupy._core._ndarray import ndarray
from cupy.cuda import memory
from cupy.cuda._ownership import check_device
from gpuless import is_lenient
from gpuless.engine.kernels import Parameter
from gpuless.engine.memory import holding


class Checker:
    """Turns one Python argument into what ``Kernel.launch`` takes for a parameter."""

    def __init__(self, kernel: str, position: int, parameter: Parameter):
        self.kind = parameter.kind.decode()
        self.size = parameter.size
        self.target_kind = parameter.target_kind.decode().strip("\0")
        self.target_size = parameter.target_size
        self.type = parameter.type
        self.where = f"argument {position} of kernel '{kernel}' ({self.type})"
        self.accepted: set[np.dtype] = set()  # of arrays, found right before

    def __call__(self, value):
        if isinstance(value, ndarray):
            return self._array(value)
        if value is None:
            return self._address(0, "None")
        if isinstance(value, memory.MemoryPointer):
            check_device(value.mem, self.where)
            return self._address(value.ptr, "a MemoryPointer")
        if isinstance(value, np.ndarray):
            return self._by_value(value)
        # Not a number of a type that is made from these, such as a member of an IntEnum.
        if type(value) in (bool, int, float, complex) or isinstance(value, np.generic):
            return self._scalar(value)
        if isinstance(value, memory.Handle):
            return self._handle(value)
        raise TypeError(f"Unsupported type {type(value)}")

    def _refuse(self, got: str, remedy: str) -> TypeError:
        return TypeError(
            f"{self.where} got {got}. CuPy does not check this, and on a GPU the kernel would read "
            f"garbage; {remedy}"
        )

    def _address(self, address: int, what: str) -> int:
        if self.kind != "p":
            raise self._refuse(what, f"pass {self._example()}")
        return address

    def _handle(self, value: memory.Handle) -> bytes:
        check_device(value._memory, self.where)
        if self.kind not in "iu" or self.size != 8:
            raise self._refuse(f"a {type(value).__name__}", f"pass {self._example()}")
        return value.ptr.to_bytes(8, sys.byteorder)

    def _example(self) -> str:
        names = {"f": "float", "i": "int", "u": "uint"}
        if self.kind in names:
            return f"np.{names[self.kind]}{8 * self.size}(...)"
        return "np.bool_(...)" if self.kind == "b" else "a numpy.ndarray of one such element"

    def _array(self, array: ndarray) -> int:
        check_device(array._memory, self.where)
        dtype = array._array.dtype
        if dtype not in self.accepted:
            if self.kind != "p":
                raise self._refuse(f"a cupy.ndarray of {dtype}", f"pass {self._example()}")
            if not (self._points_to(dtype) or is_lenient()):
                raise self._refuse(
                    f"a cupy.ndarray of {dtype}",
                    "convert it with astype(), view it as the right dtype, or change the parameter",
                )
            self.accepted.add(dtype)
        # Without elements NumPy's address is that of memory which is not the array's.
        return array._array.ctypes.data if array._array.size else array._memory.ptr

    def _points_to(self, dtype: np.dtype) -> bool:
        """Whether an array of this dtype may be read through the pointer.

        Characters and structs (float4, say) may look at any memory; signs are not held against it.
        """
        kind, size = self.target_kind, self.target_size
        if (
            kind in ("", "s", "c", "p")
            or (size == 1 and dtype.itemsize == 1)
            or kind == "u"
            and size == 1
        ):
            return True
        if dtype.kind == "c":  # real and imaginary parts, one after another
            return kind == "f" and 2 * size == dtype.itemsize
        wanted = {"f": "f", "i": "iu", "u": "iu", "b": "b"}[kind]
        if dtype == np.float16:  # often handled as unsigned short
            return size == 2
        return dtype.kind in wanted and dtype.itemsize == size

    def _by_value(self, value: np.ndarray):
        if value.size != 1:
            raise TypeError(
                f"You are trying to pass a numpy.ndarray of shape {value.shape} as a kernel "
                "parameter. Only numpy.ndarrays of size one can be passed by value. If you meant "
                "to pass a pointer to __global__ memory, you need to pass a cupy.ndarray instead."
            )
        if value.dtype.kind in "biufc" and self.kind != "s":
            if not value.dtype.isnative:
                raise self._refuse(
                    f"a numpy.ndarray of {value.dtype.str}",
                    f"its bytes are in the other order; pass {self._example()}",
                )
            return self._scalar(value.reshape(())[()])
        return self._bytes(value.tobytes(), f"a numpy.ndarray of {value.nbytes} bytes")

    def _bytes(self, raw: bytes, what: str) -> bytes:
        if self.kind != "s" or len(raw) != self.size:
            raise self._refuse(what, f"the parameter has {self.size} bytes; pass {self._example()}")
        return raw

    def _scalar(self, value):
        kind = self.kind
        if kind in "iuc":
            if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
                return self._integer(value)
        elif kind == "f":
            size = 8 if isinstance(value, float) else getattr(value, "itemsize", 0)
            if isinstance(value, np.float32) and self.size == 4:
                return value
            if isinstance(value, float) and self.size == size == 8:
                return value
        elif kind == "b" and isinstance(value, (bool, np.bool_)):
            return value
        elif kind == "p" and isinstance(value, (int, np.int64, np.uint64)):
            if not isinstance(value, bool):
                return self._integer_address(int(value))
        elif kind == "s" and not isinstance(value, (bool, int, float)):
            return self._bytes(np.asarray(value).tobytes(), f"a {type(value).__name__}")
        raise self._refuse(*self._explain(value))

    def _integer(self, value) -> bytes:
        python = isinstance(value, int)
        given = 8 if python else value.itemsize
        if given < self.size:
            kind = type(value).__name__
            raise self._refuse(f"a numpy.{kind} of {given} bytes", f"pass {self._example()}")
        # CuPy passes the low bytes of a wider integer, whatever its sign.
        low, high = -(1 << (8 * self.size - 1)), 1 << (8 * self.size)
        if not (low <= int(value) < high or is_lenient()):
            raise OverflowError(
                f"{self.where} got {int(value)}, which does not fit into {self.size} bytes. CuPy "
                "passes its low bytes without a word; make the parameter wider (long long)"
            )
        return (int(value) % high).to_bytes(self.size, sys.byteorder)

    def _integer_address(self, address: int) -> int:
        """An address as an integer, such as ``a.data.ptr``, which CuPy passes as it is."""
        if address and not (holding(address) or is_lenient()):
            raise TypeError(
                f"{self.where} got the integer {address}, which is the address of no array that is "
                "alive. CuPy passes it as it is, and on a GPU the kernel would use whatever lies "
                "there; pass a cupy.ndarray, or its data.ptr as long as it lives"
            )
        return address

    def _explain(self, value) -> tuple[str, str]:
        kind = type(value).__name__
        what = f"the {kind} {value!r}" if not isinstance(value, np.generic) else f"a numpy.{kind}"
        if self.kind == "p":
            return what, "pass a cupy.ndarray"
        if type(value) is float:
            what += ", which CuPy passes as a double of 8 bytes"
        elif type(value) is int:
            what += ", which CuPy passes as an integer of 8 bytes"
        elif type(value) is bool:
            what += ", which CuPy passes as one byte"
        return what, f"pass {self._example()}"
