"""Random numbers and Fourier transforms."""

import copy
import pickle

import cupy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def test_seed_makes_runs_repeat():
    cp.random.seed(1)
    first = cp.random.rand(5).get()
    cp.random.seed(1)
    np.testing.assert_array_equal(cp.random.rand(5).get(), first)
    assert not np.array_equal(cp.random.rand(5).get(), first)
    for seed in (np.array(3), np.array([0.5, 1]), np.array([])):
        cp.random.seed(seed)
    a, b = (cp.random.default_rng(7).standard_normal(4) for _ in "ab")
    np.testing.assert_array_equal(a.get(), b.get())


@pytest.mark.parametrize(
    ("draw", "mean", "deviation"),
    [
        (lambda n: cp.random.rand(n), 0.5, 12**-0.5),
        (lambda n: cp.random.random(n), 0.5, 12**-0.5),
        (lambda n: cp.random.uniform(2, 4, n), 3, 2 * 12**-0.5),
        (lambda n: cp.random.randn(n), 0, 1),
        (lambda n: cp.random.normal(5, 2, n), 5, 2),
        (lambda n: cp.random.randint(0, 2, n), 0.5, 0.5),
        (lambda n: cp.random.exponential(3, n), 3, 3),
        (lambda n: cp.random.choice(cp.array([1.0, 3.0]), n), 2, 1),
        (lambda n: cp.random.default_rng(0).integers(0, 2, n), 0.5, 0.5),
        (lambda n: cp.random.default_rng(0).exponential(2, n), 2, 2),
    ],
)
def test_distributions(draw, mean, deviation):
    cp.random.seed(3)
    n = 40_000
    drawn = draw(n)
    assert isinstance(drawn, cp.ndarray) and drawn.shape == (n,)
    assert abs(float(drawn.mean()) - mean) < 5 * deviation / n**0.5
    assert float(drawn.std()) == pytest.approx(deviation, rel=0.05)


def test_dtypes_shapes_and_permutations():
    assert cp.random.rand(2, 3).shape == (2, 3)
    assert cp.random.rand().shape == ()
    assert cp.random.rand(3, dtype=np.float32).dtype == np.float32
    assert cp.random.randn(3, dtype="f").dtype == np.float32
    assert cp.random.uniform(size=3, dtype="f").dtype == np.float32
    assert cp.random.randint(0, 9, 3, dtype=np.int8).dtype == np.int8
    with pytest.raises(TypeError):
        cp.random.rand(3, dtype=int)
    order = cp.random.permutation(10)
    assert sorted(order.tolist()) == list(range(10))
    a = cp.arange(10)
    cp.random.shuffle(a)
    assert sorted(a.tolist()) == list(range(10))
    rng = cp.random.default_rng(0)
    out = cp.empty(4)
    assert rng.random(4, out=out) is out and float(out.max()) < 1


def test_captured_draws_of_a_generator_differ_at_each_launch():
    stream = cp.cuda.Stream(non_blocking=True)
    rng = cp.random.default_rng(3)
    with stream:
        stream.begin_capture()
        drawn = rng.random(4)
        graph = stream.end_capture()
    graph.launch()
    first = drawn.get()
    graph.launch()
    assert not np.array_equal(first, drawn.get())


POSITIONAL = [
    ("beta", (2.0, 3.0)),
    ("exponential", (3.0,)),
    ("gamma", (2.0, 3.0)),
    ("laplace", (0.0, 2.0)),
    ("standard_t", (5.0,)),
    ("triangular", (0.0, 1.0, 3.0)),
    ("poisson", (3.0,)),
    ("binomial", (9, 0.3)),
    ("geometric", (0.3,)),
    ("zipf", (3.0,)),
    ("hypergeometric", (5, 7, 4)),
]


@pytest.mark.parametrize(("name", "parameters"), POSITIONAL)
def test_size_and_dtype_by_position(name, parameters):
    whole = name in ("poisson", "binomial", "geometric", "zipf", "hypergeometric")
    dtype = cp.int32 if whole else cp.float32
    drawn = getattr(cp.random, name)(*parameters, (3, 5), dtype)
    assert drawn.shape == (3, 5) and drawn.dtype == dtype
    drawn = getattr(cp.random, name)(*(cp.full((2, 1), p) for p in parameters))
    assert drawn.shape == (2, 1) and drawn.dtype == (np.int64 if whole else np.float64)


