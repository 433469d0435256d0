"""CuPy's header <cupy/complex.cuh> in kernels: ``thrust::complex`` and its functions."""

import cmath

import cupy as cp
import numpy as np
import nvrtc
import pytest
from cupy.cuda.compiler import CompileException

HEADER = "#include <cupy/complex.cuh>\n"
FUNCTIONS = (
    """exp log log10 sqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh""".split()
)
GLOBAL = {*FUNCTIONS} - {"sqrt"}  # those that CuPy names without thrust::, for any argument


def run(body, x, double=True):
    """What a kernel with this body makes of the array, its pointer x."""
    kind = "double" if double else "float"
    code = f'{HEADER}extern "C" __global__ void k(thrust::complex<{kind}> *x) {{\n{body}\n}}'
    array = cp.array(x, np.complex128 if double else np.complex64)
    cp.RawKernel(code, "k")((1,), (array.size,), (array,))
    return array.get()


@pytest.mark.parametrize("double", [True, False])
def test_functions(double):
    rng = np.random.default_rng(7)
    x = rng.normal(size=37) * 3 + 3j * rng.normal(size=37)
    x[:5] = [1e-9 + 2e-9j, 1 + 1e-9j, -4, 0.5, 3 - 1e-12j]  # small, near a branch cut, real
    x = x.astype("D" if double else "F")
    lines = "\n".join(
        f'extern "C" __global__ void k{n}(complex<T> *x) {{ x[threadIdx.x] = '
        f"{name if name in GLOBAL else 'thrust::' + name}(x[threadIdx.x]); }}"
        for n, name in enumerate(FUNCTIONS)
    ).replace("<T>", "<double>" if double else "<float>")
    module = cp.RawModule(code=HEADER + lines)
    for n, name in enumerate(FUNCTIONS):
        found = cp.asarray(x)
        module.get_function(f"k{n}")((1,), (x.size,), (found,))
        wanted = np.array([getattr(cmath, name)(complex(z)) for z in x])
        rtol = 1e-15 if double else 4e-7
        assert (abs(found.get() - wanted) <= 3 * rtol * abs(wanted)).all(), name


def test_infinities_as_c99_has_them():
    x = [complex(np.inf, np.nan), complex(-np.inf, 3), complex(np.nan, 0), complex(-0.0, -1e-320)]
    for name, function in {"exp": cmath.exp, "sqrt": cmath.sqrt, "atanh": cmath.atanh}.items():
        found = run(f"x[threadIdx.x] = thrust::{name}(x[threadIdx.x]);", x)
        wanted = np.array([function(z) for z in x])
        np.testing.assert_array_equal(found.real, wanted.real, name)
        np.testing.assert_array_equal(abs(found.imag), abs(wanted.imag), name)


def test_ends_as_cupy_computes_them():
    """A quotient scaled by |re| + |im|; other logarithms and expm1 in complex numbers."""
    inf, nan = np.inf, np.nan
    cases = {
        "z / thrust::complex<double>(1, 1 / 0.0)": (1 + 2j, complex(nan, nan)),
        "thrust::complex<double>(1, 2) / z": (1e300 + 1e300j, 1.5e-300 + 0.5e-300j),
        "log2(z)": (0, complex(-inf, nan)),
        "log1p(z)": (complex(0, -0.0), 0),
        "expm1(z)": (complex(0, -0.0), complex(0, -0.0)),
    }
    for expression, (x, wanted) in cases.items():
        found = run(f"auto z = x[0]; x[0] = {expression};", [x])[0]
        np.testing.assert_allclose([found.real, found.imag], [wanted.real, wanted.imag], 1e-15)
        if not np.isnan(wanted.imag):
            assert np.signbit(found.imag) == np.signbit(wanted.imag), expression


Z, W = 1 + 2j, 3 - 0.5j


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("pow(z, w)", Z**W),
        ("pow(z, 2)", Z**2),
        ("pow(3, z)", 3**Z),
        ("pow(z, 2.0f)", Z**2),
        ("pow(complex<float>(1, 2), 0.5)", Z**0.5),
        ("thrust::pow(2.0, w)", 2**W),
        ("pow(complex<double>(0), 0.0)", complex(np.nan, np.nan)),
        ("thrust::polar(2.0, 1.0)", cmath.rect(2, 1)),
        ("thrust::polar(2.0)", 2),
        ("complex<double>(abs(z), arg(w))", complex(abs(Z), cmath.phase(W))),
        ("conj(z) * norm(w)", Z.conjugate() * abs(W) ** 2),
        ("complex<double>(real(w), thrust::imag(z))", complex(W.real, Z.imag)),
        ("thrust::proj(complex<double>(-1 / 0.0, -3))", complex(np.inf, -0.0)),
        ("thrust::proj(z)", Z),
        ("min(z, w)", Z),
        ("max(z, complex<double>(1, 3))", 1 + 3j),
        ("max(z, complex<double>(0, 0 / 0.0))", Z),
        ("min(complex<double>(0 / 0.0, 0), w)", W),
        ("log1p(z) + log2(w)", cmath.log(1 + Z) + cmath.log(W) / np.log(2)),
        ("expm1(w) + rint(w)", cmath.exp(W) - 1 + 3),
        ("complex<double>(z < w, w <= z)", 1),
        ("complex<double>(z > 1.0, 1.0 >= z)", 1),
        ("complex<double>(z == 1.0, z != w)", 1j),
        ("complex<double>(isnan(z), isinf(z / 0.0))", 1j),
    ],
)
def test_expressions(expression, wanted):
    body = f"complex<double> z = x[0], w = x[1]; x[2] = {expression};"
    found = run(body.replace("x[2] =", "if (threadIdx.x == 0) x[2] ="), [Z, W, 0])[2]
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_a_volatile_number():
    body = "volatile complex<float> v; v.real(3); v.imag(x[0].imag()); x[0] = {v.real(), v.imag()};"
    assert run(body, [1 + 2j], double=False)[0] == 3 + 2j


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x[0] = pow(complex<float>(1, 2), 2);", "pow would be computed in integers"),
        ("x[0] = polar(1.0, 2.0);", "polar"),
        ("x[0] = sqrt(x[0]) * 2;", "operator"),
        ("x[0] = x[0] ? 1 : 2;", "could not convert|not contextually convertible"),
    ],
)
def test_what_cupys_header_has_not(body, message, only_the_standin):
    with pytest.raises(CompileException, match=message):
        run(body, [1])


def test_thrusts_own_header_is_refused_as_by_nvrtc(only_the_standin):
    code = '#include <thrust/complex.h>\nextern "C" __global__ void k(thrust::complex<float> *x) {}'
    with pytest.raises(NotImplementedError) as info:
        cp.RawKernel(code, "k").compile()
    assert str(info.value) == (
        "k.cu(1): the CPU stand-in does not cover the header <thrust/complex.h> of CUDA; NVRTC "
        "does not compile it either, as it includes <math.h>: CuPy's <cupy/complex.cuh> has "
        "thrust::complex for kernels"
    )
    folder = nvrtc.include_folder("cccl/thrust/complex.h")
    if nvrtc.is_installed() and folder:
        options = (f"-I{folder}", f"-I{folder / 'cccl'}")
        assert not nvrtc.compile(code, options, headers={}).accepted


def test_other_functions_of_thrust_are_refused(only_the_standin):
    for body in ("thrust::sort(x, x + 1);", "thrust::exponential(x);", "thrust :: tuple<int> t;"):
        with pytest.raises(NotImplementedError, match="does not cover CUB and Thrust beyond"):
            run(body, [1])
