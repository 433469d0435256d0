"""Random numbers. The streams are this stand-in's own: they match neither CuPy's nor NumPy's."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np

from cupy._core._dispatch import check_dtype, named, submit
from cupy._core._ndarray import ndarray
from cupy._core._run import run
from cupy.cuda import runtime
from cupy.cuda.stream import catch_up, refuse_library_while_capturing
from gpuless import missing


class BitGenerator:
    """Source of bits; ``seed`` None, an int or an array of ints."""

    def __init__(self, seed=None, *, size=-1):
        self._bits = np.random.Philox(_plain(seed))


class XORWOW(BitGenerator):
    """CuPy's default source; one serves for all here."""


class MRG32k3a(BitGenerator):
    """Another source of CuPy's."""


class Philox4x3210(BitGenerator):
    """Another source of CuPy's."""


def _plain(value):
    if not isinstance(value, ndarray):
        return value
    catch_up()
    return value._array


def _draw(generator, method: str, args, kwargs, dtype) -> ndarray:
    """Numbers from a NumPy generator as a device array; parameters may be arrays."""
    values, options = [*map(_plain, args)], {key: _plain(v) for key, v in kwargs.items()}
    function = getattr(generator, method)
    return run(lambda: np.asarray(function(*values, **options), dtype))


def _real(dtype) -> np.dtype:
    dtype = check_dtype(dtype)
    if dtype.char not in "fd":
        raise TypeError("cupy.random only supports float32 and float64")
    return dtype


def _distribution(name: str, parameters: int, dtype=float) -> Callable:
    """A method with so many parameters, followed by ``size`` and ``dtype``."""
    default = dtype

    def method(self, *args, size=None, dtype=default, **kwargs):
        args, rest = args[:parameters], args[parameters:]
        size, dtype = (*rest, *(size, dtype)[len(rest) :])
        return self._draw(name, args, {"size": size, **kwargs}, dtype)

    return named(method, name)


def _standard(name: str, method_name: str | None = None) -> Callable:
    """A method without parameters, in single or double precision."""

    def method(self, size=None, dtype=float, out=None):
        dtype = _real(dtype)
        if out is None:
            return self._draw(name, (), {"size": size, "dtype": dtype}, dtype)
        if out.dtype != dtype:
            raise TypeError(f"Supplied output array has type {out.dtype}, not {dtype}")
        if not (out.flags.c_contiguous or out.flags.f_contiguous):
            raise ValueError("Supplied output array is not contiguous")
        if size is not None and np.empty(size).shape != out.shape:
            raise ValueError("size must match out.shape when used together")
        out[...] = self._draw(name, (), {"size": out.shape, "dtype": dtype}, dtype)
        return out

    return named(method, method_name or name)


class Generator:
    """The modern interface: ``default_rng(seed)`` makes one."""

    def __init__(self, bit_generator: BitGenerator):
        self.bit_generator = bit_generator

    @property
    def _generator(self) -> np.random.Generator:
        return np.random.Generator(self.bit_generator._bits)

    def _draw(self, name: str, args, kwargs, dtype) -> ndarray:
        return _draw(self._generator, name, args, kwargs, dtype)

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        return self._draw("integers", (low, high, size, dtype, endpoint), {}, dtype)

    random = _standard("random")
    standard_exponential = _standard("standard_exponential")
    standard_normal = _standard("standard_normal")
    beta = _distribution("beta", 2)
    binomial = _distribution("binomial", 2, int)
    chisquare = _distribution("chisquare", 1)
    dirichlet = _distribution("dirichlet", 1)
    exponential = _distribution("exponential", 1)
    f = _distribution("f", 2)
    gamma = _distribution("gamma", 2)
    geometric = _distribution("geometric", 1, int)
    hypergeometric = _distribution("hypergeometric", 3, int)
    logseries = _distribution("logseries", 1, int)
    poisson = _distribution("poisson", 1, int)
    power = _distribution("power", 1)
    standard_gamma = _distribution("standard_gamma", 1)
    uniform = _distribution("uniform", 2)