def test_parameters_may_be_arrays_of_the_host():
    cp.random.seed(1)
    drawn = cp.random.exponential(np.array([1e-3, 1e3]), (2000, 2)).mean(axis=0)
    assert float(drawn[0]) < 0.01 < 100 < float(drawn[1])


def test_an_output_has_to_fit():
    rng = cp.random.default_rng(2)
    for wrong, error in (
        (cp.empty(4, "f"), TypeError),
        (cp.empty(8)[::2], ValueError),
        (cp.empty(5), ValueError),
    ):
        with pytest.raises(error):
            rng.random(4, out=wrong)
    first = rng.random(3, out=cp.empty(3)).get()
    rng.bit_generator = cp.random.XORWOW(2)
    again = rng.random(3).get()
    assert np.array_equal(first, again), "errors draw nothing, a new source starts anew"


def test_a_generator_has_the_methods_that_cupys_has():
    with pytest.raises(AttributeError):
        cp.random.default_rng(0).normal(1, 2, 3)
    with pytest.raises(NotImplementedError, match="without specifying size"):
        cp.random.choice(5)


REFUSED = {
    "a Generator's method has no dtype": (TypeError, lambda rng: rng.poisson(3.0, dtype="i")),
    "nor any of NumPy's keywords": (TypeError, lambda rng: rng.chisquare(3.0, out=cp.empty(1))),
    "its parameters are no lists": (TypeError, lambda rng: rng.f([1.0, 2.0], 3.0)),
    "nor of NumPy": (TypeError, lambda rng: rng.logseries(np.array([0.5]))),
    "a probability is a float": (TypeError, lambda rng: rng.binomial(5, 1)),
    "bounds are numbers": (TypeError, lambda rng: rng.integers(cp.array([3, 4]))),
    "integers are no booleans": (ValueError, lambda rng: rng.integers(2, dtype=bool)),
    "one method alone": (NotImplementedError, lambda rng: rng.standard_exponential(3, "f", "zig")),
    "gamma writes in C's order": (
        ValueError,
        lambda rng: rng.standard_gamma(1.0, out=cp.empty((3, 2), order="F")),
    ),
    "legacy functions have no out": (TypeError, lambda rng: cp.random.random(3, out=cp.empty(3))),
    "nor a Generator's methods": (AttributeError, lambda rng: cp.random.RandomState(1).integers(3)),
    "nor integers of some": (TypeError, lambda rng: cp.random.gumbel(dtype=int)),
    "one scale at least": (TypeError, lambda rng: cp.random.exponential()),
    "no booleans": (ValueError, lambda rng: cp.random.randint(2, size=3, dtype=bool)),
    "bounds of 32 bits or 64": (ValueError, lambda rng: cp.random.randint(cp.array([3], "b"))),
    "a row to choose from": (ValueError, lambda rng: cp.random.choice(cp.ones((3, 2)), 2)),
    "no list to permute": (TypeError, lambda rng: cp.random.permutation([1, 2])),
    "a seed is whole": (TypeError, lambda rng: cp.random.seed(1.5)),
    "normal numbers have no list": (TypeError, lambda rng: cp.random.normal([0, 1], 1)),
    "nor an array of the host": (TypeError, lambda rng: cp.random.lognormal(0, np.ones(2))),
    "no half of a whole number": (TypeError, lambda rng: cp.random.poisson(2, dtype="e")),
    "nor a whole part": (TypeError, lambda rng: cp.random.dirichlet([1, 2], dtype="l")),
    "logistic is no integer": (TypeError, lambda rng: cp.random.logistic(0, 1, dtype="l")),
    "a series has a chance": (ValueError, lambda rng: cp.random.logseries(0)),
    "one sample at least": (ValueError, lambda rng: cp.random.hypergeometric(1, 1, 0)),
    "all outcomes": (ValueError, lambda rng: cp.random.multinomial(5, [0.9, 0.9])),
    "none of fewer than none": (ValueError, lambda rng: cp.random.permutation(-1)),
    "nor a choice": (ValueError, lambda rng: cp.random.choice(-1, 0)),
    "a number for each bound": (
        ValueError,
        lambda rng: cp.random.randint(cp.array([3, 5]), size=(4, 2)),
    ),
    "nor across them": (ValueError, lambda rng: cp.random.randint(cp.array([[3], [5]]), size=(2,))),
    "bounds of one type": (ValueError, lambda rng: cp.random.randint(cp.array([3]), 2**63)),
    "fractions of trials": (TypeError, lambda rng: cp.random.multinomial(5, [0, 0, 1])),
    "a row of them": (ValueError, lambda rng: cp.random.multinomial(5, [[0.5, 0.5]])),
    "no parameter beyond 64 bits": (ValueError, lambda rng: cp.random.gamma(2**70)),
    "nor one that is added": (OverflowError, lambda rng: cp.random.normal(2**70, cp.ones(2))),
    "a host's array is added to none": (
        TypeError,
        lambda rng: cp.random.normal(np.array(1.0), cp.ones(2)),
    ),
    "normal numbers of a size": (
        TypeError,
        lambda rng: cp.random.RandomState(1).normal(size=np.array([2])),
    ),
    "methods refuse what functions do": (
        TypeError,
        lambda rng: cp.random.RandomState(1).dirichlet([1.0, 2.0], size=True),
    ),
    "a covariance is checked where asked for": (
        np.linalg.LinAlgError,
        lambda rng: cp.random.multivariate_normal([0, 0], np.eye(2) - 1, check_valid="raise"),
    ),
    "a seed is positive": (ValueError, lambda rng: cp.random.seed(-1)),
}


