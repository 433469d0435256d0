"""Random numbers. The streams are this stand-in's own: they match neither CuPy's nor NumPy's."""

from __future__ import annotations

import numpy as np

from cupy._core import _dispatch
from cupy._core._ndarray import check_dtype, ndarray
from cupy.cuda import runtime, stream
from helpers.standin import missing


class BitGenerator:
    """Source of bits; ``seed`` None, an int or an array of ints."""

    def __init__(self, seed=None):
        seed = seed.get() if isinstance(seed, ndarray) else seed
        self._bits = np.random.Philox(seed)


XORWOW = MRG32k3a = Philox4x3210 = BitGenerator  # CuPy's sources; one serves for all here


def _draw(generator, method: str, args, kwargs, dtype):
    """Numbers from a NumPy generator as a device array; parameters may be device arrays."""
    values, options, _ = _dispatch.unwrap_call(args, kwargs)
    function = getattr(generator, method)
    return _dispatch.run(lambda: np.asarray(function(*values, **options), dtype))


class Generator:
    """The modern interface: ``default_rng(seed)`` makes one."""

    def __init__(self, bit_generator: BitGenerator):
        self.bit_generator = bit_generator
        self._generator = np.random.Generator(bit_generator._bits)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        args = (low, high, size, dtype, endpoint)
        return _draw(self._generator, "integers", args, {}, dtype)


def _real_method(name: str):
    def method(self, size=None, dtype=np.float64, out=None):
        drawn = _draw(self._generator, name, (size, _real(dtype)), {}, dtype)
        if out is None:
            return drawn
        out[...] = drawn
        return out

    return _dispatch.named(method, name)


def _generator_method(name: str):
    def method(self, *args, dtype=None, **kwargs):
        return _draw(self._generator, name, args, kwargs, dtype)

    return _dispatch.named(method, name)


_DISTRIBUTIONS = """beta binomial chisquare dirichlet exponential f gamma geometric gumbel
hypergeometric laplace logistic lognormal logseries multivariate_normal negative_binomial
noncentral_chisquare noncentral_f normal pareto poisson power rayleigh standard_cauchy
standard_gamma standard_t triangular uniform vonmises wald weibull zipf""".split()
for _name in (*_DISTRIBUTIONS, "permutation", "choice"):
    setattr(Generator, _name, _generator_method(_name))
for _name in ("random", "standard_normal", "standard_exponential"):
    setattr(Generator, _name, _real_method(_name))


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

    random_sample = _real_method("random")
    standard_normal = _real_method("standard_normal")
    standard_exponential = _real_method("standard_exponential")

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        return _draw(self._generator, "uniform", (low, high, size), {}, _real(dtype))

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        return _draw(self._generator, "normal", (loc, scale, size), {}, _real(dtype))

    def randint(self, low, high=None, size=None, dtype=int):
        return _draw(self._generator, "integers", (low, high, size, dtype), {}, dtype)

    permutation = _generator_method("permutation")
    choice = _generator_method("choice")

    def shuffle(self, a: ndarray) -> None:
        """Shuffle ``a`` along its first axis, in place."""
        stream.submit(lambda: self._generator.shuffle(a._array))


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

    return _dispatch.named(function, name)


_FUNCTIONS = """rand randn random_sample standard_normal standard_exponential uniform normal
randint permutation choice shuffle""".split()
for _name in (*_FUNCTIONS, *_DISTRIBUTIONS):
    globals()[_name] = _module_function(_name)
random = sample = ranf = globals()["random_sample"]


def bytes(length: int) -> bytes:
    return get_random_state()._generator.bytes(length)


def __getattr__(name: str):
    raise missing("cupy.random", name, [n for n in dir(np.random) if not n.startswith("_")])
