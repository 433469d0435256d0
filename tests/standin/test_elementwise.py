"""ElementwiseKernel: results against NumPy, and CuPy's rules and messages one by one."""

import warnings

import cupy as cp
import numpy as np
import pytest
from cupy.cuda.compiler import CompileException
from cupy.cuda.driver import CUDADriverError
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes
from strategies import shapes, views

DTYPES = "? b h i q B H I Q e f d F D".split()
EXAMPLES = settings(max_examples=40, deadline=None)


def arange(n, dtype="float32"):
    return cp.arange(n, dtype=dtype)


# ---- results -------------------------------------------------------------------------------------

combine = cp.ElementwiseKernel("T x, T y", "T z", "z = x * 3 - y", "combine")
unfolded = cp.ElementwiseKernel("T x, T y", "T z", "z = x * 3 - y", "unfolded", reduce_dims=False)


@EXAMPLES
@given(st.data())
def test_broadcasts_views_as_numpy_does(data):
    sides = data.draw(mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=5))
    dtype = data.draw(st.sampled_from(["float32", "int16"]))
    kernel = data.draw(st.sampled_from([combine, unfolded]))
    (x, dx), (y, dy) = (data.draw(views(shape, dtype)) for shape in sides.input_shapes)
    z = kernel(dx, dy)
    assert z.shape == sides.result_shape and z.dtype == dtype and z.flags.c_contiguous
    np.testing.assert_array_equal(z.get(), x * 3 - y)