@pytest.mark.parametrize(("error", "draw"), REFUSED.values(), ids=REFUSED)
def test_draws_that_cupy_refuses(error, draw):
    with pytest.raises(error):
        draw(cp.random.default_rng(1))


def test_a_covariance_is_warned_of_where_asked_for():
    with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
        made = cp.random.multivariate_normal([0, 0], np.eye(2) - 1, check_valid="warn")
    assert bool(cp.isnan(made).all())


def test_no_source_can_be_copied_deeply_or_pickled():
    for source in (cp.random.RandomState(1), cp.random.default_rng(1), cp.random.MRG32k3a(1)):
        for keep in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot pickle"):
                keep(source)


def test_a_generator_draws_one_exponential_for_many_scales():
    drawn = cp.random.default_rng(5).exponential(cp.array([1.0, 2.0, 4.0]))
    assert drawn.tolist() == [drawn[0].item() * scale for scale in (1, 2, 4)]
    assert cp.random.default_rng(5).integers(0, 3.9, 1000).max() == 2


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "fft2", "ifftn", "rfft2", "hfft"])
@pytest.mark.parametrize("dtype", "bfdFD")
@settings(max_examples=8, deadline=None)
@given(rows=st.integers(1, 4), columns=st.integers(2, 9), norm=st.sampled_from([None, "ortho"]))
def test_transforms_agree_with_numpy(name, dtype, rows, columns, norm):
    if name.startswith("rfft") and dtype in "FD":
        return
    a = np.random.default_rng(rows).integers(-5, 5, (rows, columns)).astype(dtype)
    ours = getattr(cp.fft, name)(cp.asarray(a), norm=norm)
    expected = getattr(np.fft, name)(a, norm=norm)
    assert ours.dtype == expected.dtype
    assert ours.dtype.itemsize == (
        expected.dtype.itemsize if dtype not in "fF" else {"c": 8, "f": 4}[expected.dtype.kind]
    )
    np.testing.assert_allclose(ours.get(), expected, rtol=1e-3, atol=1e-4)


@pytest.mark.filterwarnings("error")
def test_transforms_of_half_precision_and_of_some_axes():
    half = cp.asarray(np.cos(np.arange(12.0)).reshape(3, 4), "e")
    single = half.astype("f")
    for name in ("fft", "rfft2", "ihfft", "irfftn"):
        transform = getattr(cp.fft, name)
        cp.testing.assert_array_equal(transform(half), transform(single))
    assert cp.fft.irfft(half).dtype == np.float16 and cp.fft.irfft2(half).dtype == np.float32
    assert cp.fft.fftn(single, (2,)).shape == (3, 2)
    with pytest.warns(np.exceptions.ComplexWarning):
        cp.testing.assert_array_equal(cp.fft.rfft(single + 2j), cp.fft.rfft(single))
    with pytest.raises(NotImplementedError, match="along one axis twice"):
        cp.fft.rfft2(single, axes=(0, 0))


