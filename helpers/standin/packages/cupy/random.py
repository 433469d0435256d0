"""Random numbers. The streams are this stand-in's own: they match neither CuPy's nor NumPy's."""

from __future__ import annotations

import numpy as np

from cupy._core import _dispatch
from cupy._core._ndarray import check_dtype, ndarray
from cupy.cuda import runtime, stream


class BitGenerator:
    """Source of bits; ``seed`` None, an int or an array of ints."""

    def __init__(self, seed=None):
        seed = seed.get() if isinstance(seed, ndarray) else seed
        self._bits = np.random.Philox(seed)


class XORWOW(BitGenerator):
    """CuPy's default name for its source; here a counter-based one."""


class MRG32k3a(BitGenerator):
    """Another of CuPy's names; here the same counter-based source."""


class Philox4x3210(BitGenerator):
    """Another of CuPy's names; here the same counter-based source."""


def _draw(generator, method: str, args, kwargs, dtype):
    """Numbers from a NumPy generator as a device array; parameters may be device arrays."""
    sources: list = []
    args = [_dispatch.unwrap(arg, sources) for arg in args]
    kwargs = {key: _dispatch.unwrap(value, sources) for key, value in kwargs.items()}
    function = getattr(generator, method)

    def work():
        return np.asarray(function(*args, **kwargs), dtype)

    return _dispatch.run(work)


class Generator:
    """The modern interface: ``default_rng(seed)`` makes one."""

    def __init__(self, bit_generator: BitGenerator):
        self.bit_generator = bit_generator
        self._generator = np.random.Generator(bit_generator._bits)

    def random(self, size=None, dtype=np.float64, out=None):
        return self._into(out, _draw(self._generator, "random", (size, _real(dtype)), {}, dtype))

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        drawn = _draw(self._generator, "standard_normal", (size, _real(dtype)), {}, dtype)
        return self._into(out, drawn)

    def standard_exponential(self, size=None, dtype=np.float64, method="inv", out=None):
        drawn = _draw(self._generator, "standard_exponential", (size, _real(dtype)), {}, dtype)
        return self._into(out, drawn)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        args = (low, high, size, dtype, endpoint)
        return _draw(self._generator, "integers", args, {}, dtype)

    @staticmethod
    def _into(out, values):
        if out is None:
            return values
        out[...] = values
        return out


def _generator_method(name: str):
    def method(self, *args, dtype=None, **kwargs):
        return _draw(self._generator, name, args, kwargs, dtype)

    method.__name__ = name
    method.__doc__ = f"As :meth:`numpy.random.Generator.{name}`, on the device."
    return method


_DISTRIBUTIONS = """beta binomial chisquare dirichlet exponential f gamma geometric gumbel
hypergeometric laplace logistic lognormal logseries multivariate_normal negative_binomial
noncentral_chisquare noncentral_f normal pareto poisson power rayleigh standard_cauchy
standard_gamma standard_t triangular uniform vonmises wald weibull zipf""".split()
for _name in (*_DISTRIBUTIONS, "permutation", "choice"):
    setattr(Generator, _name, _generator_method(_name))


def _real(dtype) -> np.dtype:
    dtype = check_dtype(dtype)
    if dtype.char not in "fd":
        raise TypeError("dtype must be float32 or float64")
    return dtype


def default_rng(seed=None) -> Generator:
    """A generator from None, an int, an array of ints, a bit generator or a generator."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, BitGenerator) else XORWOW(seed))


class RandomState:
    """The older interface, of which each device has one for the module's functions."""

    def __init__(self, seed=None, method=None):
        self.seed(seed)

    def seed(self, seed=None) -> None:
        self._generator = default_rng(seed)._generator

    def rand(self, *size, dtype=float):
        return self.random_sample(size, dtype)

    def randn(self, *size, dtype=float):
        return self.standard_normal(size, dtype)

    def random_sample(self, size=None, dtype=float):
        return _draw(self._generator, "random", (size, _real(dtype)), {}, dtype)

    def standard_normal(self, size=None, dtype=float):
        return _draw(self._generator, "standard_normal", (size, _real(dtype)), {}, dtype)

    def standard_exponential(self, size=None, dtype=float):
        return _draw(self._generator, "standard_exponential", (size, _real(dtype)), {}, dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        return _draw(self._generator, "uniform", (low, high, size), {}, _real(dtype))

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        return _draw(self._generator, "normal", (loc, scale, size), {}, _real(dtype))

    def randint(self, low, high=None, size=None, dtype=int):
        return _draw(self._generator, "integers", (low, high, size, dtype), {}, dtype)

    def permutation(self, a):
        return _draw(self._generator, "permutation", (a,), {}, None)

    def choice(self, a, size=None, replace=True, p=None):
        return _draw(self._generator, "choice", (a, size, replace, p), {}, None)

    def shuffle(self, a: ndarray) -> None:
        """Shuffle ``a`` along its first axis, in place."""
        stream.submit(lambda: self._generator.shuffle(a._array))

    def tomaxint(self, size=None):
        return self.randint(0, np.iinfo(np.int32).max, size)


for _name in _DISTRIBUTIONS:
    if not hasattr(RandomState, _name):
        setattr(RandomState, _name, _generator_method(_name))

_states: dict[int, RandomState] = {}


def get_random_state() -> RandomState:
    """The state of the current device."""
    return _states.setdefault(runtime.getDevice(), RandomState())


def set_random_state(rs: RandomState) -> None:
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _states[runtime.getDevice()] = rs


def seed(seed=None) -> None:
    """Seed the state of the current device."""
    get_random_state().seed(seed)


def _module_function(name: str):
    def function(*args, **kwargs):
        return getattr(get_random_state(), name)(*args, **kwargs)

    function.__name__ = name
    function.__doc__ = f"As :func:`numpy.random.{name}`, from the current device's state."
    return function


_FUNCTIONS = """rand randn random_sample standard_normal standard_exponential uniform normal
randint permutation choice shuffle""".split()
for _name in (*_FUNCTIONS, *_DISTRIBUTIONS):
    globals()[_name] = _module_function(_name)
random = sample = ranf = globals()["random_sample"]


def bytes(length: int) -> bytes:
    return get_random_state()._generator.bytes(length)


def __getattr__(name: str):
    if hasattr(np.random, name) and not name.startswith("_"):
        from helpers.standin import not_covered

        raise not_covered(f"cupy.random.{name}")
    raise AttributeError(f"module 'cupy.random' has no attribute {name!r}")
