"""Textures and surfaces, held to arrays that NumPy pads beyond their edges and SciPy blends."""

import gc

import cupy as cp
import cupyx
import numpy as np
import pytest
from cupy.cuda import _ownership, runtime
from cupy.cuda.compiler import CompileException
from cupy.cuda.texture import (
    ChannelFormatDescriptor,
    CUDAarray,
    ResourceDescriptor,
    SurfaceObject,
    TextureDescriptor,
    TextureObject,
)
from scipy import ndimage

from gpuless import xray
from gpuless.engine.errors import KernelError

MODES = {
    "wrap": runtime.cudaAddressModeWrap,
    "edge": runtime.cudaAddressModeClamp,
    "symmetric": runtime.cudaAddressModeMirror,
    "constant": runtime.cudaAddressModeBorder,
}
SHAPES = [(7,), (5, 6), (3, 5, 4)]
KINDS = {
    "i": runtime.cudaChannelFormatKindSigned,
    "u": runtime.cudaChannelFormatKindUnsigned,
    "f": runtime.cudaChannelFormatKindFloat,
}
NUMBERS = np.random.default_rng(20)


def format_of(dtype, channels=1):
    dtype = np.dtype(dtype)
    bits = [8 * dtype.itemsize] * channels + [0] * (4 - channels)
    return ChannelFormatDescriptor(*bits, KINDS[dtype.kind])


def array_of(data, channels=1, flags=0):
    *rest, width = data.shape
    made = CUDAarray(
        format_of(data.dtype, channels), width // channels, *reversed(rest), flags=flags
    )
    made.copy_from(data)
    return made


def texture_of(data, channels=1, **how):
    resource = ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array_of(data, channels))
    return TextureObject(resource, TextureDescriptor(**how))


def random_of(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return NUMBERS.normal(size=shape).astype(dtype)
    return NUMBERS.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)


READ = r"""
template <class T> __global__ void at1(T *y, cudaTextureObject_t t, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex1D<T>(t, x[i]);
}
template <class T> __global__ void at2(T *y, cudaTextureObject_t t, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex2D<T>(t, x[i], x[n + i]);
}
template <class T> __global__ void at3(T *y, cudaTextureObject_t t, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) tex3D(y + i, t, x[i], x[n + i], x[2 * n + i]);
}
template <class T> __global__ void fetch(T *y, cudaTextureObject_t t, const int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = tex1Dfetch<T>(t, x[i]);
}
"""
TYPES = {
    "i1": "char", "u1": "uchar", "i2": "short", "u2": "ushort", "i4": "int", "u4": "uint",
    "f4": "float",
}  # fmt: skip
PLAIN = {
    "i1": "signed char", "u1": "unsigned char", "i2": "short", "u2": "unsigned short", "i4": "int",
    "u4": "unsigned int", "f4": "float",
}  # fmt: skip
SAMPLES = cp.RawModule(
    code=READ,
    name_expressions=[
        *(f"at{n}<float>" for n in (1, 2, 3)),
        *(f"at2<{TYPES[t]}{n}>" for t in TYPES for n in (2, 4)),
        *(f"at2<{PLAIN[t]}>" for t in TYPES),
        *(f"fetch<{t}>" for t in ("float", "ushort2", "int")),
    ],
)


