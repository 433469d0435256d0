"""Generated from notebooks/70_autograd.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import itertools
from contextlib import contextmanager

import numpy as np
import cupy as cp

from helpers.chapters.cnn_mnist import adam_step


class Variable:
    """An array that knows how it was made: function(*inputs, **options)."""

    numbers = itertools.count()
    __array_ufunc__ = None  # in array * Variable, the Variable decides

    def __init__(self, data, function=None, inputs=(), options=None):
        if isinstance(data, (float, np.floating)):
            data = np.asarray(data)
        arrays = np.ndarray, cp.ndarray
        if not isinstance(data, arrays) or data.dtype.kind != "f":
            kind = getattr(data, "dtype", type(data))
            raise TypeError(f"a Variable holds an array of floats, not {kind}")
        self.data, self.grad, self.number = data, None, next(Variable.numbers)
        self.function, self.inputs = function, inputs
        self.options = options or {}

    def __bool__(self):
        raise TypeError(f"{self} is neither true nor false; ask its data")


Variable.shape = property(lambda self: self.data.shape)
Variable.dtype = property(lambda self: self.data.dtype)
Variable.xp = property(lambda self: cp.get_array_module(self.data))
Variable.__repr__ = lambda self: f"{self.dtype} {self.shape}"


class Function:
    """forward(xp, *arrays, **options), backward(g, y, *inputs, **options)."""

    recording, finite = True, False

    def __init__(self, name, forward, backward):
        self.name, self.forward, self.backward = name, forward, backward

    def __call__(self, *inputs, **options):
        inputs = [x if isinstance(x, Variable) else Variable(x) for x in inputs]
        data = self.compute(inputs, options)
        if not Function.recording:
            return Variable(data)
        return Variable(data, self, inputs, options)


Function.on = lambda f, inputs: f"{f.name} of " + " and ".join(map(str, inputs))


def compute(self, inputs, options):
    try:
        if len({(type(x.data), x.dtype) for x in inputs}) > 1:
            raise TypeError("one dtype for all, and all NumPy's or all CuPy's")
        data = self.forward(inputs[0].xp, *(x.data for x in inputs), **options)
    except (TypeError, ValueError, IndexError) as error:
        raise type(error)(f"{self.on(inputs)}: {error}") from None
    if Function.finite and not inputs[0].xp.isfinite(data).all():
        raise FloatingPointError(f"{self.on(inputs)} gives NaN or infinity")
    return data


Function.compute = compute


add = Function("add", lambda xp, a, b: a + b, lambda g, y, a, b: (g, g))
mul = Function(
    "mul", lambda xp, a, b: a * b, lambda g, y, a, b: (mul(g, b), mul(g, a))
)
scale = Function(
    "scale", lambda xp, x, c: c * x, lambda g, y, x, c: scale(g, c=c)
)
shift = Function("shift", lambda xp, x, c: x + c, lambda g, y, x, c: g)
power = Function(
    "power",
    lambda xp, x, c: x**c,
    lambda g, y, x, c: mul(g, scale(power(x, c=c - 1 if c else 0), c=c)),
)


def hand_on(self):
    got = self.function.backward(self.grad, self, *self.inputs, **self.options)
    got = got if isinstance(got, tuple) else (got,)
    for x, g in zip(self.inputs, got, strict=True):
        if g.shape != x.shape:
            name = self.function.on(self.inputs)
            raise ValueError(f"{name}: the gradient for {x.shape} is {g.shape}")
        x.grad = g if x.grad is None else add(x.grad, g)


Variable.hand_on = hand_on


def history(self):
    made, waiting = {}, [self]
    while waiting:
        v = waiting.pop()
        if v.inputs is None:
            raise RuntimeError(f"backward() freed what made {v}")
        if v.function and v not in made:
            made[v] = None
            waiting.extend(v.inputs)
    return sorted(made, key=lambda v: v.number, reverse=True)


Variable.history = history


@contextmanager
def using(**switches):
    before = {name: getattr(Function, name) for name in switches}
    try:
        for name, value in switches.items():
            setattr(Function, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(Function, name, value)


def backward(self, keep=False, record=False):
    """Add the gradient of self, one number, to that of all it was made from."""
    if self.function is None:
        raise RuntimeError(f"nothing was recorded for this {self}")
    if self.data.size != 1:
        raise ValueError(f"backward from {self} needs a single number: sum it")
    order = self.history()[::-1]
    for v in order:
        v.grad = None
    self.grad = Variable(self.xp.ones_like(self.data))
    with using(recording=record):
        while order:
            v = order.pop()  # out of the list as well, so that its array can go
            v.hand_on()
            if not keep:
                v.grad = None
            if not keep and not record:
                v.inputs = None


Variable.backward = backward


def operator(function, with_number):
    def apply(x, other):
        if np.isscalar(other):
            return with_number(x, c=float(other))
        pair = [x, other if isinstance(other, Variable) else Variable(other)]
        if pair[0].shape != pair[1].shape:
            pair = broadcast(function, pair)
        return function(*pair)

    return apply


Variable.__add__ = Variable.__radd__ = operator(add, shift)
Variable.__mul__ = Variable.__rmul__ = operator(mul, scale)
Variable.__neg__ = lambda x: -1 * x
Variable.__sub__ = lambda x, other: x + -other
Variable.__rsub__ = lambda x, other: -x + other
Variable.__pow__ = lambda x, c: power(x, c=c)
Variable.__truediv__ = lambda x, other: x * other**-1
Variable.__rtruediv__ = lambda x, other: other * x**-1


def add_up(xp, x, shape):
    ones = (1,) * (x.ndim - len(shape)) + shape
    axes = tuple(i for i, n in enumerate(ones) if n < x.shape[i])
    return x.sum(axis=axes).reshape(shape)


broadcast_to = Function(
    "broadcast_to",
    lambda xp, x, shape: xp.broadcast_to(x, shape),
    lambda g, y, x, shape: sum_to(g, shape=x.shape),
)
sum_to = Function(
    "sum_to", add_up, lambda g, y, x, shape: broadcast_to(g, shape=x.shape)
)


def broadcast(function, pair):
    try:
        wide = np.broadcast_shapes(*(v.shape for v in pair))
    except ValueError as error:
        raise ValueError(f"{function.on(pair)}: {error}") from None
    return [v if v.shape == wide else broadcast_to(v, shape=wide) for v in pair]


reshape = Function(
    "reshape",
    lambda xp, x, shape: x.reshape(shape),
    lambda g, y, x, shape: reshape(g, shape=x.shape),
)
transpose = Function("T", lambda xp, x: x.T, lambda g, y, x: transpose(g))
Variable.T = property(lambda x: transpose(x))


def total(x, axis=None, keepdims=False):
    axes = range(x.data.ndim) if axis is None else [range(x.data.ndim)[axis]]
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    y = sum_to(x, shape=kept)
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return y if keepdims else reshape(y, shape=shape)


Variable.sum = total
Variable.mean = lambda x: x.sum() / x.data.size


exp = Function("exp", lambda xp, x: xp.exp(x), lambda g, y, x: g * y)
log = Function("log", lambda xp, x: xp.log(x), lambda g, y, x: g / x)
tanh = Function("tanh", lambda xp, x: xp.tanh(x), lambda g, y, x: g - g * y * y)


def squash(xp, x):
    return 0.5 + 0.5 * xp.tanh(0.5 * x)  # 1 / (1 + exp(-x)) would overflow


def let_through(g, y, x):
    return g * (y.data > 0).astype(y.dtype)


sigmoid = Function("sigmoid", squash, lambda g, y, x: g * (y * (1 - y)))
relu = Function("relu", lambda xp, x: xp.maximum(x, 0), let_through)


def product(xp, a, b):
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError("columns of the first must be rows of the second")
    return a @ b


def put_at(xp, g, index, shape):
    x = xp.zeros(shape, g.dtype)
    xp.add.at(x, index, g)  # an element taken twice is added twice
    return x


matmul = Function("matmul", product, lambda g, y, a, b: (g @ b.T, a.T @ g))
getitem = Function(
    "getitem",
    lambda xp, x, index: x[index],
    lambda g, y, x, index: put(g, index=index, shape=x.shape),
)
put = Function("put", put_at, lambda g, y, x, index, shape: g[index])
Variable.__matmul__ = lambda a, b: matmul(a, b)
Variable.__getitem__ = lambda x, index: getitem(x, index=index)


# @title Solution 70.3
def mean_squared_error(x, t):
    if x.shape != t.shape:
        raise ValueError(f"results of {x.shape} and targets of {t.shape}")
    return ((x - t) ** 2).mean()


def softmax_cross_entropy(x, t):
    """Mean of -log(p of the right class), for x (N, n_class) and t (N,) int."""
    if t.shape != x.shape[:1] or t.dtype.kind not in "iu":
        raise ValueError(f"labels {t.dtype} {t.shape} for results {x.shape}")
    x = x - x.data.max(axis=1, keepdims=True)
    log_p = x - log(exp(x).sum(axis=1, keepdims=True))
    return -log_p[x.xp.arange(len(t)), t].mean()


class Parameter(Variable):
    """A Variable that learns."""


class Link:
    """A function whose Parameters are its own and those of the Links in it."""

    def cleargrads(self):
        for p in self.params():
            p.grad = None


class Chain(Link):
    """A Link made of Links."""


# @title Solution 70.4
def find(link):
    found = []
    for value in vars(link).values():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(one, Parameter):
                found.append(one)
            elif isinstance(one, Link):
                found += find(one)
    return list(dict.fromkeys(found))


Link.params = find


class Linear(Link):
    def __init__(self, n_in, n_out, rng, xp=np, dtype=np.float32):
        w = rng.standard_normal((n_in, n_out)) / n_in**0.5
        self.w = Parameter(xp.asarray(w.astype(dtype)))
        self.b = Parameter(xp.zeros(n_out, dtype))

    def __call__(self, x):
        return matmul(x, self.w) + self.b


class Optimizer:
    def __init__(self, link, rate):
        self.link, self.rate = link, rate

    def update(self):
        if not self.link.params():
            raise RuntimeError("no Parameters in this link: nothing learns")
        for p in self.link.params():
            if p.grad is None:
                raise RuntimeError(f"no gradient for {p}: call backward first")
            self.step(p, p.grad.data)


class Adam(Optimizer):
    def __init__(self, link, rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        super().__init__(link, rate)
        self.betas, self.eps, self.t, self.means = (beta1, beta2), eps, 0, {}

    def update(self):
        self.t += 1
        super().update()

    def step(self, p, g):
        if p not in self.means:
            self.means[p] = p.xp.zeros_like(p.data), p.xp.zeros_like(p.data)
        (beta1, beta2), t = self.betas, self.t
        numbers = 1 - beta1, 1 - beta2, self.rate / (1 - beta1**t), 1 - beta2**t
        adam_step(p.data, *self.means[p], g, *numbers, self.eps)
