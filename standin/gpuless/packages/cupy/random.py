"""Random numbers. The streams are this stand-in's own: they match neither CuPy's nor NumPy's."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
import threading
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from cupy._core import _alignment
from cupy._core._dispatch import check_dtype, check_number, named, submit, unsupported
from cupy._core._functions import broadcast
from cupy._core._ndarray import ndarray
from cupy._core._refused import checked
from cupy._core._run import run
from cupy.cuda import runtime
from cupy.cuda.stream import catch_up, refuse_library_while_capturing
from gpuless import missing


class BitGenerator:
    """Source of bits; ``seed`` None, an int or an array of ints."""

    def __init__(self, seed=None, *, size=-1):
        bool(size < 0)  # TypeError or ValueError for what is no number
        self._bits = np.random.Philox(_plain(seed))
        self._device = runtime.getDevice()
        self.lock = threading.Lock()  # no deepcopy() and no pickle, as in CuPy


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
    _alignment.check(value)
    return value._array


def _draw(generator, method: str, args, kwargs, dtype) -> ndarray:
    """Numbers from a NumPy generator as a device array; parameters may be arrays, but no sizes."""
    size = kwargs.get("size")
    if any(isinstance(n, ndarray) for n in (size if isinstance(size, (tuple, list)) else (size,))):
        raise TypeError("'ndarray' object cannot be interpreted as an integer")
    values, options = [*map(_plain, args)], {key: _plain(v) for key, v in kwargs.items()}
    function = getattr(generator, method)
    return run(lambda: np.asarray(function(*values, **options), dtype))


def _dtype(value) -> np.dtype:
    return value.dtype if isinstance(value, ndarray) else np.asarray(value).dtype


def _real(dtype) -> np.dtype:
    dtype = check_dtype(dtype)
    if dtype.char not in "fd":
        raise TypeError("cupy.random only supports float32 and float64")
    return dtype


def _whole(dtype) -> np.dtype:
    dtype = check_dtype(dtype)
    if dtype.char == "e":
        raise TypeError("CuPy's kernels of whole numbers do not compile for float16")
    return dtype


def _part(dtype) -> np.dtype:
    dtype = check_dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(f"Cannot cast output operand from dtype('float64') to {dtype!r}")
    return dtype


def _numbers(given: dict) -> None:
    loc, scale = given.values()
    if isinstance(scale, ndarray):  # then loc is added by a kernel
        if isinstance(loc, np.ndarray):
            raise unsupported(loc)
        check_number(loc)
    for value in given.values():
        if isinstance(value, tuple) or isinstance(value, (list, np.ndarray)) and np.ndim(value):
            raise TypeError(f"a number or an array of the device, not {type(value)}")


def _refuse_objects(given: dict) -> None:
    """ValueError for parameters that are no numbers, such as None, or too large for one."""
    for key, value in given.items():
        if key in ("self", "size") or not (value is None or isinstance(value, (list, tuple, int))):
            continue
        if not isinstance(value, (list, tuple)) or not any(isinstance(v, ndarray) for v in value):
            if np.asarray(value).dtype.kind not in "biufc":
                raise ValueError(f"Unsupported dtype {np.asarray(value).dtype}")


def _fractions(p) -> None:
    if p is not None and np.ndim(_plain(p)) != 1:
        raise ValueError("p must be 1-dimensional")
    if p is not None and _dtype(p).kind in "biu":  # their running sum is divided in place
        raise TypeError(f"probabilities of {_dtype(p)} are no fractions")


def _likely(given: dict) -> None:
    if np.any(np.asarray(_plain(given["p"])) <= 0):
        raise ValueError("p <= 0.0")


def _sampled(given: dict) -> None:
    if isinstance(given["nsample"], (int, float)) and given["nsample"] < 1:
        raise ValueError("nsample < 1")


def _distribution(
    name: str, *required: str, dtype=float, check=check_dtype, valid=None, **optional
) -> Callable:
    """A method of CuPy's parameters, followed by ``size`` and ``dtype``, which ``check`` takes;
    ``valid`` raises for parameters that NumPy takes and CuPy does not."""
    bind = _binding(name, required, {**optional, "size": None, "dtype": dtype})
    check = _whole if dtype is int else check

    def method(*args, **kwargs):
        given = bind(args, kwargs)
        self, dtype = given.pop("self"), check(given.pop("dtype"))
        if valid is not _numbers:  # which are cuRAND's, as doubles
            _refuse_objects(given)
        if valid is not None:
            valid({key: value for key, value in given.items() if key != "size"})
        return self._draw(name, (), given, dtype)

    method.__signature__ = _signature("self", *required, *optional, "size", "dtype")
    return named(method, name)


def _signature(*names: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])


def _binding(name: str, required: Sequence[str], optional: dict) -> Callable[[tuple, dict], dict]:
    """A function of a call's arguments that returns all of the method's, by their names."""
    names, needed = ("self", *required, *optional), {"self", *required}

    def bind(args: tuple, kwargs: dict) -> dict:
        if len(args) > len(names):
            raise TypeError(f"{name}() takes {len(names) - 1} arguments at most")
        given = dict(zip(names, args, strict=False))
        for keyword in kwargs:
            if keyword in given or keyword not in names:
                raise TypeError(f"{name}() got an unexpected argument {keyword!r}")
        given = {**optional, **given, **kwargs}
        if missing := needed - given.keys():
            raise TypeError(f"{name}() misses the arguments {sorted(missing)}")
        return given

    return bind


def _of_numbers(name: str, *required: str, dtype=float, **optional) -> Callable:
    """A method of a Generator's, without ``dtype``; no parameter is an array of the host."""
    bind = _binding(name, required, {**optional, "size": None})

    def method(*args, **kwargs):
        given = bind(args, kwargs)
        for parameter in (*required, *optional):
            _check_number(parameter, given[parameter])
        return given.pop("self")._draw(name, (), given, dtype)

    method.__signature__ = _signature("self", *required, *optional, "size")
    return named(method, name)