def test_plan_cache(capsys):
    cache = cp.fft.config.get_plan_cache()
    cache.clear()
    a = cp.ones(8, np.float32)
    cp.fft.fft(a)
    cp.fft.fft(a)
    assert cache.get_curr_size() == 1
    cp.fft.fft(cp.ones(9))
    cp.fft.ifft(a)  # the plan serves both directions
    assert cache.get_curr_size() == 2
    cp.fft.rfft(a)
    assert cache.get_curr_size() == 3
    cp.fft.config.show_plan_cache_info()
    shown = capsys.readouterr().out
    assert "CPU stand-in" in shown and "hits / misses: 2 / 3" in shown
    cache.set_size(2)
    assert cache.get_curr_size() == 2
    cache.set_size(16)
    cp.fft.config.clear_plan_cache()
    assert cache.get_curr_size() == 0


def test_lengths_that_are_the_shape_cut_nothing():
    """As in CuPy, whichever axes they are for: in a tuple, not in a list."""
    x = cp.arange(6.0).reshape(2, 3)
    assert cp.fft.rfftn(x, (2, 3), axes=(1, 0)).shape == (2, 3)
    assert cp.fft.rfftn(x, [2, 3], axes=(1, 0)).shape == (2, 2)
    assert cp.fft.fftn(x, (2, 3)).shape == cp.fft.irfftn(x, (2, 3)).shape == (2, 3)
    for taken, axes in ((x, (1, 0)), (cp.ones((4, 4), order="F"), (0, 1))):
        with pytest.raises(NotImplementedError, match="in a list"):
            cp.fft.irfftn(taken, taken.shape, axes)
    with pytest.raises(NotImplementedError, match="copy it first"):
        cp.fft.irfftn(cp.arange(8.0).reshape(1, 8)[:, ::2], (3, 4))


def test_host_array_is_refused():
    with pytest.raises(TypeError, match="^The input array a must be a cupy.ndarray$"):
        cp.fft.fft(np.ones(3))


def test_the_switches_of_the_transforms():
    config = cp.fft.config
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        assert config.enable_nd_planning is True
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        config.enable_nd_planning = False
    assert cp.fft.fftn(cp.ones((2, 3)), axes=(1, 0)).strides == (16, 32)
    with pytest.warns(DeprecationWarning, match="enable_nd_planning"):
        config.enable_nd_planning = True
    assert cp.fft.fftn(cp.ones((2, 3)), axes=(1, 0)).strides == (48, 16)
    assert config.use_multi_gpus is False
    config.use_multi_gpus = False
    with pytest.raises(NotImplementedError, match="cupy.fft.config.use_multi_gpus"):
        config.use_multi_gpus = True


