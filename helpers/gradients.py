"""What judges a way back: a Function run there and back, held against finite differences.

Variables and Functions are chapter 70's, the reader's own: they come in as `variable`, the class,
and `function`, the class of Functions.
"""

import numpy as np


def reached(v):
    """Return all Variables that v was made from, v among them, the last made first."""
    found, waiting = {}, [v]
    while waiting:
        u = waiting.pop()
        if u not in found:
            found[u] = None
            waiting.extend(u.inputs)
    return sorted(found, key=lambda u: u.number, reverse=True)


def strict(function, variable, forward, backward):
    """Return a Function that looks at what `forward` and `backward` return. TypeError."""

    def there(xp, *arrays, **options):
        y, like = forward(xp, *arrays, **options), arrays[0]
        if type(y) is not type(like):
            kind = f"{type(y).__module__}.{type(y).__qualname__}"
            raise TypeError(f"forward returned a {kind}, not an array of xp")
        if y.dtype != like.dtype:
            raise TypeError(f"forward returned {y.dtype} for {like.dtype}")
        return y

    def back(g, y, *inputs, **options):
        found = backward(g, y, *inputs, **options)
        if isinstance(found, list):
            raise TypeError("backward returned a list; return a tuple, or one Variable")
        several = found if isinstance(found, tuple) else (found,)
        if len(several) != len(inputs):
            raise TypeError(f"backward returned {len(several)} gradients, not {len(inputs)}")
        for v in several:
            if not isinstance(v, variable):
                raise TypeError(f"backward returned a {type(v).__name__}, not a Variable")
            if g not in reached(v):
                raise TypeError("g must be in what backward returns")
        return found

    return function("yours", there, back)


def there_and_back(function, variable, forward, backward):
    """Return run(*inputs, g) on arrays: the result, the gradients for a gradient g of it, and the
    gradient of the sum of the last of these, for the last input (zeros if it does not depend).

    It goes back by itself: the first to be judged are written before the chapter has a `hand_on`.
    """
    made = strict(function, variable, forward, backward)

    def run(*arrays):
        *inputs, g = map(variable, arrays)
        y = made(*inputs)
        found = made.backward(g, y, *inputs)
        found = found if isinstance(found, tuple) else (found,)
        last = inputs[-1]
        slopes = {found[-1]: found[-1].xp.ones_like(found[-1].data)}
        for u in reached(found[-1]):
            if u.function and u in slopes:
                back = u.function.backward(variable(slopes[u]), u, *u.inputs, **u.options)
                back = back if isinstance(back, tuple) else (back,)
                for v, part in zip(u.inputs, back, strict=True):
                    slopes[v] = slopes[v] + part.data if v in slopes else part.data
        again = slopes.get(last, last.xp.zeros_like(last.data))
        return y.data, *(v.data for v in found), again

    return run


def errors(variable, f, *arrays, seed=70, step=1e-5):
    """Return the largest relative errors of the first and of the second derivatives of f.

    f is a function of Variables, `arrays` float64 arrays of NumPy. Differentiated is the sum of
    f's squared results with random weights, and then of its gradients; the errors are relative to
    the largest derivative, and held against central differences of width 2 `step`.
    """
    rng = np.random.default_rng(seed)
    xs = [variable(a) for a in arrays]
    weights = rng.standard_normal(f(*xs).shape)
    again = [rng.standard_normal(a.shape) for a in arrays]

    def value():
        y = f(*xs)
        return (y * y * weights).sum()

    def slopes(of, **options):
        y = of()  # which may leave gradients behind
        for x in xs:
            x.grad = None
        y.backward(**options)
        return [x.grad for x in xs]

    def value_of_slopes(record=False):
        pairs = zip(slopes(value, record=record), again, strict=True)
        return sum((g * w).sum() for g, w in pairs)

    first = _largest(xs, slopes(value), value, step)
    second = _largest(xs, slopes(lambda: value_of_slopes(True)), value_of_slopes, step)
    return first, second


def _largest(xs, gradients, value, step):
    worst = 0.0
    for x, g in zip(xs, [g.data.copy() for g in gradients], strict=True):
        wanted = np.zeros_like(g)
        for at in np.ndindex(x.shape):
            kept, ends = x.data[at], []
            for sign in (1, -1):
                x.data[at] = kept + sign * step
                ends.append(float(value().data))
            x.data[at] = kept
            wanted[at] = (ends[0] - ends[1]) / (2 * step)
        worst = max(worst, np.abs(g - wanted).max() / max(np.abs(wanted).max(), 1e-300))
    return float(worst)