def _check_number(parameter: str, value) -> None:
    if not isinstance(value, ndarray) and type(value) not in (float, int):
        raise TypeError(f"{parameter} is required to be a cupy.ndarray or a scalar")


def _into(
    out: ndarray | None, size, dtype: np.dtype, draw: Callable, layouts: str = "cf"
) -> ndarray:
    """``draw(size)``, in ``out`` where one is given and fits."""
    if out is None:
        return draw(size)
    if out.dtype != dtype:
        raise TypeError(f"Supplied output array has type {out.dtype}, not {dtype}")
    if not any(getattr(out.flags, f"{layout}_contiguous") for layout in layouts):
        raise ValueError("Supplied output array is not contiguous")
    if size is not None and np.empty(size).shape != out.shape:
        raise ValueError("size must match out.shape when used together")
    _alignment.check(out)
    out[...] = draw(out.shape)
    return out


class _Source:
    """A source of bits, and NumPy's generator that draws from it."""

    _bit_generator: BitGenerator

    @property
    def _generator(self) -> np.random.Generator:
        return np.random.Generator(self._bit_generator._bits)

    def _draw(self, name: str, args, kwargs, dtype) -> ndarray:
        return _draw(self._generator, name, args, kwargs, dtype)

    def _standard(self, name: str, size, dtype) -> ndarray:
        dtype = _real(dtype)
        return self._draw(name, (), {"size": size, "dtype": dtype}, dtype)