def test_a_plan_is_held_to_its_arrays():
    from cupy.cuda import cufft
    from cupyx.scipy import fft, fftpack

    x = cp.asarray(np.random.default_rng(1).standard_normal((3, 5, 8)) + 0j)
    several, one = fft.get_fft_plan(x, axes=(1, 2)), fftpack.get_fft_plan(x, axes=1)
    assert isinstance(several, cufft.PlanNd) and isinstance(one, cufft.Plan1d)
    assert (several.shape, several.batch, one.nx, one.batch) == ((5, 8), 3, 5, 24)
    want = np.fft.fft2(x.get())
    for call in (lambda: fft.fft2(x, plan=several), lambda: fftpack.fft2(x, plan=several)):
        np.testing.assert_allclose(call().get(), want, atol=1e-12)
    with several:
        assert cufft.get_current_plan() is several
        np.testing.assert_allclose(cp.fft.fft2(x).get(), want, atol=1e-12)
        with pytest.raises(RuntimeError, match="either as a context manager or as an argument"):
            fft.fft2(x, plan=several)
        with pytest.raises(ValueError, match="expected plan to have type cufft.Plan1d"):
            cp.fft.fft(x)
    assert cufft.get_current_plan() is None
    np.testing.assert_allclose(fft.ifft(x, axis=1, plan=one).get(), np.fft.ifft(x.get(), axis=1))
    for wrong, text in (
        (lambda: fft.fft2(x[:, :4], plan=several), "do not match"),
        (lambda: fft.fft2(x.astype("F"), plan=several), "dtype mismatch"),
        (lambda: fft.fft(x, axis=2, plan=one), "size does not match"),
        (lambda: fft.fft(x[:2], axis=1, plan=one), "Batch size"),
        (lambda: fft.get_fft_plan(x, axes=(0, 2)), "could not be created"),
        (lambda: fft.get_fft_plan(x[:, ::2]), "contiguous"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
    half = fft.get_fft_plan(cp.ones((4, 6)), value_type="R2C")
    assert half.fft_type == cufft.CUFFT_D2Z and half.last_size == 4
    with half:
        assert cp.fft.rfft2(cp.ones((4, 6))).shape == (4, 4)


def test_a_transform_in_the_memory_that_is_given_away():
    """As in CuPy: of complex numbers in one piece; what becomes real numbers is left as garbage."""
    from cupyx.scipy import fft, fftpack

    for transform in (fft.fft, fft.ifft, fft.fft2, fft.ifftn, fftpack.fft, fftpack.ifftn):
        one = transform.__name__ in ("fft", "ifft")
        x = cp.arange(8) + 1j if one else cp.arange(12.0).reshape(3, 4) + 1j
        wanted = transform(x).get()
        assert transform(x, overwrite_x=True) is x
        np.testing.assert_array_equal(x.get(), wanted)
    for kept in (cp.arange(8.0), cp.ones((2, 8), "F")[:, ::2], cp.ones((2, 8), "F")[0]):
        before = kept.get()
        assert fft.fft(kept, overwrite_x=True) is not kept
        np.testing.assert_array_equal(kept.get(), before)
    x = cp.ones((3, 4), "F")
    assert fft.fft(x, axis=0, overwrite_x=True) is not x and fft.fft(x, 2, overwrite_x=True).size
    assert bool((x == 1).all())
    assert fft.irfft(x[0].copy(), overwrite_x=True).dtype == np.float32
    fft.irfftn(x, overwrite_x=True)
    assert bool(cp.isnan(x).all())
    x = cp.ones((3, 4), "F")
    part = fft.fft2(x, (2, 4), overwrite_x=True)
    assert part.base is x and x[0, 0] == 8 and bool((x[2] == 1).all())
    fft.irfft2(x[:, :2].copy(), (3, 4), overwrite_x=True)
    fft.irfft2(x, (2, 5), overwrite_x=True)  # the fewer columns are copied
    assert x[0, 0] == 8
    cube = cp.ones((2, 3, 4), "F")
    assert fft.fftn(cube, axes=(2, 0), overwrite_x=True) is not cube and bool(cp.isnan(cube).all())


def test_a_row_is_an_array_of_fortrans_order():
    for x in (cp.ones((1, 3)), cp.ones((1, 6))[:, ::2]):
        assert cp.fft.fft2(x, [4, 4]).strides == (16, 64)
    assert cp.fft.fft2(cp.ones((1, 6), "D")[:, ::2], [4, 4]).strides == (64, 16)


def test_a_spectrum_of_nothing_is_that_of_zeros():
    for name in ("irfft2", "irfftn"):
        assert not getattr(cp.fft, name)(cp.ones((2, 0), "D"), (2, 4)).any()


def test_hosts_arrays_are_shifted():
    assert cp.fft.ifftshift([1, 2, 3]).tolist() == cp.fft.fftshift(np.array([3, 1, 2])).tolist()


def test_a_plan_cache_that_is_off():
    cache = type(cp.fft.config.get_plan_cache())(size=3)
    cache.touch("a")
    cache.set_memsize(0)
    cache.touch("b")
    assert cache.get_curr_size() == 0 and "enabled? False" in str(cache)
    for wrong, error in ((-2, ValueError), (1.5, TypeError)):
        for switch in (cache.set_size, cache.set_memsize):
            with pytest.raises(error):
                switch(wrong)