def sample(texture, coordinates, name, dtype="f4", channels=1):
    """What the kernel ``name`` reads at coordinates (axes, points), x first: (points, channels)."""
    points = coordinates.shape[-1]
    given = cp.asarray(np.ascontiguousarray(coordinates))
    read = cp.zeros((points, channels), dtype)
    SAMPLES.get_function(name)((-(-points // 32),), (32,), (read, texture, given, np.int32(points)))
    return read.get()


def anywhere(shape, count=300):
    """Coordinates in texels up to two sizes beyond the edges, x first, and some edges."""
    sizes = np.array(shape[::-1], np.float32)[:, None]
    found = NUMBERS.uniform(-1.9, 2.9, (len(shape), count)).astype("f4") * sizes
    found[:, :40] = np.rint(found[:, :40])
    return found


def extended(data, mode, border=0.0):
    """The array with three more of its sizes on each side."""
    more = {"constant_values": border} if mode == "constant" else {}
    return np.pad(data.astype("f8"), [(3 * n, 3 * n) for n in data.shape], mode, **more)


def nearest(data, coordinates, mode, border):
    at = np.floor(coordinates.astype("f8")).astype(int)[::-1]
    return extended(data, mode, border)[
        tuple(a + 3 * n for a, n in zip(at, data.shape, strict=True))
    ]


def blended(data, coordinates, mode, border):
    """Weights are multiples of 1/256: so are the places between two texels."""
    at = np.floor((coordinates.astype("f8") - 0.5) * 256 + 0.5)[::-1] / 256
    shift = np.array([3 * n for n in data.shape])[:, None]
    return ndimage.map_coordinates(extended(data, mode, border), at + shift, order=1)


@pytest.mark.parametrize("shape", SHAPES, ids=len)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", [nearest, blended])
def test_what_lies_between_and_beyond(shape, mode, rule):
    data, coordinates = random_of("f4", shape), anywhere(shape)
    normalised = mode in ("wrap", "symmetric")
    texture = texture_of(
        data,
        addressModes=[MODES[mode]] * len(shape),
        filterMode=int(rule is blended),
        normalizedCoords=normalised,
        borderColors=(0.75,),
    )
    sizes = np.array(shape[::-1], "f4")[:, None]
    given = coordinates / sizes if normalised else coordinates
    # What is asked for is what a float can say.
    coordinates = given.astype("f8") * sizes if normalised else given
    read = sample(texture, given, f"at{len(shape)}<float>")[:, 0]
    np.testing.assert_allclose(read, rule(data, coordinates, mode, 0.75), rtol=1e-6, atol=1e-6)


def test_each_axis_has_its_mode():
    data, coordinates = random_of("f4", (5, 6)), anywhere((5, 6))
    modes = [runtime.cudaAddressModeMirror, runtime.cudaAddressModeBorder]
    texture = texture_of(data, addressModes=modes, normalizedCoords=1)
    sizes = np.array([[6], [5]], "f4")
    given = coordinates / sizes
    x, y = np.floor(given.astype("f8") * sizes).astype(int)
    wide = np.pad(data, [(0, 0), (12, 12)], "symmetric")
    inside = (y >= 0) & (y < 5)
    wanted = np.where(inside, wide[np.clip(y, 0, 4), x + 12], 0)
    np.testing.assert_array_equal(sample(texture, given, "at2<float>")[:, 0], wanted)


def test_without_normalised_coordinates_wrap_and_mirror_are_clamp():
    data, coordinates = random_of("f4", (7,)), anywhere((7,))
    wanted = nearest(data, coordinates, "edge", 0)
    for modes in (None, (runtime.cudaAddressModeMirror,), [runtime.cudaAddressModeWrap]):
        read = sample(texture_of(data, addressModes=modes), coordinates, "at1<float>")
        np.testing.assert_array_equal(read[:, 0], wanted)


def test_weights_have_eight_bits():
    texture = texture_of(np.array([0, 1], "f4"), filterMode=runtime.cudaFilterModeLinear)
    steps = np.arange(1025, dtype="f4") / 1024
    read = sample(texture, steps[None] + 0.5, "at1<float>")[:, 0]
    assert set(read * 256) == set(range(257))
    assert abs(read - steps).max() <= 1 / 512
    far = np.array([[-1e30, 1e30, np.inf, -np.inf, -0.0]], "f4")
    assert sample(texture, far, "at1<float>")[:, 0].tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("dtype", TYPES)
def test_formats(dtype, channels):
    data = random_of(dtype, (3, 5 * channels))
    data[1, 2] = data.dtype.type(-0.0)
    y, x = np.mgrid[:3, :5].reshape(2, -1)
    name = f"at2<{PLAIN[dtype] if channels == 1 else TYPES[dtype] + str(channels)}>"
    read = sample(texture_of(data, channels), np.array([x, y], "f4"), name, dtype, channels)
    assert read.tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "f2"])
def test_what_is_read_as_floats(dtype):
    data = random_of(dtype, (5, 4))
    wanted = data.astype("f8")
    if dtype != "f2":
        top = np.iinfo(dtype).max
        data[0, :3] = np.iinfo(dtype).min, top, 0
        wanted = np.maximum(data / np.float64(top), -1)
        assert wanted.min() == (-1 if dtype[0] == "i" else 0) and wanted.max() == 1
    how = {"readMode": runtime.cudaReadModeNormalizedFloat, "borderColors": [0.25]}
    coordinates = anywhere((5, 4))
    for rule in (nearest, blended):
        how |= {"filterMode": int(rule is blended), "addressModes": [MODES["constant"]] * 2}
        read = sample(texture_of(data, **how), coordinates, "at2<float>")[:, 0]
        expected = rule(wanted, coordinates, "constant", 0.25)
        np.testing.assert_allclose(read, expected, rtol=1e-6, atol=1e-6)


def test_a_border_is_no_more_than_a_texel_may_be():
    how = {"readMode": runtime.cudaReadModeNormalizedFloat, "addressModes": [MODES["constant"]] * 2}
    beyond = np.array([[-5.0], [0.5]], "f4")
    for dtype, color, right in (("u1", 5, 1), ("u1", -5, 0), ("i2", -5, -1)):
        texture = texture_of(np.array([[7, 8]], dtype), borderColors=[color], **how)
        assert sample(texture, beyond, "at2<float>")[:, 0].tolist() == [right]


def test_narrow_integers_fit_into_wide_ones_and_signs_are_as_the_kernel_says():
    data = np.array([[-3, 100, -128]], "i1")
    centres = np.array([[0.5, 1.5, 2.5], [0.5] * 3], "f4")
    assert sample(texture_of(data), centres, "at2<int>", "i4")[:, 0].tolist() == [-3, 100, -128]
    read = sample(texture_of(data), centres, "at2<unsigned char>", "u1")[:, 0]
    assert read.tolist() == [253, 100, 128]


def test_a_border_of_integers_has_the_bits_of_the_floats():
    how = {"addressModes": [MODES["constant"]] * 2, "borderColors": [1.0]}
    beyond = np.array([[-5.0, 1], [0.5, 0]], "f4")
    texture = texture_of(np.array([[7, 8]], "i4"), **how)
    assert sample(texture, beyond, "at2<int>", "i4")[:, 0].tolist() == [0x3F800000, 8]
    with pytest.raises(NotImplementedError, match="a border colour of a texture of integers"):
        texture_of(np.array([[7, 8]], "i2"), **how)


# Arrays that are read where they are


def linear(array, channels=1, size=None, dtype=None):
    return ResourceDescriptor(
        runtime.cudaResourceTypeLinear,
        arr=array,
        chDesc=format_of(dtype or array.dtype, channels),
        sizeInBytes=array.nbytes if size is None else size,
    )


def test_linear_memory_is_read_as_it_is():
    array = cp.arange(9, dtype="f4")
    texture = TextureObject(linear(array, size=32), TextureDescriptor())
    places = np.array([[3, 7, 0, 8, -1, 1 << 30]], "i4")
    assert sample(texture, places, "fetch<float>")[:, 0].tolist() == [3, 7, 0, 0, 0, 0]
    array *= -2
    assert sample(texture, places, "fetch<float>")[:, 0].tolist() == [-6, -14, 0, 0, 0, 0]
    del array
    gc.collect()
    others = [cp.zeros(9, "f4") for _ in range(3)]
    assert sample(texture, places[:, :2], "fetch<float>")[:, 0].tolist() == [-6, -14], others
    pairs = cp.arange(10, dtype="u2")
    texture = TextureObject(linear(pairs, 2), TextureDescriptor())
    read = sample(texture, places[:, :2], "fetch<ushort2>", "u2", 2)
    assert read.tolist() == [[6, 7], [0, 0]]
    shares = TextureDescriptor(readMode=runtime.cudaReadModeNormalizedFloat, filterMode=1)
    texture = TextureObject(linear(cp.array([51, 255], "u1")), shares)
    np.testing.assert_allclose(
        sample(texture, np.array([[0, 1]], "i4"), "fetch<float>")[:, 0], [0.2, 1], rtol=1e-6
    )


def pitched(array, width, height, pitch, dtype=None):
    return ResourceDescriptor(
        runtime.cudaResourceTypePitch2D,
        arr=array,
        chDesc=format_of(dtype or array.dtype),
        width=width,
        height=height,
        pitchInBytes=pitch,
    )


def test_rows_with_a_pitch_are_read_as_they_are():
    held = cp.asarray(random_of("f4", (5, 16)))
    texture = TextureObject(
        pitched(held, 13, 5, 64),
        TextureDescriptor([MODES["edge"]] * 2, runtime.cudaFilterModeLinear),
    )
    coordinates = anywhere((5, 13))
    for _ in range(2):
        wanted = blended(held.get()[:, :13], coordinates, "edge", 0)
        read = sample(texture, coordinates, "at2<float>")[:, 0]
        np.testing.assert_allclose(read, wanted, rtol=1e-6, atol=1e-6)
        held[1:4] += 2


@pytest.mark.parametrize(
    "resource, why",
    [
        (lambda: linear(cp.zeros(8, "f4"), size=33), "33 bytes, in an array of 32"),
        (lambda: linear(cp.zeros(8, "f4"), size=0), "texture of"),
        (lambda: linear(cp.zeros(9, "f4")[1:]), "4 bytes past a multiple of 512"),
        (lambda: pitched(cp.zeros(64, "f4"), 3, 2, 40), "40 bytes apart"),
        (lambda: pitched(cp.zeros(64, "f4"), 9, 2, 32), "32 bytes apart"),
        (lambda: pitched(cp.zeros(64, "f4"), 8, 9, 32), "288 bytes, in an array of 256"),
        (lambda: ResourceDescriptor(9, arr=cp.zeros(1), chDesc=format_of("f4")), "type 9"),
    ],
)
def test_resources_that_a_gpu_refuses(resource, why):
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue") as caught:
        TextureObject(resource(), TextureDescriptor())
    assert why in caught.value.__notes__[0]


# CUDA arrays


@pytest.mark.parametrize("shape", SHAPES, ids=len)
def test_copies(shape):
    data = random_of("i2", (*shape[:-1], 2 * shape[-1]))
    made = CUDAarray(format_of("i2", 2), shape[-1], *shape[-2::-1])
    sizes = dict(zip(("width", "height", "depth"), [*reversed(shape), 0, 0], strict=False))
    assert made.ndim == len(shape) and {name: getattr(made, name) for name in sizes} == sizes
    fresh = cp.zeros(data.shape, "i2")
    made.copy_to(fresh)
    assert (fresh == fresh.ravel()[0]).all() and fresh.ravel()[0] != 0  # garbage, as on a device
    for source in (data, cp.asarray(data), np.asfortranarray(data)):
        made.copy_from(source * 1)
        for target in (np.zeros_like(data), cp.zeros(data.shape, "i2")):
            made.copy_to(target)
            assert (cp.asnumpy(target) == data).all()


def test_copies_that_are_refused():
    made = CUDAarray(format_of("i2", 2), 3, 2)
    for method in (made.copy_from, made.copy_to):
        for shape in ((2, 3), (12,), (6, 2), (1, 2, 6)):
            with pytest.raises(ValueError, match="^shape mismatch"):
                method(np.zeros(shape, "i2"))
        for dtype in ("u2", "i4", "f2", "i1"):  # of which CuPy copies i1 and i4 somehow
            with pytest.raises(ValueError, match="^dtype mismatch"):
                method(cp.zeros((2, 6), dtype))
    with pytest.raises(ValueError, match="must be C-contiguous"):
        made.copy_to(np.zeros((6, 2), "i2").T)
    with pytest.raises(AttributeError):
        made.copy_from([[0] * 6] * 2)


@pytest.mark.parametrize(
    "channels, f", [((32, 32, 32, 0), 2), ((8, 16, 0, 0), 0), ((64, 0, 0, 0), 2), ((8, 0, 0, 0), 2)]
    + [((0, 0, 0, 0), 0), ((0, 8, 0, 0), 0), ((32, 0, 0, 0), 3)],
)  # fmt: skip
def test_formats_that_no_gpu_has(channels, f):
    given = ChannelFormatDescriptor(*channels, f)
    assert given.get_channel_format() == dict(zip("xyzwf", (*channels, f), strict=True))
    with pytest.raises(runtime.CUDARuntimeError, match="^cudaErrorInvalidChannelDescriptor: inv"):
        CUDAarray(given, 3)


def test_a_border_beside_the_only_axis():
    """On an H200 every value that was blended came out half."""
    border = runtime.cudaAddressModeBorder
    texture_of(np.ones(7, "f4"), addressModes=[border, border])
    linear = {"filterMode": runtime.cudaFilterModeLinear}
    texture_of(np.ones(7, "f4"), addressModes=[border], **linear)
    with pytest.raises(NotImplementedError, match="halves what it reads, is not covered"):
        texture_of(np.ones(7, "f4"), addressModes=[border, border], **linear)


def test_sizes():
    with pytest.raises(ValueError, match="width must be nonzero"):
        CUDAarray(format_of("f4"), 0, 3)
    with pytest.raises(ValueError, match="height must be nonzero"):
        CUDAarray(format_of("f4"), 2, 0, 3)
    with pytest.raises(OverflowError, match="size_t"):
        CUDAarray(format_of("f4"), -2)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
        CUDAarray(format_of("u1"), 131073)
    with pytest.raises(TypeError, match="'desc' has incorrect type .*ChannelFormatDescriptor"):
        CUDAarray("f4", 3)
    with pytest.raises(NotImplementedError, match=r"CUDAarray\(flags=1\) is not covered"):
        CUDAarray(format_of("f4"), 3, 3, 3, 1)


def test_it_takes_the_device_s_memory(monkeypatch):
    gc.collect()
    held = _ownership.used(0)  # by modules of other tests
    monkeypatch.setenv("CUPY_STANDIN_CARD", f"memory={held + 2**20}")
    made = CUDAarray(format_of("f4"), 300, 700)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorMemoryAllocation"):
        CUDAarray(format_of("f4"), 300, 700)
    texture = TextureObject(ResourceDescriptor(0, made), TextureDescriptor())
    del made
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorMemoryAllocation"):
        CUDAarray(format_of("f4"), 300, 700)
    del texture
    CUDAarray(format_of("f4"), 300, 700)


def test_copies_of_pinned_memory_are_late():
    data, out = (cupyx.empty_pinned(4, np.float32) for _ in range(2))
    data[:] = [1, 2, 3, 4]
    lane, made = cp.cuda.Stream(non_blocking=True), CUDAarray(format_of("f4"), 4)
    made.copy_from(data, lane)
    made.copy_to(out, lane)
    data[2] = 9
    assert np.isnan(out).all()
    lane.synchronize()
    assert out.tolist() == [1, 2, 9, 4]


def test_copies_in_a_graph():
    lane, source, target = cp.cuda.Stream(), cp.arange(4, dtype="f4"), cp.zeros(4, "f4")
    made = CUDAarray(format_of("f4"), 4)
    with lane:
        lane.begin_capture()
        made.copy_from(source)
        made.copy_to(target)
        graph = lane.end_capture()
    source += 1
    graph.launch()
    assert target.tolist() == [1, 2, 3, 4]


def test_what_descriptors_tell():
    array = cp.zeros((2, 8), "f4")
    told = pitched(array, 8, 2, 32).get_resource_desc()
    channels = format_of("f4").get_channel_format()
    assert told == {
        "resType": 3,
        "pitch2D": {
            "devPtr": array.data.ptr, "desc": channels, "width": 8, "height": 2, "pitchInBytes": 32
        },
    }  # fmt: skip
    assert linear(array).get_resource_desc()["linear"]["sizeInBytes"] == 64
    made = CUDAarray(format_of("f4"), 4)
    told = ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=made).get_resource_desc()
    assert told == {"resType": 0, "array": {"array": made.ptr}}
    told = TextureDescriptor((3, 1), 1, 0, borderColors=[0.1], normalizedCoords=True)
    assert told.get_texture_desc() == {
        "addressMode": (3, 1, 0), "filterMode": 1, "readMode": 0, "sRGB": 0, "maxAnisotropy": 0,
        "borderColor": (float(np.float32(0.1)), 0, 0, 0), "normalizedCoords": 1,
    }  # fmt: skip
    for one in (told, format_of("f4"), linear(array)):
        with pytest.raises(NotImplementedError, match=r"texture\.\w+Descriptor\.ptr is not cov"):
            _ = one.ptr


