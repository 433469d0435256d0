"""Textures and surfaces: arrays of texels that kernels read by coordinates."""

from __future__ import annotations

import itertools
import operator
import struct

import numpy as np

from cupy._core._ndarray import ndarray, poison
from cupy.cuda import _late, _ownership, memory, runtime
from cupy.cuda.stream import get_current_stream, submit
from gpuless import not_covered
from gpuless.engine.textures import BORDER, CLAMP, FLOAT, Object, Sampling, Texels

# Texels along each axis that a texture of so many dimensions has at most, as on an H100.
_LIMITS = {1: (131072,), 2: (131072, 65536), 3: (16384,) * 3}
_LINEAR_LIMIT = 1 << 28
_handles = itertools.count(16, 16)  # of CUDA arrays, whose address a kernel has no use for
_ALIGNMENT, _PITCH_ALIGNMENT = 512, 32  # bytes, of an array's address and of its rows


def _error(status: int, note: str) -> runtime.CUDARuntimeError:
    """CUDA's error, with a note (shown below it) that says what is wrong."""
    error = runtime.CUDARuntimeError(status)
    error.add_note(note)
    return error


def _need(name: str, value, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(
            f"Argument '{name}' has incorrect type (expected {kind.__module__}.{kind.__name__}, "
            f"got {type(value).__name__})"
        )


def _size(value) -> int:
    if operator.index(value) < 0:
        raise OverflowError("can't convert negative value to size_t")
    return operator.index(value)


class _Descriptor:
    @property
    def ptr(self) -> int:
        raise not_covered(f"cupy.cuda.texture.{type(self).__name__}.ptr")


class ChannelFormatDescriptor(_Descriptor):
    """The channels of a texel: bits of each (0: there is none), and their format ``f``, a
    ``cupy.cuda.runtime.cudaChannelFormatKind...``."""

    def __init__(self, x: int, y: int, z: int, w: int, f: int):
        self._channels = tuple(operator.index(bits) for bits in (x, y, z, w))
        self._format = operator.index(f)

    def get_channel_format(self) -> dict:
        return dict(zip("xyzwf", (*self._channels, self._format), strict=True))

    def _layout(self) -> tuple[int, int, int]:
        """Channels, bits of each, and format; CUDARuntimeError for what no GPU has."""
        bits, count = self._channels[0], sum(n != 0 for n in self._channels)
        formats = {8: (0, 1), 16: (0, 1, 2), 32: (0, 1, 2)}
        regular = self._channels == (bits,) * count + (0,) * (4 - count) and count in (1, 2, 4)
        if not regular or self._format not in formats.get(bits, ()):
            raise _error(
                20,
                f"A texel has 1, 2 or 4 channels of the same 8, 16 or 32 bits, floats 16 or 32; "
                f"this one is {self.get_channel_format()}.",
            )
        return count, bits, self._format


class CUDAarray:
    """Memory for a texture or a surface of one, two or three dimensions.

    ``width``, ``height`` and ``depth`` are in texels, 0 for an axis that is not there. ``flags`` is
    ``cupy.cuda.runtime.cudaArraySurfaceLoadStore`` for one that kernels write through a surface.

    Raises ValueError for a width of 0, or a height of 0 with a depth; CUDARuntimeError for a format
    or a size that a GPU has not, or out of memory.
    """

    def __init__(self, desc, width, height=0, depth=0, flags=0):
        _need("desc", desc, ChannelFormatDescriptor)
        sizes = width, height, depth = _size(width), _size(height), _size(depth)
        if width == 0:
            raise ValueError("To create a CUDA array, width must be nonzero.")
        if height == 0 and depth > 0:
            raise ValueError("To create a 2D CUDA array, height must be nonzero.")
        if flags not in (runtime.cudaArrayDefault, runtime.cudaArraySurfaceLoadStore):
            raise not_covered(f"cupy.cuda.texture.CUDAarray(flags={flags})")
        self.desc, self.flags = desc, flags
        self.width, self.height, self.depth = sizes
        self.ndim = sum(n > 0 for n in sizes)
        channels, bits, kind = desc._layout()
        limits = _LIMITS[self.ndim]
        if any(n > most for n, most in zip(sizes, limits, strict=False)):
            raise _error(1, f"{sizes[: self.ndim]} texels; a GPU has at most {limits}.")
        self._shape = (*sizes[: self.ndim][:0:-1], width * channels)
        texel = channels * bits // 8
        stride = texel, texel * width, texel * width * max(height, 1)
        self._memory = memory.Memory(stride[2] * max(depth, 1))
        self._array = self._memory.payload.view(f"{'iuf'[kind]}{bits // 8}").reshape(self._shape)
        poison(self._array)
        self.ptr = next(_handles)
        size = width, max(height, 1), max(depth, 1)
        address = self._memory.ptr
        self._texels = Texels(address, size, stride, self.ndim, channels, bits, kind)

    def copy_from(self, in_arr, stream=None) -> None:
        """Fill it with a ``cupy.ndarray`` or ``numpy.ndarray``, on ``stream`` if any.

        The shape is ``([depth, [height,]] width * channels)``; ValueError for another one, or for
        another dtype than the texels'.
        """
        self._check(in_arr)
        source = in_arr._array if isinstance(in_arr, ndarray) else in_arr
        self._copy(self._array, source, in_arr, stream)

    def copy_to(self, out_arr, stream=None) -> None:
        """Copy it to a ``cupy.ndarray`` or ``numpy.ndarray``, which must be C-contiguous."""
        if not out_arr.flags.c_contiguous:
            raise ValueError("The output array must be C-contiguous")
        self._check(out_arr)
        target = out_arr._array if isinstance(out_arr, ndarray) else out_arr
        self._copy(target, self._array, out_arr, stream)

    def _copy(self, target: np.ndarray, source: np.ndarray, other, stream) -> None:
        _ownership.check_stream(stream)
        stream = get_current_stream() if stream is None else stream

        def work() -> None:
            np.copyto(target, source)

        # CuPy waits for none of these copies, not even on the null stream.
        if isinstance(other, np.ndarray) and _late.put_off(stream, target, source):
            poison(target)
        else:
            submit(work, stream)

    def _check(self, array) -> None:
        if array.shape != self._shape:
            raise ValueError(f"shape mismatch: {array.shape}, and not {self._shape}")
        if array.dtype != self._array.dtype:
            raise ValueError(
                f"dtype mismatch: the array has {array.dtype}, the texels {self._array.dtype}"
            )
        if not isinstance(array, (ndarray, np.ndarray)):
            raise RuntimeError("No active exception to reraise")  # CuPy's


class ResourceDescriptor(_Descriptor):
    """What a texture or a surface reads.

    ``restype`` is a ``cupy.cuda.runtime.cudaResourceType...``: Array with the CUDAarray ``cuArr``;
    Linear with ``arr``, a ``cupy.ndarray``, ``chDesc`` and ``sizeInBytes``; or Pitch2D with
    ``arr``, ``chDesc``, ``width`` and ``height`` in texels and ``pitchInBytes`` from row to row.
    An array is read as it is when a kernel runs.
    """

    def __init__(
        self,
        restype: int,
        cuArr=None,
        arr=None,
        chDesc=None,
        sizeInBytes=0,
        width=0,
        height=0,
        pitchInBytes=0,
    ):
        if restype == runtime.cudaResourceTypeMipmappedArray:
            raise NotImplementedError("cudaResourceTypeMipmappedArray is currently not supported.")
        if restype == runtime.cudaResourceTypeArray or cuArr is not None:
            _need("cuArr", cuArr, CUDAarray)
        if restype != runtime.cudaResourceTypeArray:
            _need("arr", arr, ndarray)
            _need("chDesc", chDesc, ChannelFormatDescriptor)
        self._type = operator.index(restype)
        self._size, self._pitch = _size(sizeInBytes), _size(pitchInBytes)
        self._width, self._height = _size(width), _size(height)
        self.cuArr, self.arr, self.chDesc = cuArr, arr, chDesc

    def get_resource_desc(self) -> dict:
        told = {"resType": self._type}
        if self._type == runtime.cudaResourceTypeArray:
            return told | {"array": {"array": self.cuArr.ptr}}
        begin = {"devPtr": self.arr.data.ptr, "desc": self.chDesc.get_channel_format()}
        if self._type == runtime.cudaResourceTypeLinear:
            return told | {"linear": begin | {"sizeInBytes": self._size}}
        size = {"width": self._width, "height": self._height, "pitchInBytes": self._pitch}
        return told | {"pitch2D": begin | size}

    @property
    def _memory(self):
        return self.cuArr._memory if self.arr is None else self.arr.data.mem

    def _texels(self) -> Texels:
        """CUDARuntimeError (invalid argument) for what is not there, or not aligned."""
        if self._type == runtime.cudaResourceTypeArray:
            return self.cuArr._texels
        channels, bits, kind = self.chDesc._layout()
        texel = channels * bits // 8
        if self._type == runtime.cudaResourceTypeLinear:
            size, dimensions, most = (self._size // texel, 1, 1), 0, (_LINEAR_LIMIT, 1)
            stride, needed = (texel, 0, 0), self._size
        elif self._type == runtime.cudaResourceTypePitch2D:
            size, dimensions, most = (self._width, self._height, 1), 2, _LIMITS[2]
            stride = texel, self._pitch, 0
            needed = self._pitch * (self._height - 1) + texel * self._width
            if self._pitch % _PITCH_ALIGNMENT or self._pitch < texel * self._width:
                raise _error(
                    1,
                    f"Rows of {texel * self._width} bytes lie {self._pitch} bytes apart; that must "
                    f"be as much, and a multiple of {_PITCH_ALIGNMENT}.",
                )
        else:
            raise _error(1, f"there is no resource type {self._type}")
        data = self.arr.data
        there = data.mem.ptr + data.mem.size - data.ptr
        if not 0 < size[0] <= most[0] or not 0 < size[1] <= most[1] or needed > there:
            raise _error(
                1,
                f"a texture of {size[: max(dimensions, 1)]} texels, {needed} bytes, in an array of "
                f"{there}",
            )
        if data.ptr % _ALIGNMENT:
            raise _error(
                1,
                f"The array begins {data.ptr % _ALIGNMENT} bytes past a multiple of {_ALIGNMENT}, "
                "as a view may: copy it.",
            )
        return Texels(data.ptr, size, stride, dimensions, channels, bits, kind)


class TextureDescriptor(_Descriptor):
    """How a texture is read.

    ``addressModes``: for up to three axes a ``cupy.cuda.runtime.cudaAddressMode...``;
    ``filterMode``: a ``cudaFilterMode...``; ``readMode``: a ``cudaReadMode...``;
    ``normalizedCoords``: coordinates run from 0 to 1; ``borderColors``: up to four floats.
    ``maxAnisotropy`` changes nothing, as there are no mipmaps; ``sRGB`` is not covered.
    """

    def __init__(
        self,
        addressModes=None,
        filterMode=0,
        readMode=0,
        sRGB=None,
        borderColors=None,
        normalizedCoords=None,
        maxAnisotropy=None,
    ):
        modes, colors = (() if g is None else tuple(g) for g in (addressModes, borderColors))
        assert len(modes) <= 3
        assert len(colors) <= 4
        self._modes = tuple(operator.index(m) for m in modes + (0,) * (3 - len(modes)))
        self._colors = tuple(float(np.float32(c)) for c in colors + (0,) * (4 - len(colors)))
        self._filter, self._read = operator.index(filterMode), operator.index(readMode)
        self._srgb, self._normalized = int(sRGB or 0), int(normalizedCoords or 0)
        self._anisotropy = _size(maxAnisotropy or 0)

    def get_texture_desc(self) -> dict:
        return {
            "addressMode": self._modes,
            "filterMode": self._filter,
            "readMode": self._read,
            "sRGB": self._srgb,
            "borderColor": self._colors,
            "normalizedCoords": self._normalized,
            "maxAnisotropy": self._anisotropy,
        }

    def _sampling(self, texels: Texels) -> Sampling:
        if self._srgb:
            raise not_covered("cupy.cuda.texture.TextureDescriptor(sRGB=True)")
        if not all(0 <= m <= 3 for m in self._modes) or not {self._filter, self._read} <= {0, 1}:
            raise _error(1, f"no such mode: {self.get_texture_desc()}")
        to_float = self._read and texels.format != FLOAT and texels.bits < 32
        whole = texels.format != FLOAT and not to_float
        linear = bool(self._filter and texels.dimensions)
        if linear and whole:
            raise _error(
                26, "Integers can be blended when they are of 8 or 16 bits and read as floats."
            )
        if self._read and whole:
            raise _error(27, "Integers are read as floats when they are of 8 or 16 bits.")
        if linear and texels.dimensions == 1 and self._modes[1] == BORDER:
            raise not_covered(
                "blending in one dimension with the border as a second address mode, where a GPU "
                "halves what it reads,"
            )
        # Without normalised coordinates CUDA takes these two modes for clamp.
        modes = [m if self._normalized or m == BORDER else CLAMP for m in self._modes]
        border = self._colors
        if to_float:  # no more than a texel may be
            lowest = 0.0 if texels.format else -1.0
            border = tuple(min(max(color, lowest), 1.0) for color in border)
        if whole and any(border):
            if texels.bits < 32:
                raise not_covered("a border colour of a texture of integers of 8 or 16 bits")
            # CUDA takes the bits of the floats for the integers.
            border = struct.unpack("4I" if texels.format else "4i", struct.pack("4f", *border))
        return Sampling(tuple(modes), linear, bool(self._normalized), bool(to_float), border)


class TextureObject(memory.Handle):
    """A texture, as RawKernel and ElementwiseKernel take it: a ``cudaTextureObject_t``.

    Raises CUDARuntimeError for a resource and a way of reading that do not go together.
    """

    is_texture = True

    def __init__(self, ResDesc, TexDesc):
        _need("ResDesc", ResDesc, ResourceDescriptor)
        _need("TexDesc", TexDesc, TextureDescriptor)
        texels = ResDesc._texels()
        self._object = Object(texels, TexDesc._sampling(texels))
        self.ptr, self._memory = self._object.address, ResDesc._memory
        self.ResDesc, self.TexDesc = ResDesc, TexDesc


class SurfaceObject(memory.Handle):
    """A surface, as RawKernel takes it: a ``cudaSurfaceObject_t``.

    CUDARuntimeError (invalid argument) unless it is of a CUDAarray that was made with
    ``cudaArraySurfaceLoadStore``.
    """

    def __init__(self, ResDesc):
        _need("ResDesc", ResDesc, ResourceDescriptor)
        if ResDesc.arr is not None or ResDesc.cuArr.flags != runtime.cudaArraySurfaceLoadStore:
            raise _error(1, "A surface needs a CUDAarray with flags=cudaArraySurfaceLoadStore.")
        self._object = Object(ResDesc._texels(), None)
        self.ptr, self._memory = self._object.address, ResDesc._memory
        self.ResDesc = ResDesc