@EXAMPLES
@given(st.data())
def test_writes_through_views(data):
    shape = data.draw(shapes())
    x, dx = data.draw(views(shape, "int32"))
    z, dz = data.draw(views(shape, "int32"))
    before = z.copy()
    accumulate = cp.ElementwiseKernel("T x", "T z", "z += x", "accumulate")
    assert accumulate(dx, dz) is dz
    np.testing.assert_array_equal(dz.get(), before + x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_dtype_has_its_c_type(dtype):
    kernel = cp.ElementwiseKernel("T x, T s", "T y, int32 size", "y = x; size = sizeof(s)", "same")
    x = np.arange(1, 7).astype(dtype)
    y, size = kernel(cp.asarray(x), x[2])
    np.testing.assert_array_equal(y.get(), x)
    assert y.dtype == x.dtype and size[0] == x.itemsize


def test_float16_rounds_as_numpy():
    x = np.array([0, 1 / 3, 65504, 1e-7, 6e-8, -2.5, np.inf, np.nan, 2048.5, 2049.5], "e")
    y = cp.ElementwiseKernel("T x", "T y", "y = x * T(1.5) + 1", "grow")(cp.asarray(x)).get()
    with np.errstate(over="ignore"):
        wanted = (x.astype("f") * np.float32(1.5) + 1).astype("e")
    np.testing.assert_array_equal(y, wanted)
    single = np.float32(1) + np.arange(4096, dtype="f") / 8192  # halfway cases included
    down = cp.ElementwiseKernel("float32 x", "float16 y", "y = x", "down")(cp.asarray(single))
    np.testing.assert_array_equal(down.get(), single.astype("e"))


@pytest.mark.parametrize("dtype", "FD")
def test_complex_arithmetic(dtype):
    rng = np.random.default_rng(4)
    x, y = (rng.normal(size=(2, 50)) + 1j * rng.normal(size=(2, 50))).astype(dtype)
    for expression, wanted in {
        "x * y - x / y": x * y - x / y,
        "conj(x) + T(2) * y": x.conj() + 2 * y,
        "exp(x) * log(y)": np.exp(x) * np.log(y),
        "sqrt(x) + pow(y, T(2))": np.sqrt(x) + y**2,
        "sin(x) * cos(y) + tanh(x)": np.sin(x) * np.cos(y) + np.tanh(x),
        "T(abs(x), arg(y)) + T(norm(x), x.real())": abs(x)
        + abs(x) ** 2
        + 1j * (np.angle(y) + x.real),
    }.items():
        kernel = cp.ElementwiseKernel("T x, T y", "T z", f"z = {expression}", "complex_kernel")
        z = kernel(cp.asarray(x), cp.asarray(y)).get()
        np.testing.assert_allclose(z, wanted, rtol=1e-4 if dtype == "F" else 1e-12)


@pytest.mark.parametrize(
    ("dtype", "real", "others"),
    [
        ("F", "float", ["2", "2.0", "2u", "true"]),
        ("D", "double", ["2", "2.0f", "complex<float>(2)"]),
    ],
)
def test_complex_numbers_mix_with_numbers_of_their_own_precision_only(dtype, real, others):
    """CuPy's header has no operator for others, so `2 * x` does not compile on a GPU either."""
    x = np.array([1 + 2j, -3 + 0.5j, np.inf + 1j], dtype)

    def run(expression, out="T"):
        kernel = cp.ElementwiseKernel("T x", f"{out} z", f"z = {expression}", "mixed_kernel")
        return kernel(cp.asarray(x)).get()

    two = f"{real}(2)"
    y = x[:2]
    for number, (op, wanted) in enumerate({"+": y + 2, "-": y - 2, "*": y * 2, "/": y / 2}.items()):
        np.testing.assert_array_equal(run(f"x {op} {two}")[:2], wanted)
        other = others[number % len(others)]
        for expression in (f"x {op} {other}", f"{other} {op} x"):
            message = r"^mixed_kernel.cu\(1\): error: (no match for .*operator|invalid operands)"
            with pytest.raises(CompileException, match=message):
                run(expression)
    np.testing.assert_array_equal(run(f"{two} + x"), 2 + x)
    np.testing.assert_array_equal(run(f"{two} - x"), 2 - x)
    np.testing.assert_array_equal(run(f"{two} * x").real[2], np.inf)  # no 0 * inf from a zero
    assert run(f"{two} * x").imag[2] == 2
    np.testing.assert_allclose(run(f"{two} / x")[:2], 2 / x[:2], rtol=1e-6)
    assert run(f"x == {real}(1)", "bool").tolist() == [False] * 3
    assert run(f"{real}(-3) != T(x.real())", "bool").tolist() == [True, False, True]
    with pytest.raises(CompileException, match="operator|invalid operands"):
        run(f"x == {others[0]}", "bool")


def test_several_outputs_and_types():
    kernel = cp.ElementwiseKernel(
        "T x, U y",
        "T sum, float64 ratio, bool same",
        "sum = x + y; ratio = x / (double)y; same = x == y",
    )
    total, ratio, same = kernel(arange(4, "int32"), cp.full(4, 2, "float32"))
    assert (total.dtype, ratio.dtype, same.dtype) == (np.int32, np.float64, np.bool_)
    np.testing.assert_array_equal(total.get(), [2, 3, 4, 5])
    np.testing.assert_array_equal(ratio.get(), [0, 0.5, 1, 1.5])
    np.testing.assert_array_equal(same.get(), [False, False, True, False])


def test_arithmetic_wraps_as_in_c():
    kernel = cp.ElementwiseKernel("raw int16 x, int16 width", "int16 y", "y = x[0] * width", "wrap")
    y = kernel(cp.full(1, 300, "int16"), 300, size=1)
    assert y[0] == 90000 - 65536 * 1  # 24464
    row = cp.ElementwiseKernel(
        "int16 width", "int16 y", "short last = width * width; y = last", "r"
    )
    assert row(200, cp.empty(1, "int16"))[0] == 40000 - 65536


def test_scalar_that_does_not_fit_is_refused():
    kernel = cp.ElementwiseKernel("T x, int16 width", "T y", "y = x + width", "narrow")
    with pytest.raises(OverflowError, match="^Python integer 70000 out of bounds for int16$"):
        kernel(arange(3), 70000)
    with pytest.raises(OverflowError, match="^Python integer -1 out of bounds for uint8$"):
        cp.ElementwiseKernel("T x, T y", "T z", "z = x + y")(arange(3, "uint8"), -1)
    np.testing.assert_array_equal(kernel(arange(3), np.int64(7)).get(), [7, 8, 9])
    np.testing.assert_array_equal(kernel(arange(3), 2.9).get(), [2, 3, 4])  # truncated


def test_scalars_do_not_vote():
    kernel = cp.ElementwiseKernel("T x, T y", "T z", "z = x + y", "add")
    assert kernel(arange(3, "int8"), 1).dtype == np.int8
    assert kernel(arange(3, "float32"), np.float64(0.1)).dtype == np.float32
    with pytest.raises(KeyError, match="^'U'$"):
        cp.ElementwiseKernel("T x, U y", "T z", "z = x + y")(arange(3), 1)


def test_return_value():
    body = ("T x", "T y", "y = x", "f")
    assert isinstance(cp.ElementwiseKernel(*body)(arange(3)), cp.ndarray)
    assert isinstance(cp.ElementwiseKernel(*body, return_tuple=True)(arange(3)), tuple)
    out = cp.zeros(3, "float32")
    assert cp.ElementwiseKernel(*body, no_return=True)(arange(3), out) is None
    np.testing.assert_array_equal(out.get(), [0, 1, 2])
    assert cp.ElementwiseKernel(*body)(arange(3), out) is out
    assert cp.ElementwiseKernel("T x", "", "x;", "nothing")(arange(3)) == ()


def test_element_number_and_size():
    kernel = cp.ElementwiseKernel("", "raw int64 y", "y[i] = i * 10 + _ind.size()", "count")
    np.testing.assert_array_equal(kernel(size=4).get(), [4, 14, 24, 34])
    given = cp.zeros(6, "int64")  # a raw output may be longer
    kernel(given, size=4)
    np.testing.assert_array_equal(given.get(), [4, 14, 24, 34, 0, 0])


def test_multi_index():
    kernel = cp.ElementwiseKernel(
        "T x",
        "int32 y",
        "y = _ind.ndim * 100 + _ind.get()[0] * 10 + _ind.get()[1]",
        "at",
        reduce_dims=False,
    )
    wanted = 200 + np.add.outer(10 * np.arange(3), np.arange(4))
    np.testing.assert_array_equal(kernel(arange(12).reshape(3, 4)).get(), wanted)


def test_axes_are_merged_where_they_can_be():
    kernel = cp.ElementwiseKernel("T x", "int32 y", "y = _ind.ndim", "dims")
    cube = arange(24).reshape(2, 3, 4)
    for x, wanted in [
        (cube, 1),
        (cube.transpose(2, 0, 1), 2),
        (cube[:, :, ::2], 1),
        (cube[:, :, 1:3], 2),
        (cube.T, 3),
        (cube[0].T, 2),
        (cube[:, :1], 2),
    ]:
        y = kernel(x)
        assert y.min() == y.max() == wanted, x.strides


def test_nothing_to_do():
    broken = cp.ElementwiseKernel("T x, int8 s", "T y", "this does not compile", "broken")
    y = broken(cp.zeros((0, 3)), 1000)  # neither compiled nor converted
    assert y.shape == (0, 3)


def test_statements_that_leave_the_element():
    told = "return-statement with a value|void block should not return a value"  # g++'s, Clang's
    with pytest.raises(CompileException, match=told):
        cp.ElementwiseKernel("T x", "T y", "return x", "k")(cp.arange(3.0))
    for word in ("return", "continue", "break"):
        kernel = cp.ElementwiseKernel("T x", "T y", f"y = 0; if (x > 2) {word}; y = x", "leave")
        np.testing.assert_array_equal(kernel(arange(5)).get(), [0, 1, 2, 0, 0])


@pytest.mark.parametrize("name", ["div", "index", "signal", "kernel"])
def test_names_of_the_c_library_are_free(name):
    preamble = f"template <class V> __device__ V {name}(V v) {{ return v + 1; }}"
    kernel = cp.ElementwiseKernel("T x", "T z", f"z = {name}(x)", "user", preamble=preamble)
    np.testing.assert_array_equal(kernel(arange(3)).get(), [1, 2, 3])


def test_preamble_options_and_headers():
    kernel = cp.ElementwiseKernel(
        "T x",
        "T y",
        "y = scale(x) + OFFSET",
        "with_preamble",
        preamble="#include <cupy/complex.cuh>\n__device__ float scale(float v) { return BY * v; }",
        options=("-DBY=3", "-DOFFSET=1"),
    )
    np.testing.assert_array_equal(kernel(arange(3)).get(), [1, 4, 7])


def test_const_and_non_const():
    with pytest.raises(CompileException, match="read-only|const-qualified"):
        cp.ElementwiseKernel("T x", "T y", "x = 1; y = x", "const_input")(arange(2))
    x = arange(2)
    cp.ElementwiseKernel("_non_const T x", "T y", "x = 5; y = x", "free_input")(x)
    np.testing.assert_array_equal(x.get(), [5, 5])


def test_n_is_no_variable():
    with pytest.raises(CompileException, match=r"size_name.cu\(2\): error: .*'n'"):
        cp.ElementwiseKernel("T x", "T y", "y = x;\ny += n", "size_name")(arange(2))


def test_compile_error_has_the_readers_lines():
    kernel = cp.ElementwiseKernel("T x", "T y", "\n  T a = x;\n  y = b;", "lines")
    with pytest.raises(CompileException, match=r"lines\.cu\(3\): error: .*'b'"):
        kernel(arange(2))
    kernel = cp.ElementwiseKernel(
        "T x", "T y", "y = x", "lines", preamble="\n\n__device__ int f() { oops }"
    )
    with pytest.raises(CompileException, match=r"lines\.cu, preamble\(3\): error: .*'oops'"):
        kernel(arange(2))
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x", "lines", preamble="\n#include <vector>")
    with pytest.raises(CompileException, match=r'\(2\): .*could not open source file "vector"'):
        kernel(arange(2))


def test_a_comment_hides_the_semicolon_that_cupy_adds():
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x;  // a copy", "hidden")
    assert kernel(arange(2)).tolist() == [0, 1]
    for body, more in [("y = x  // a copy", {}), ("y = x", {"loop_prep": "int n = 1  // one"})]:
        with pytest.raises(CompileException, match="expected .*';'"):
            cp.ElementwiseKernel("T x", "T y", body, "hidden", **more)(arange(2))


def test_the_body_declares_no_other_i():
    inner = cp.ElementwiseKernel("T x", "T y", "y = 0; for (int i = 0; i < 3; i++) y += x", "inner")
    assert inner(arange(2)).tolist() == [0, 3]
    with pytest.raises(CompileException, match="(?:declaration|redefinition) of .*i"):
        cp.ElementwiseKernel("T x", "T y", "int i = 3; y = x + i", "again")(arange(2))


def test_wants_cupy_like_objects():
    class Wrapped:
        def __cupy_get_ndarray__(self):
            return arange(3)

    np.testing.assert_array_equal(combine(Wrapped(), 1).get(), [-1, 2, 5])


def test_launches_are_captured():
    stream = cp.cuda.Stream(non_blocking=True)
    x, y = arange(3), cp.zeros(3, "float32")
    accumulate = cp.ElementwiseKernel("T x", "T y", "y += x", "accumulate")
    with stream:
        stream.begin_capture()
        accumulate(x, y)
        graph = stream.end_capture()
    np.testing.assert_array_equal(y.get(), [0, 0, 0])
    graph.launch()
    x += 1
    graph.launch()
    np.testing.assert_array_equal(y.get(), [1, 3, 5])


# ---- threads -------------------------------------------------------------------------------------


def test_body_may_name_threads():
    kernel = cp.ElementwiseKernel(
        "T x", "T y", "y = x + 1000 * blockIdx.x + threadIdx.x", "threads"
    )
    i = np.arange(300)
    np.testing.assert_array_equal(kernel(arange(300)).get(), i + 1000 * (i // 128) + i % 128)
    np.testing.assert_array_equal(
        kernel(arange(300), block_size=64).get(), i + 1000 * (i // 64) + i % 64
    )


def test_shared_memory_and_barrier():
    kernel = cp.ElementwiseKernel(
        "T x, T add",
        "raw T y",
        "__shared__ T tile[128]; tile[threadIdx.x] = x + add; __syncthreads();"
        "y[i] = tile[blockDim.x - 1 - threadIdx.x]",
        "reverse_blocks",
    )
    y = kernel(arange(256), 5, cp.zeros(256, "float32")).get()
    np.testing.assert_array_equal(y, np.arange(256).reshape(2, 128)[:, ::-1].ravel() + 5)


def test_code_around_the_loop():
    count = cp.zeros(2, "int32")
    kernel = cp.ElementwiseKernel(
        "T x",
        "raw int32 count",
        "mine += x > 3",
        "counter",
        loop_prep="int mine = 0",
        after_loop="atomicAdd(&count[0], mine); atomicAdd(&count[1], 1)",
        no_return=True,
    )
    kernel(arange(300), count)
    assert count.get().tolist() == [296, 384]  # the last block's idle threads run these too


def test_block_size_is_checked():
    with pytest.raises(ValueError, match="^block_size must be greater than zero$"):
        combine(arange(3), 1, block_size=0)
    combine(arange(3), 1, block_size=2048)  # only three threads in the end
    with pytest.raises(CUDADriverError, match="^CUDA_ERROR_INVALID_VALUE: invalid argument"):
        combine(arange(3000), 1, block_size=2048)


# ---- refusals, in CuPy's words -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("T x", "T y", "", "1st"), ValueError, 'Invalid kernel name: "1st"'),
        (("T", "T y", ""), Exception, "Syntax error: T"),
        (("T x,", "T y", ""), Exception, "Syntax error: "),
        (("const T x", "T y", ""), Exception, 'Unknown keyword "const"'),
        (("T i", "T y", ""), ValueError, "Can not use 'i' as a parameter name"),
        (("T x", "raw T i", ""), ValueError, "Can not use 'i' as a parameter name"),
        (("floaty x", "T y", ""), TypeError, "data type 'floaty' not understood"),
        (("object x", "T y", ""), ValueError, "Unsupported dtype object"),
    ],
)
def test_definition_is_refused(arguments, error, message):
    with pytest.raises(error) as caught:
        cp.ElementwiseKernel(*arguments)
    assert type(caught.value) is error and str(caught.value) == message


f32, f64 = np.dtype("float32"), np.dtype("float64")
CALLS = [
    ("T x, T y", "T z", (1,), {}, TypeError,
     "Wrong number of arguments for 'k'. It must be either 2 or 3 (with outputs), but given 1."),
    ("T x", "T z", (0,), {"grid": 1}, TypeError, "Wrong arguments {'grid': 1}"),
    ("T x", "T z", ([1.0],), {}, TypeError, "Unsupported type <class 'list'>"),
    ("T x", "T z", (np.ones(2),), {}, TypeError, "Unsupported type <class 'numpy.ndarray'>"),
    ("T x", "T z", ("a",), {}, TypeError, "Unsupported type <class 'str'>"),
    ("float32 x", "T z", (f64,), {}, TypeError, "Type is mismatched. x float64 float32"),
    ("T x, T y", "T z", (f32, f64), {}, TypeError, "Type is mismatched. y float64 float32 T"),
    ("T x", "T z", (f32, f64), {}, TypeError, "Type is mismatched. x float32 float64 T"),
    ("T x", "int8 z", (f32, f64), {}, TypeError, "Type is mismatched. z float64 int8"),
    ("T x", "T z", (f32, 1.0), {}, TypeError, "Type is mismatched. x float32 float64 T"),
    ("float32 x", "float64 z", (f32, 1.0), {}, TypeError,
     "Output arguments type must be cupy.ndarray"),
    ("T x, raw T w", "T z", (f32, f32), {"size": 3}, ValueError,
     "Specified 'size' can be used only if all of the ndarray are 'raw'."),
    ("raw T x", "T z", (f32,), {}, ValueError, "Loop size is undecided."),
    ("T x, float64 w", "T z", (f32, 10**30), {}, OverflowError,
     "Python int too large to convert to C long"),
    ("raw T x", "T z", (f32,), {"size": 2**63}, OverflowError,
     "Python int too large to convert to C ssize_t"),
    ("T x", "T z", (1.0,), {}, ValueError, "Loop size is undecided."),
    ("T x", "raw T z", (f32,), {}, ValueError, "Output array size is Undecided"),
    ("T x", "T z", (f32, (2, 3), f32), {}, ValueError, "Out shape is mismatched"),
]  # fmt: skip


@pytest.mark.parametrize(("inputs", "outputs", "given", "options", "error", "message"), CALLS)
def test_call_is_refused(inputs, outputs, given, options, error, message):
    args = []
    for item in given:
        if isinstance(item, tuple):
            args.append(cp.zeros(item, args.pop().dtype))
        else:
            args.append(cp.zeros(3, item) if isinstance(item, np.dtype) else item)
    kernel = cp.ElementwiseKernel(inputs, outputs, "", "k")
    with pytest.raises(error) as caught:
        kernel(*args, **options)
    assert str(caught.value) == message


def test_shapes_that_do_not_broadcast():
    with pytest.raises(ValueError) as caught:
        combine(cp.zeros((2, 3)), cp.zeros((3, 2)))
    wanted = "operands could not be broadcast together with shapes (2, 3) (3, 2)"
    assert str(caught.value) == wanted
    kernel = cp.ElementwiseKernel("T x, T s, T y, raw T r", "T z", "z = x")
    with pytest.raises(ValueError) as caught:
        kernel(cp.zeros(2), 1, cp.zeros(3), cp.zeros(4))
    wanted = "operands could not be broadcast together with shapes (2,) () (3,) ()"
    assert str(caught.value) == wanted


def test_an_output_does_not_grow_by_broadcasting():
    with pytest.raises(ValueError, match="^Out shape is mismatched$"):
        combine(cp.zeros((3, 4)), 1.0, cp.zeros(4))
    with pytest.raises(ValueError, match="^operands could not be broadcast together"):
        combine(cp.zeros((3, 4)), 1.0, cp.zeros((3, 3)))


def test_cached_code():
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x * 41", "cached")
    with pytest.warns(UserWarning, match="^No codes are cached because compilation is deferred"):
        assert kernel.cached_codes == {}
    kernel(arange(3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (
            "y = x * 41" in kernel.cached_code and "__global__ void cached(" in kernel.cached_code
        )
    kernel(arange(3, "float64"))
    assert list(kernel.cached_codes) == [(f32, f32), (f64, f64)]
    with pytest.warns(UserWarning, match="^The input types of the kernel could not be inferred"):
        assert kernel.cached_code


def test_a_write_through_a_pointer_past_the_end():
    kernel = cp.ElementwiseKernel("", "raw float32 y", "(&y[0])[i + 1] = i", "past")
    with pytest.raises(
        RuntimeError,
        match=r"^kernel 'past', line 1: writes y\[128\], outside the array 'y' of 512 bytes",
    ):
        kernel(cp.zeros(128, "float32"), size=128)


def test_a_fault_is_an_error():
    kernel = cp.ElementwiseKernel("raw T x", "T y", "y = *(&x[0] + (1ll << 40))", "wild")
    with pytest.raises(RuntimeError, match="^kernel 'wild', line 1: reads "):
        kernel(arange(3), size=3)
    kernel = cp.ElementwiseKernel("T x", "T y", "T a[4] = {}; y = a[(int)x]", "local_array")
    with pytest.raises(RuntimeError, match="^kernel 'local_array', line 1: index 4 "):
        kernel(arange(6))
    np.testing.assert_array_equal(kernel(arange(4)).get(), 0)


def test_printf(capsys):
    kernel = cp.ElementwiseKernel("T x", "T y", 'y = x; printf("%d: %.1f\\n", (int)i, x)', "speak")
    kernel(arange(3))
    assert capsys.readouterr().out == "0: 0.0\n1: 1.0\n2: 2.0\n"


# ---- stricter than a GPU -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "index", "place"),
    [
        ("y = x[i + 1]", 6, "has 6 elements"),
        ("y = x[i - 1]", -1, "has 6 elements"),
        ("y = x[{i / 3, i % 3 + 1}]", 3, "has length 3 along axis 1"),
        ("int at[] = {-2, 0}; y = x[at]", -2, "has length 2 along axis 0"),
        ("y = x[i + 1] + threadIdx.x", 6, "has 6 elements"),
    ],
)
def test_index_outside_a_raw_array(body, index, place):
    kernel = cp.ElementwiseKernel("raw T x", "T y", body, "outside")
    with pytest.raises(IndexError) as caught:
        kernel(arange(6).reshape(2, 3), size=6)
    message = f"kernel 'outside': index {index} is outside the raw array 'x', which {place}; a GPU"
    assert str(caught.value).startswith(message)


def test_a_write_outside_goes_nowhere():
    memory = cp.zeros(10, "int32")
    kernel = cp.ElementwiseKernel("", "raw int32 y", "y[i] = i", "far")
    with pytest.raises(IndexError, match="kernel 'far': index 4 is outside the raw array 'y'"):
        kernel(memory[:4], size=6)
    np.testing.assert_array_equal(memory.get(), [0, 1, 2, 3, 0, 0, 0, 0, 0, 0])
    kernel(memory, size=6)  # and the kernel can be used again
    np.testing.assert_array_equal(memory.get(), [0, 1, 2, 3, 4, 5, 0, 0, 0, 0])


def test_a_complex_number_may_stand_anywhere_among_the_arguments():
    kernel = cp.ElementwiseKernel(
        "int32 x, raw int32 table, complex128 z",
        "int32 y",
        "y = *&x + (int)z.imag()",  # the address makes the fences watch it all
        "odd",
        reduce_dims=False,
    )
    for _ in range(20):  # the call's words lie where NumPy happens to put them
        y = kernel(cp.asarray(np.int32(4)), cp.arange(3, dtype=np.int32), np.complex128(2 + 4j))
        assert y.item() == 8


def test_macros_of_cupys_headers():
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x * M_PI + (x < DBL_EPSILON)", "turn")
    np.testing.assert_allclose(kernel(cp.array([0.0, 2])).get(), [1, 2 * np.pi], rtol=1e-15)
    largest = cp.ElementwiseKernel("T x", "float32 y", "y = x > 1 ? FLT_MAX : -FLT_MIN", "ends")
    ends = np.finfo("f4")
    assert largest(cp.array([0, 2])).tolist() == [-ends.tiny, ends.max]


def test_a_kernel_has_the_attributes_that_it_has():
    kernel = cp.ElementwiseKernel("T x", "T y", "y = x", no_retrun=True)
    reduction = cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0")
    for one, name in ((kernel, "no_return"), (kernel, "block_size"), (reduction, "nout")):
        with pytest.raises(AttributeError, match="cannot be set"):
            setattr(one, name, 1)
    assert kernel(cp.ones(0)).size == 0  # nothing is compiled
    with pytest.raises(TypeError, match="no_retrun"):
        kernel(cp.ones(1))
    with pytest.raises(TypeError):
        cp.ElementwiseKernel("T x", "T y", "y = x")(cp.ones(1), block_size=1.5)