def test_descriptions_that_are_refused():
    data = np.zeros((2, 3), "u2")
    for wrong in ({"addressModes": 0}, {"borderColors": 0}):
        with pytest.raises(TypeError):
            TextureDescriptor(**wrong)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidNormSetting: read as norm"):
        texture_of(data.astype("i4"), readMode=1)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidFilterSetting: linear fil"):
        texture_of(data, filterMode=1)
    with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidFilterSetting"):
        texture_of(data.astype("u4"), filterMode=1, readMode=1)
    for how in ({"addressModes": (4,)}, {"filterMode": 2}, {"readMode": -1}):
        with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
            texture_of(data, **how)
    with pytest.raises(NotImplementedError, match="sRGB"):
        texture_of(data.astype("u1"), readMode=1, sRGB=1)
    with pytest.raises(NotImplementedError, match="Mipmapped"):
        ResourceDescriptor(runtime.cudaResourceTypeMipmappedArray)
    with pytest.raises(TypeError, match="'cuArr' has incorrect type"):
        ResourceDescriptor(runtime.cudaResourceTypeArray)
    with pytest.raises(TypeError, match="'chDesc' has incorrect type"):
        ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=cp.zeros(3))
    for too_many in ({"addressModes": [0] * 4}, {"borderColors": [0] * 5}):
        with pytest.raises(AssertionError):
            TextureDescriptor(**too_many)