class Generator(_Source):
    """The modern interface: ``default_rng(seed)`` makes one."""

    def __init__(self, bit_generator: BitGenerator):
        self.bit_generator = bit_generator

    @property
    def _bit_generator(self) -> BitGenerator:
        if runtime.getDevice() != self.bit_generator._device:
            raise RuntimeError("This Generator state is allocated in a different device")
        return self.bit_generator

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Integers between two numbers, which may be arrays of one element."""
        low, high = (0, int(low)) if high is None else (int(low), int(high))
        if low >= high + bool(endpoint):  # NumPy asks where there is something to draw
            raise ValueError("low >= high")
        np.iinfo(dtype)  # ValueError for booleans, which NumPy draws
        return self._draw(
            "integers", (low, high), {"size": size, "dtype": dtype, "endpoint": endpoint}, dtype
        )

    def random(self, size=None, dtype=float, out=None):
        draw = functools.partial(self._standard, "random", dtype=dtype)
        return _into(out, size, _real(dtype), draw)

    def standard_normal(self, size=None, dtype=float, out=None):
        draw = functools.partial(self._standard, "standard_normal", dtype=dtype)
        return _into(out, size, _real(dtype), draw)

    def standard_exponential(self, size=None, dtype=float, method="inv", out=None):
        if method == "zig":
            raise NotImplementedError("Ziggurat method is not supported")
        draw = functools.partial(self._standard, "standard_exponential", dtype=dtype)
        return _into(out, size, _real(dtype), draw)

    def standard_gamma(self, shape, size=None, dtype=float, out=None):
        if shape is not None and type(shape) not in (float, int, ndarray):
            raise ValueError("shape is required to be a cupy.ndarray or a scalar")

        def draw(size) -> ndarray:
            return self._draw("standard_gamma", (shape, size), {}, dtype)

        return _into(out, size, _real(dtype), draw, layouts="c")

    def exponential(self, scale=1.0, size=None):
        """Without ``size`` one number is drawn, also where there are many scales."""
        return self.standard_exponential(size) * scale

    def gamma(self, shape, scale=1.0, size=None):
        drawn = self.standard_gamma(shape, broadcast(shape, scale).shape if size is None else size)
        drawn *= scale
        return drawn

    def beta(self, a, b, size=None, dtype=float):
        _check_number("a", a)
        _check_number("b", b)
        return self._draw("beta", (a, b, size), {}, dtype)

    def binomial(self, n, p, size=None):
        _check_number("n", n)
        if not isinstance(p, (ndarray, float)):
            raise TypeError("p is required to be a cupy.ndarray or a scalar")
        return self._draw("binomial", (n, p, size), {}, int)

    uniform = _distribution("uniform", low=0.0, high=1.0)
    chisquare = _of_numbers("chisquare", "df")
    dirichlet = _of_numbers("dirichlet", "alpha")
    f = _of_numbers("f", "dfnum", "dfden")
    geometric = _of_numbers("geometric", "p", dtype=int)
    hypergeometric = _of_numbers("hypergeometric", "ngood", "nbad", "nsample", dtype=int)
    logseries = _of_numbers("logseries", "p", dtype=int)
    poisson = _of_numbers("poisson", dtype=int, lam=1.0)
    power = _of_numbers("power", "a")


for _name, _method in checked("Generator", vars(Generator)).items():
    setattr(Generator, _name, _method)


def default_rng(seed=None) -> Generator:
    """A generator from None, an int, an array of ints, a bit generator or a generator."""
    if isinstance(seed, Generator):
        return seed
    return Generator(seed if isinstance(seed, BitGenerator) else XORWOW(seed))


class RandomState(_Source):
    """The older interface, of which each device has one for the module's functions."""

    def __init__(self, seed=None, method=None):
        if method is not None:
            operator.index(method)  # cuRAND's number of it
        self.seed(seed)

    def seed(self, seed=None) -> None:
        if isinstance(seed, np.ndarray):
            seed = [*seed.tobytes()]  # of any type and shape
        elif seed is not None:
            if np.asarray(seed).dtype.kind not in "biu":
                raise TypeError("Seed must be an integer.")
            seed = int(np.asarray(seed))
            if not 0 <= seed < 2**64:
                raise ValueError("Seed must be an integer between 0 and 2**64 - 1")
        self._bit_generator = XORWOW(seed)

    def _draw(self, name: str, args, kwargs, dtype) -> ndarray:
        refuse_library_while_capturing("cuRAND")
        return super()._draw(name, args, kwargs, dtype)

    def rand(self, *size, dtype=float):
        return self.random_sample(size, dtype)

    def randn(self, *size, dtype=float):
        return self.standard_normal(size, dtype)

    def random_sample(self, size=None, dtype=float):
        return self._standard("random", size, dtype)

    def standard_exponential(self, size=None, dtype=float):
        return self._standard("standard_exponential", size, dtype)

    def standard_normal(self, size=None, dtype=float):
        return self._standard("standard_normal", size, dtype)

    def randint(self, low, high=None, size=None, dtype=int):
        """Integers below a number, or between two; where the first is an array, all are."""
        np.iinfo(dtype)  # ValueError for booleans, which NumPy draws
        if np.isscalar(low):
            low, high = (0, int(low)) if high is None else (int(low), int(high))
            if low >= high:  # NumPy asks where there is something to draw
                raise ValueError("low >= high")
        else:
            bounds = [bound for bound in (low, high) if bound is not None]
            if (dtypes := np.result_type(*map(_dtype, bounds))).char not in "iIlLqQ":
                raise ValueError(f"dtype must be integer, got: {dtypes}")
            if isinstance(size, int):
                raise TypeError("reduce() arg 2 must support iteration")
            shape = np.broadcast_shapes(*(np.shape(_plain(bound)) for bound in bounds))
            if size is not None and (
                math.prod(shape) not in (1, math.prod(size))
                or np.broadcast_shapes(shape, size) != tuple(size)
            ):
                raise ValueError(f"bounds of shape {shape} for numbers of shape {size}")
        if isinstance(size, np.integer) or isinstance(size, np.ndarray) and not size.ndim:
            raise TypeError("reduce() arg 2 must support iteration")
        return self._draw("integers", (low, high), {"size": size, "dtype": dtype}, dtype)

    def tomaxint(self, size=None):
        """Integers from 0 to the largest of the default type."""
        return self.randint(0, np.iinfo(int).max, size)

    def choice(self, a, size=None, replace=True, p=None):
        if isinstance(a, ndarray) and a.ndim == 0:
            raise NotImplementedError
        if not isinstance(a, int) and (a is None or np.ndim(_plain(a)) != 1):
            raise ValueError("a must be 1-dimensional or an integer")
        if isinstance(a, int) and a < 0:
            raise ValueError("a must be greater than or equal to 0")
        if size is None:
            raise NotImplementedError("choice() without specifying size is not supported yet")
        if not replace and p is not None:
            raise NotImplementedError
        _fractions(p)
        drawn = replace and p is None  # by randint()
        if isinstance(size, np.ndarray) and not size.ndim or drawn and isinstance(size, np.integer):
            raise TypeError("reduce() arg 2 must support iteration")
        return self._draw("choice", (a,), {"size": size, "replace": replace, "p": p}, None)

    def permutation(self, a):
        if isinstance(a, bool):
            raise TypeError("an integer is required")
        if not isinstance(a, int):
            if not isinstance(a, ndarray):
                raise TypeError(f"an array of the device or an int is permuted, not {type(a)}")
            len(a)  # TypeError for one without dimensions
        elif a < 0:
            raise ValueError("Negative dimensions are not allowed")
        return self._draw("permutation", (a,), {}, None)

    def shuffle(self, a: ndarray) -> None:
        """Shuffle ``a`` along its first axis, in place."""
        if not isinstance(a, ndarray):
            raise TypeError("The array must be cupy.ndarray")
        if not a.ndim:
            raise TypeError("An array whose ndim is 0 is not supported")
        refuse_library_while_capturing("cuRAND")
        _alignment.check(a)
        submit(lambda: self._generator.shuffle(a._array))

    def multivariate_normal(
        self, mean, cov, size=None, check_valid="ignore", tol=1e-8, method="cholesky", dtype=float
    ):
        if not (isinstance(check_valid, str) and check_valid in ("warn", "raise", "ignore")):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        given = {"check_valid": check_valid, "tol": tol, "method": method}
        try:
            made = self._draw("multivariate_normal", (mean, cov, size), given, _real(dtype))
        except np.linalg.LinAlgError:  # a matrix without a factor, of which CuPy makes NaN
            if method != "cholesky" or check_valid == "raise":
                raise
            if check_valid == "warn":
                text = "covariance is not positive-semidefinite, output *is* invalid."
                warnings.warn(text, RuntimeWarning, stacklevel=2)
            made = (
                self._draw("multivariate_normal", (mean, cov * 0, size), {}, _real(dtype)) * np.nan
            )
        # Each part of all the vectors lies together.
        return made.reshape(-1, made.shape[-1]).copy("F").reshape(made.shape)

    beta = _distribution("beta", "a", "b")
    binomial = _distribution("binomial", "n", "p", dtype=int)
    chisquare = _distribution("chisquare", "df")
    dirichlet = _distribution("dirichlet", "alpha", check=_part)
    exponential = _distribution("exponential", scale=1.0, check=_real)
    f = _distribution("f", "dfnum", "dfden")
    gamma = _distribution("gamma", "shape", scale=1.0, check=_part)
    geometric = _distribution("geometric", "p", dtype=int)
    gumbel = _distribution("gumbel", loc=0.0, scale=1.0, check=_real)
    hypergeometric = _distribution(
        "hypergeometric", "ngood", "nbad", "nsample", dtype=int, valid=_sampled
    )
    laplace = _distribution("laplace", loc=0.0, scale=1.0, check=_real)
    logistic = _distribution("logistic", loc=0.0, scale=1.0, check=_real)
    lognormal = _distribution("lognormal", mean=0.0, sigma=1.0, check=_real, valid=_numbers)
    logseries = _distribution("logseries", "p", dtype=int, valid=_likely)
    negative_binomial = _distribution("negative_binomial", "n", "p", dtype=int)
    noncentral_chisquare = _distribution("noncentral_chisquare", "df", "nonc")
    noncentral_f = _distribution("noncentral_f", "dfnum", "dfden", "nonc")
    normal = _distribution("normal", loc=0.0, scale=1.0, check=_real, valid=_numbers)
    pareto = _distribution("pareto", "a", check=_real)
    poisson = _distribution("poisson", lam=1.0, dtype=int)
    power = _distribution("power", "a", check=_real)
    rayleigh = _distribution("rayleigh", scale=1.0, check=_real)
    standard_cauchy = _distribution("standard_cauchy", check=_real)
    standard_gamma = _distribution("standard_gamma", "shape")
    standard_t = _distribution("standard_t", "df")
    triangular = _distribution("triangular", "left", "mode", "right", check=_real)
    uniform = _distribution("uniform", low=0.0, high=1.0, check=_real)
    vonmises = _distribution("vonmises", "mu", "kappa")
    wald = _distribution("wald", "mean", "scale", check=_real)
    weibull = _distribution("weibull", "a", check=_real)
    zipf = _distribution("zipf", "a", dtype=int)


