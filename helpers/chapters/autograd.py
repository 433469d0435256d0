"""Generated from notebooks/70_autograd.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import itertools
from contextlib import contextmanager

import numpy as np
import cupy as cp

from helpers.chapters.cnn_mnist import adam_step


class Variable:
    """An array of NumPy or CuPy that knows how it was made: function(*inputs, **options)."""

    numbers = itertools.count()
    __array_ufunc__ = None  # in array * Variable, the Variable decides

    def __init__(self, data, function=None, inputs=(), options=None):
        if isinstance(data, (float, np.floating)):
            data = np.asarray(data)
        if not isinstance(data, (np.ndarray, cp.ndarray)) or data.dtype.kind != "f":
            kind = getattr(data, "dtype", type(data))
            raise TypeError(f"a Variable holds an array of floats, not {kind}")
        self.data, self.grad, self.number = data, None, next(Variable.numbers)
        self.function, self.inputs, self.options = function, inputs, options or {}


Variable.shape = property(lambda self: self.data.shape)
Variable.dtype = property(lambda self: self.data.dtype)
Variable.xp = property(lambda self: cp.get_array_module(self.data))
Variable.__repr__ = lambda self: f"{self.dtype} {self.shape}"


class Function:
    """forward(xp, *arrays, **options) returns an array of the module xp, backward(g, y,
    *inputs, **options) what the gradient g of y makes of each input; all are Variables."""

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
    """Return forward's array; whatever goes wrong, the error names function and shapes."""
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


def hand_on(self):
    """Add to the gradient of each input what self.grad makes of it."""
    grads = self.function.backward(self.grad, self, *self.inputs, **self.options)
    grads = grads if isinstance(grads, tuple) else (grads,)
    for x, g in zip(self.inputs, grads, strict=True):
        if g.shape != x.shape:
            name = self.function.on(self.inputs)
            raise ValueError(f"{name}: the gradient for {x.shape} is {g.shape}")
        x.grad = g if x.grad is None else add(x.grad, g)


Variable.hand_on = hand_on


scale = Function("scale", lambda xp, x, c: c * x, lambda g, y, x, c: scale(g, c=c))
shift = Function("shift", lambda xp, x, c: x + c, lambda g, y, x, c: g)
power = Function(
    "power",
    lambda xp, x, c: x**c,
    lambda g, y, x, c: mul(g, scale(power(x, c=c - 1 if c else 0), c=c)),
)


def history(self):
    """Return the Variables behind self that functions made, the last made first."""
    made, waiting = {}, [self]
    while waiting:
        v = waiting.pop()
        if v.inputs is None:
            raise RuntimeError(f"{v.function.name} gave {v}; backward() freed it")
        if v.function and v not in made:
            made[v] = None
            waiting.extend(v.inputs)
    return sorted(made, key=lambda v: v.number, reverse=True)


Variable.history = history