# Kernels that read otherwise than the texture is


def kernel(body, parameters="cudaTextureObject_t t"):
    return cp.RawKernel(f'extern "C" __global__ void k(float *y, {parameters}) {{\n{body}\n}}', "k")


def run(body, *args, **how):
    y = cp.zeros(4, "f4")
    kernel(body, **how)((1,), (1,), (y, *args))
    return y.get()


FLOATS = np.arange(6, dtype="f4").reshape(2, 3)


@pytest.mark.parametrize(
    "body, data, why",
    [
        ("y[0] = tex1D<float>(t, 0);", FLOATS, "tex1D of a texture of 2 dimensions"),
        ("y[0] = tex3D<float>(t, 0, 0, 0);", FLOATS, "tex3D of a texture of 2 dimensions"),
        ("y[0] = tex1Dfetch<float>(t, 0);", FLOATS, "tex1Dfetch of a texture of 2 dimensions"),
        ("y[0] = tex2D<int>(t, 0, 0);", FLOATS, "reads floating-point numbers as integers"),
        ("y[0] = tex2D<float>(t, 0, 0);", FLOATS.astype("i4"), "reads integers as floating-point"),
        ("y[0] = tex2D<float4>(t, 0, 0).w;", FLOATS, "reads 4 of 32 bits from .* channels of 1"),
        ("y[0] = tex2D<short>(t, 0, 0);", FLOATS.astype("i4"), "reads 1 of 16 bits from .*32 bits"),
        ("y[0] = tex2D<float>(t, 0, 0.0f / (t - t));", FLOATS, "tex2D at y = NaN"),
        ("y[0] = tex2D<float>(0, 0, 0);", FLOATS, "given 0, which is no texture object"),
        ("y[0] = tex2D<float>(t + 1, 0, 0);", FLOATS, "no texture object that is alive"),
        ("y[0] = surf2Dread<float>(t, 0, 0);", FLOATS, "no surface object that is alive"),
        ("y[0] = tex2D<float>(t + 128, 0, 0);", FLOATS, "reads"),
    ],
)
def test_what_a_kernel_misreads(body, data, why):
    with pytest.raises(KernelError, match=rf"kernel 'k', .* line 2: .*{why}"):
        run(body, texture_of(data))