def default_rng(seed=None) -> Generator:
    """A generator from None, an int, an array of ints, a bit generator or a generator."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, BitGenerator) else XORWOW(seed))


class RandomState(Generator):
    """The older interface, of which each device has one for the module's functions."""

    def __init__(self, seed=None, method=None):
        self.seed(seed)

    def seed(self, seed=None) -> None:
        super().__init__(XORWOW(seed))

    def _draw(self, name: str, args, kwargs, dtype) -> ndarray:
        refuse_library_while_capturing("cuRAND")
        return super()._draw(name, args, kwargs, dtype)

    def rand(self, *size, dtype=float):
        return self.random_sample(size, dtype)

    def randn(self, *size, dtype=float):
        return self.standard_normal(size, dtype)

    def uniform(self, low=0.0, high=1.0, size=None, dtype=float):
        return self._draw("uniform", (low, high, size), {}, _real(dtype))

    def normal(self, loc=0.0, scale=1.0, size=None, dtype=float):
        return self._draw("normal", (loc, scale, size), {}, _real(dtype))

    def randint(self, low, high=None, size=None, dtype=int):
        return self._draw("integers", (low, high, size, dtype), {}, dtype)

    def tomaxint(self, size=None):
        """Integers from 0 to the largest of the default type."""
        return self.randint(0, np.iinfo(int).max, size)

    def choice(self, a, size=None, replace=True, p=None):
        if size is None:
            raise NotImplementedError("choice() without specifying size is not supported yet")
        if not replace and p is not None:
            raise NotImplementedError
        return self._draw("choice", (a, size, replace, p), {}, None)

    def permutation(self, a):
        return self._draw("permutation", (a,), {}, None)

    def shuffle(self, a: ndarray) -> None:
        """Shuffle ``a`` along its first axis, in place."""
        if not isinstance(a, ndarray):
            raise TypeError("The array must be cupy.ndarray")
        if not a.ndim:
            raise TypeError("An array whose ndim is 0 is not supported")
        refuse_library_while_capturing("cuRAND")
        submit(lambda: self._generator.shuffle(a._array))

    random_sample = _standard("random", "random_sample")
    gumbel = _distribution("gumbel", 2)
    laplace = _distribution("laplace", 2)
    logistic = _distribution("logistic", 2)
    lognormal = _distribution("lognormal", 2)
    multinomial = _distribution("multinomial", 2, int)
    multivariate_normal = _distribution("multivariate_normal", 2)
    negative_binomial = _distribution("negative_binomial", 2, int)
    noncentral_chisquare = _distribution("noncentral_chisquare", 2)
    noncentral_f = _distribution("noncentral_f", 3)
    pareto = _distribution("pareto", 1)
    rayleigh = _distribution("rayleigh", 1)
    standard_cauchy = _distribution("standard_cauchy", 0)
    standard_t = _distribution("standard_t", 1)
    triangular = _distribution("triangular", 3)
    vonmises = _distribution("vonmises", 2)
    wald = _distribution("wald", 2)
    weibull = _distribution("weibull", 1)
    zipf = _distribution("zipf", 1, int)


_states: dict[int, RandomState] = {}
_lock = threading.Lock()


def get_random_state() -> RandomState:
    """The state of the current device."""
    with _lock:
        return _states.setdefault(runtime.getDevice(), RandomState())


def set_random_state(rs: RandomState) -> None:
    if not isinstance(rs, RandomState):
        raise TypeError(f"Random state must be an instance of RandomState. Actual: {type(rs)}")
    _states[runtime.getDevice()] = rs


def reset_states() -> None:
    """Forget the states of all devices."""
    global _states
    _states = {}


def seed(seed=None) -> None:
    """Seed the state of the current device."""
    get_random_state().seed(seed)


def _of_state(method: Callable) -> Callable:
    """The method of the current device's state, as a function."""

    def function(*args, **kwargs):
        return method(get_random_state(), *args, **kwargs)

    return named(function, method.__name__)


def random_integers(low, high=None, size=None) -> ndarray:
    """Integers from ``low`` to ``high``, which is among them; from 1 where one number is given."""
    low, high = (1, low) if high is None else (low, high)
    return get_random_state().randint(low, high + 1, size)


def bytes(length: int) -> bytes:
    return get_random_state()._generator.bytes(length)


beta = _of_state(RandomState.beta)
binomial = _of_state(RandomState.binomial)
chisquare = _of_state(RandomState.chisquare)
choice = _of_state(RandomState.choice)
dirichlet = _of_state(RandomState.dirichlet)
exponential = _of_state(RandomState.exponential)
f = _of_state(RandomState.f)
gamma = _of_state(RandomState.gamma)
geometric = _of_state(RandomState.geometric)
gumbel = _of_state(RandomState.gumbel)
hypergeometric = _of_state(RandomState.hypergeometric)
laplace = _of_state(RandomState.laplace)
logistic = _of_state(RandomState.logistic)
lognormal = _of_state(RandomState.lognormal)
logseries = _of_state(RandomState.logseries)
multinomial = _of_state(RandomState.multinomial)
multivariate_normal = _of_state(RandomState.multivariate_normal)
negative_binomial = _of_state(RandomState.negative_binomial)
noncentral_chisquare = _of_state(RandomState.noncentral_chisquare)
noncentral_f = _of_state(RandomState.noncentral_f)
normal = _of_state(RandomState.normal)
pareto = _of_state(RandomState.pareto)
permutation = _of_state(RandomState.permutation)
poisson = _of_state(RandomState.poisson)
power = _of_state(RandomState.power)
rand = _of_state(RandomState.rand)
randint = _of_state(RandomState.randint)
randn = _of_state(RandomState.randn)
random = random_sample = ranf = sample = _of_state(RandomState.random_sample)
rayleigh = _of_state(RandomState.rayleigh)
shuffle = _of_state(RandomState.shuffle)
standard_cauchy = _of_state(RandomState.standard_cauchy)
standard_exponential = _of_state(RandomState.standard_exponential)
standard_gamma = _of_state(RandomState.standard_gamma)
standard_normal = _of_state(RandomState.standard_normal)
standard_t = _of_state(RandomState.standard_t)
triangular = _of_state(RandomState.triangular)
uniform = _of_state(RandomState.uniform)
vonmises = _of_state(RandomState.vonmises)
wald = _of_state(RandomState.wald)
weibull = _of_state(RandomState.weibull)
zipf = _of_state(RandomState.zipf)


def __getattr__(name: str):
    raise missing("cupy.random", name)