@contextmanager
def using(**switches):
    """Within `with using(recording=False):` nothing is recorded; finite=True looks for NaN."""
    before = {name: getattr(Function, name) for name in switches}
    try:
        for name, value in switches.items():
            setattr(Function, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(Function, name, value)


def backward(self, keep=False, record=False):
    """Add the gradient of self, one number, to x.grad for all x that it was made from.
    The graph is freed unless keep or record is true; record records this pass too."""
    if self.function is None:
        raise RuntimeError(f"nothing was recorded for this {self}")
    if self.data.size != 1:
        what = f"{self.function.name} gave {self}"
        raise ValueError(f"{what}; backward needs a single number: sum it")
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
        shape = np.broadcast_shapes(*(v.shape for v in pair))
    except ValueError as error:
        raise ValueError(f"{function.on(pair)}: {error}") from None
    return [v if v.shape == shape else broadcast_to(v, shape=shape) for v in pair]


reshape = Function(
    "reshape",
    lambda xp, x, shape: x.reshape(shape),
    lambda g, y, x, shape: reshape(g, shape=x.shape),
)
transpose = Function("transpose", lambda xp, x: x.T, lambda g, y, x: transpose(g))
Variable.T = property(lambda x: transpose(x))


def total(x, axis=None, keepdims=False):
    """x.sum(): over one axis, or over all; keepdims as in NumPy."""
    axes = range(x.data.ndim) if axis is None else [range(x.data.ndim)[axis]]
    kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    y = sum_to(x, shape=kept)
    shape = tuple(n for i, n in enumerate(x.shape) if i not in axes)
    return y if keepdims else reshape(y, shape=shape)


Variable.sum = total
Variable.mean = lambda x: x.sum() / x.data.size


exp = Function("exp", lambda xp, x: xp.exp(x), lambda g, y, x: g * y)
log = Function("log", lambda xp, x: xp.log(x), lambda g, y, x: g / x)
sin = Function("sin", lambda xp, x: xp.sin(x), lambda g, y, x: g * cos(x))
cos = Function("cos", lambda xp, x: xp.cos(x), lambda g, y, x: g * -sin(x))
tanh = Function("tanh", lambda xp, x: xp.tanh(x), lambda g, y, x: g * (1 - y * y))


sigmoid = Function(
    "sigmoid",
    lambda xp, x: 0.5 + 0.5 * xp.tanh(0.5 * x),  # with exp it would overflow
    lambda g, y, x: g * (y * (1 - y)),
)
relu = Function(
    "relu",
    lambda xp, x: xp.maximum(x, 0),
    lambda g, y, x: g * (y.data > 0).astype(y.dtype),
)


def product(xp, a, b):
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
        raise ValueError("columns of the first must be rows of the second")
    return a @ b


matmul = Function("matmul", product, lambda g, y, a, b: (g @ b.T, a.T @ g))
Variable.__matmul__ = lambda a, b: matmul(a, b)


def put_at(xp, g, index, shape):
    x = xp.zeros(shape, g.dtype)
    xp.add.at(x, index, g)  # an element taken twice is added twice
    return x


getitem = Function(
    "getitem",
    lambda xp, x, index: x[index],
    lambda g, y, x, index: put(g, index=index, shape=x.shape),
)
put = Function("put", put_at, lambda g, y, x, index, shape: getitem(g, index=index))
Variable.__getitem__ = lambda x, index: getitem(x, index=index)


def softmax_cross_entropy(x, t):
    """Mean of -log(probability of the right class), for x (N, n_class) and t (N,) int."""
    x = x - x.data.max(axis=1, keepdims=True)
    log_p = x - log(exp(x).sum(axis=1, keepdims=True))
    return -log_p[x.xp.arange(len(t)), t].mean()


def mean_squared_error(x, t):
    """Mean of (x - t)**2, for x and t of one shape."""
    return (add(x, -t) ** 2).mean()


class Parameter(Variable):
    """A Variable that learns."""


class Link:
    """A function with parameters: those of its attributes that are Parameters."""

    def params(self):
        return [p for p in vars(self).values() if isinstance(p, Parameter)]

    def cleargrads(self):
        for p in self.params():
            p.grad = None


class Linear(Link):
    """y = x w + b: x (N, n_in) becomes y (N, n_out). The numbers are drawn from rng."""

    def __init__(self, n_in, n_out, rng, xp=np, dtype=np.float32):
        w = rng.standard_normal((n_in, n_out)) / n_in**0.5
        self.w = Parameter(xp.asarray(w.astype(dtype)))
        self.b = Parameter(xp.zeros(n_out, dtype))

    def __call__(self, x):
        return matmul(x, self.w) + self.b


class Chain(Link):
    """A Link made of Links: its parameters are its own and theirs."""

    def params(self):
        links = [link for link in vars(self).values() if isinstance(link, Link)]
        return super().params() + [p for link in links for p in link.params()]


class Optimizer:
    """Changes a link's parameters by their gradients. Subclasses have step(p, g)."""

    def __init__(self, link, rate):
        self.link, self.rate = link, rate

    def update(self):
        for p in self.link.params():
            if p.grad is None:
                raise RuntimeError(f"no gradient for {p}: call backward first")
            self.step(p, p.grad.data)


class SGD(Optimizer):
    def step(self, p, g):
        p.data -= self.rate * g


class Adam(Optimizer):
    """Chapter 50's Adam, for all parameters of a link."""

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