def test_destroyed_objects():
    texture = texture_of(FLOATS)
    number = texture.ptr
    assert run("y[0] = tex2D<float>(t, 1.5f, 1.5f);", number)[0] == 4
    del texture
    with pytest.raises(KernelError, match="no texture object that is alive"):
        run("y[0] = tex2D<float>(t, 1.5f, 1.5f);", number)


@pytest.mark.parametrize("name", ["double", "float3", "long long", "cudaTextureObject_t"])
def test_types_that_no_texture_has(name):
    with pytest.raises(CompileException, match=r"k\.cu\(2\): error"):
        kernel(f"{name} v = tex2D<{name}>(t, 0, 0);").compile()


def test_arguments():
    texture, surface = texture_of(FLOATS), SurfaceObject(ResourceDescriptor(0, surface_array()))
    with pytest.raises(TypeError, match="got a TextureObject"):
        run("", texture, parameters="int n")
    with pytest.raises(TypeError, match="got a SurfaceObject"):
        run("", surface, parameters="const float *x")
    with pytest.raises(KernelError, match="no texture object"):
        run("y[0] = tex2D<float>(t, 0, 0);", surface)
    with pytest.raises(TypeError, match="the address of no array"):
        run("", array_of(FLOATS).ptr, parameters="const float *x")
    for wrong in (
        lambda: TextureObject(texture, TextureDescriptor()),
        lambda: TextureObject(texture.ResDesc, None),
        lambda: SurfaceObject(texture),
    ):
        with pytest.raises(TypeError, match="has incorrect type"):
            wrong()