for _name, _method in checked("random", vars(RandomState)).items():
    setattr(RandomState, _name, _method)


_states: dict[int, RandomState] = {}
_lock = threading.Lock()


def get_random_state() -> RandomState:
    """The state of the current device, whose first seed is the environment's ``CUPY_SEED``."""
    device = runtime.getDevice()
    with _lock:
        if device not in _states:
            given = os.environ.get("CUPY_SEED")
            _states[device] = RandomState(None if given is None else int(given))
        return _states[device]


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

    function.__signature__ = _signature(*list(inspect.signature(method).parameters)[1:])
    return named(function, method.__name__)


def random_integers(low, high=None, size=None) -> ndarray:
    """Integers from ``low`` to ``high``, which is among them; from 1 where one number is given."""
    low, high = (1, low) if high is None else (low, high)
    return get_random_state().randint(low, high + 1, size)


def bytes(length: int) -> bytes:
    return np.random.bytes(length)  # noqa: NPY002  (also in CuPy)


def exponential(scale, size=None, dtype=float) -> ndarray:
    return get_random_state().exponential(scale, size, dtype)


def multinomial(n: int, pvals, size=None) -> ndarray:
    """How often each of the outcomes came in ``n`` trials."""
    _fractions(pvals)
    total = np.sum(_plain(pvals))
    if not np.isclose(total, 1):  # NumPy lets the last one make up for it
        raise ValueError(f"probabilities do not sum to 1, but to {total}")
    return get_random_state()._draw("multinomial", (n, pvals, size), {}, int)


beta = _of_state(RandomState.beta)
binomial = _of_state(RandomState.binomial)
chisquare = _of_state(RandomState.chisquare)
choice = _of_state(RandomState.choice)
dirichlet = _of_state(RandomState.dirichlet)
f = _of_state(RandomState.f)
gamma = _of_state(RandomState.gamma)
geometric = _of_state(RandomState.geometric)
gumbel = _of_state(RandomState.gumbel)
hypergeometric = _of_state(RandomState.hypergeometric)
laplace = _of_state(RandomState.laplace)
logistic = _of_state(RandomState.logistic)
lognormal = _of_state(RandomState.lognormal)
logseries = _of_state(RandomState.logseries)
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

globals().update(checked("random", globals()))


def __getattr__(name: str):
    raise missing("cupy.random", name)