def test_another_device_s_texture(four_devices, monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_CARD", "peers=0")
    monkeypatch.setattr(_ownership, "_peers", set())  # what other tests have let in
    with cp.cuda.Device(1):
        texture = texture_of(FLOATS)
    with pytest.raises(RuntimeError, match="memory of device 1, and the current device is 0"):
        run("y[0] = tex2D<float>(t, 0, 0);", texture)
    with pytest.raises(RuntimeError, match="memory of device 1"):
        read_all(cp.zeros((2, 3), "f4"), texture, 3)


def test_a_graph_keeps_its_texture():
    y, lane, texture = cp.zeros(1, "f4"), cp.cuda.Stream(), texture_of(FLOATS)
    k = kernel("y[0] += tex2D<float>(t, 2, 1);")
    k.compile()
    with lane:
        lane.begin_capture()
        k((1,), (1,), (y, texture))
        graph = lane.end_capture()
    del texture
    gc.collect()
    graph.launch()
    graph.launch()
    assert y.tolist() == [10]


# Kernels that CuPy writes

read_all = cp.ElementwiseKernel(
    "T x, U t, int64 width",
    "T y",
    "y = x + tex2D<T>(t, (float)(i % width), (float)(i / width))",
    "read_all",
)


def test_elementwise():
    texture, x = texture_of(FLOATS), cp.full((2, 3), 100, "f4")
    assert (read_all(x, texture, 3).get() == FLOATS + 100).all()
    other = texture_of(2 * FLOATS)  # of the same plan
    assert (read_all(x, other, 3).get() == 2 * FLOATS + 100).all()
    threads = cp.ElementwiseKernel(
        "T x, U t, int64 width",
        "T y",
        "y = x + tex2D<T>(t, (float)(i % width), (float)(i / width)) + 0 * threadIdx.x",
        "threads",
    )
    assert (threads(x, texture, 3).get() == FLOATS + 100).all()
    assert "typedef cudaTextureObject_t U;" in read_all.cached_code


def test_a_rotation():
    """As ``cupyx.scipy.ndimage.affine_transform`` does it, with a function of the preamble's."""
    data, matrix = random_of("f4", (5, 6)), np.array([[0.8, -0.6, 1.5], [0.6, 0.8, -1.25]], "f4")
    turn = cp.ElementwiseKernel(
        "U t, raw float32 m, uint64 width",
        "T image",
        """
        float3 pixel = make_float3((float)(i / width), (float)(i % width), 1.0f);
        float y = dot(pixel, make_float3(m[0], m[1], m[2])) + 0.5f;
        float x = dot(pixel, make_float3(m[3], m[4], m[5])) + 0.5f;
        image = tex2D<T>(t, x, y);""",
        "turn",
        preamble="""
        inline __host__ __device__ float dot(float3 a, float3 b) {
            return a.x * b.x + a.y * b.y + a.z * b.z;
        }""",
    )
    how = {"addressModes": [MODES["constant"]] * 2, "filterMode": 1, "borderColors": (-2,)}
    image = turn(texture_of(data, **how), cp.asarray(matrix), 6, cp.zeros((5, 6), "f4"))
    wanted = ndimage.map_coordinates(
        np.pad(data, 9, constant_values=-2),
        np.einsum("ij,jkl->ikl", matrix, np.stack([*np.mgrid[:5, :6], np.ones((5, 6))])) + 9,
        order=1,
    )
    np.testing.assert_allclose(image.get(), wanted, atol=4 * np.ptp(data) / 512)


def test_objects_in_an_array():
    textures = [texture_of(FLOATS + n) for n in range(3)]
    numbers = cp.array([texture.ptr for texture in textures], np.uint64)
    body = "for (int k = 0; k < 3; ++k) y[k] = tex2D<float>(t[k], 1.5f, 1.5f);"
    read = run(body, numbers, parameters="const cudaTextureObject_t *t")
    assert read.tolist() == [4, 5, 6, 0]


def test_elementwise_refuses():
    x = cp.zeros((2, 3), "f4")
    texture = texture_of(FLOATS)
    with pytest.raises(TypeError):
        cp.ElementwiseKernel("T x, uint64 t", "T y", "y = x", "k")(x, texture)
    with pytest.raises(TypeError, match="Type is mismatched"):
        cp.ElementwiseKernel("T x, T t", "T y", "y = x", "k")(x, texture)
    with pytest.raises(TypeError, match="Unsupported type .*SurfaceObject"):
        read_all(x, SurfaceObject(ResourceDescriptor(0, surface_array())), 3)
    total = cp.ReductionKernel("T x, U t", "T y", "x", "a + b", "y = a", "0", "total")
    with pytest.raises(TypeError, match="texture"):
        total(x, texture)


# Surfaces


def surface_array(shape=(3, 5), dtype="f4", channels=1):
    empty = np.zeros((*shape[:-1], shape[-1] * channels), dtype)
    return array_of(empty, channels, runtime.cudaArraySurfaceLoadStore)


WRITE = r"""
extern "C" __global__ void write1(cudaSurfaceObject_t s, int w) {
    for (int x = 0; x < w; ++x) surf1Dwrite((float)(x + 1), s, x * 4);
}
extern "C" __global__ void write2(cudaSurfaceObject_t s, int w, int h) {
    for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x) surf2Dwrite(make_short2(x, -y), s, x * 4, y);
}
extern "C" __global__ void write3(cudaSurfaceObject_t s, int w, int h, int d) {
    for (int z = 0; z < d; ++z)
        for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
                unsigned char before;
                surf3Dread(&before, s, x, y, z);
                surf3Dwrite((unsigned char)(before + x + 10 * y + 50 * z), s, x, y, z);
            }
}
"""


def test_surfaces():
    module = cp.RawModule(code=WRITE)

    def written(name, array, dtype, shape):
        surface = SurfaceObject(ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array))
        sizes = [np.int32(n) for n in (array.width, array.height, array.depth) if n]
        module.get_function(name)((1,), (1,), (surface, *sizes))
        out = np.zeros(shape, dtype)
        array.copy_to(out)
        return out

    assert written("write1", surface_array((5,)), "f4", 5).tolist() == [1, 2, 3, 4, 5]
    y, x = np.mgrid[:3, :5]
    out = written("write2", surface_array((3, 5), "i2", 2), "i2", (3, 10))
    assert (out[:, ::2] == x).all() and (out[:, 1::2] == -y).all()
    held = surface_array((2, 3, 5), "u1")
    held.copy_from(np.full((2, 3, 5), 7, "u1"))
    z, y, x = np.mgrid[:2, :3, :5]
    assert (written("write3", held, "u1", (2, 3, 5)) == 7 + x + 10 * y + 50 * z).all()


def test_a_surface_and_a_texture_of_one_array():
    held = surface_array((1, 4), "f4", 2)
    surface = SurfaceObject(ResourceDescriptor(0, held))
    run("surf2Dwrite(make_float2(3, 4), t, 16, 0);", surface)
    texture = TextureObject(ResourceDescriptor(0, held), TextureDescriptor())
    body = "float2 v = tex2D<float2>(t, 2.5f, 0.5f); y[0] = v.x; y[1] = v.y;"
    assert run(body, texture).tolist() == [3, 4, 0, 0]


@pytest.mark.parametrize(
    "x, y, why",
    [
        (20, 0, "at x = 20, outside the surface, which ends at 20 bytes"),
        (-4, 0, "at x = -4, outside"),
        (0, 3, "at y = 3, outside the surface, which ends at 3[.]"),
        (0, -1, "at y = -1, outside"),
        (2, 0, "at x = 2: it counts bytes, and is a multiple of the 4"),
    ],
)
def test_places_outside_a_surface(x, y, why):
    surface = SurfaceObject(ResourceDescriptor(0, surface_array()))
    numbers = "cudaSurfaceObject_t t, int u, int v"
    given = (surface, np.int32(x), np.int32(y))
    for body in ("surf2Dwrite(1.0f, t, u, v);", "y[0] = surf2Dread<float>(t, u, v);"):
        with pytest.raises(KernelError, match=f"line 2: surf2D(read|write) {why}"):
            run(body, *given, parameters=numbers)


def test_boundary_modes():
    held = surface_array((2, 3))
    held.copy_from(FLOATS + 1)
    surface = SurfaceObject(ResourceDescriptor(0, held))
    body = """
    y[0] = surf2Dread<float>(t, 400, 9, cudaBoundaryModeClamp);
    y[1] = surf2Dread<float>(t, -4, -9, cudaBoundaryModeClamp);
    y[2] = surf2Dread<float>(t, 4, 2, cudaBoundaryModeZero);
    surf2Dwrite(50.0f, t, 12, 0, cudaBoundaryModeZero);
    surf2Dwrite(60.0f, t, 12, 0, cudaBoundaryModeClamp);
    surf2Dread(y + 3, t, 8, 0, cudaBoundaryModeTrap);"""
    assert run(body, surface).tolist() == [6, 1, 0, 60]


def test_surfaces_that_are_refused():
    for resource in (ResourceDescriptor(0, array_of(FLOATS)), linear(cp.zeros(8, "f4"))):
        with pytest.raises(runtime.CUDARuntimeError, match="cudaErrorInvalidValue"):
            SurfaceObject(resource)


@pytest.mark.skipif(not xray.can_xray(), reason="it needs g++ on x86-64")
def test_an_x_ray_says_that_it_does_not_see_them():
    texture = texture_of(FLOATS)
    y = cp.zeros(1, "f4")
    k = kernel("y[0] = tex2D<float>(t, 0, 0);")
    for given in (texture, texture.ptr):
        with pytest.raises(NotImplementedError, match="x-ray does not see"):
            xray.xray(k, (1,), (1,), (y, given))
    with pytest.raises(NotImplementedError, match="x-ray does not see"):
        xray.xray(read_all, cp.zeros((2, 3), "f4"), texture, 3)
