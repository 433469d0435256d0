"""Checks for the exercises: a wrong answer does not pass by luck, and is told what is wrong.

Every case has new random data of another size. Around each array lie canaries: values which
nobody may write, and which spoil the result of whoever reads them.
"""

import math

import numpy as np

PAD = 64  # canaries on each side of an array, along the last axis of the larger one it lies in
SEED = 20211224


def check(
    label,
    candidate,
    oracle,
    make_case,
    *,
    rtol,
    atol=0.0,
    n_cases=4,
    contiguous=False,
    out=False,
    seed=SEED,
):
    """Compare `candidate` with `oracle` on random cases and print one line.

    label       the exercise's number, for example "10.1"
    candidate   the reader's function of CuPy arrays and scalars; returns a cupy.ndarray or a tuple
    oracle      the same in NumPy, right and plain
    make_case   function of a numpy.random.Generator; returns the arguments of one case, a tuple of
                NumPy arrays and scalars: sizes random and odd, data without symmetry
    rtol, atol  |got - expected| <= atol + rtol * |expected| must hold for every element; NaN never
                passes
    n_cases     how many cases are tried
    contiguous  False: arrays arrive as strided views by turns (stepped, transposed, reversed).
                True, for RawKernels, which see no strides: contiguous slices of a larger array
    out         True: the candidate gets one more argument, an array of the expected shape and
                dtype, and writes its result there

    The arguments must come back unchanged, and so must the canaries around them and around the
    output. Shape and dtype must be the oracle's. Returns a Verdict, true when all cases agree.
    ValueError: the case itself is unfit (see `_fit`).
    """
    rng = np.random.default_rng(seed)
    for number in range(n_cases):
        case = make_case(rng)
        _fit(case)
        layout = "contiguous" if contiguous else LAYOUTS[number % len(LAYOUTS)]
        expected = oracle(*(_copy(argument) for argument in case))
        complaint = _try(candidate, case, expected, layout, out, rtol, atol)
        if complaint:
            if complaint != NOT_DONE:
                shapes = ", ".join(str(a.shape) for a in case if isinstance(a, np.ndarray))
                which = f"case {number + 1} of {n_cases} ({layout} arrays of {shapes})"
                complaint = f"wrong in {which}: {complaint}"
            print(f"Exercise {label}: {complaint}")
            return Verdict(False)
    print(f"Exercise {label}: correct on {n_cases} cases of odd sizes")
    return Verdict(True)


class Verdict(int):
    """What `check` found, true or false; a notebook does not repeat it below the line printed."""

    def _ipython_display_(self):
        pass


NOT_DONE = "not done yet"
LAYOUTS = ("contiguous", "stepped", "transposed", "reversed")


def _copy(argument):
    return argument.copy() if isinstance(argument, np.ndarray) else argument


def _fit(case):
    """Refuse a case on which a wrong answer could pass: no odd size, or only symmetric data."""
    arrays = [a for a in case if isinstance(a, np.ndarray)]
    if not any(length % 2 and length > 1 for a in arrays for length in a.shape):
        raise ValueError("make_case gave no array with an odd size above 1")

    def plain(a):
        constant = a.size > 1 and (a == a.flat[0]).all()
        return constant or (a.ndim == 2 and a.shape[0] == a.shape[1] and (a == a.T).all())

    if all(plain(a) for a in arrays if a.size > 1):
        raise ValueError(
            "make_case gave only constant or symmetric arrays: a wrong answer could pass"
        )


class _Guarded:
    """A CuPy array (`.view`) that lies inside a larger one, among canaries of its `number`."""

    def __init__(self, number, shape, dtype, layout, values=None):
        import cupy

        shape, dtype = tuple(shape), np.dtype(dtype)
        if layout == "contiguous" or not shape:
            size = math.prod(shape)
            self.before = _canaries((2 * PAD + size,), dtype, number)

            def view(buffer):
                return buffer[PAD : PAD + size].reshape(shape)
        else:
            step = {"stepped": 2, "transposed": 1, "reversed": -1}[layout]
            lengths = shape[::-1] if layout == "transposed" else shape
            pads = (1,) * (len(shape) - 1) + (PAD,)
            larger = tuple(2 * p + abs(step) * n for p, n in zip(pads, lengths, strict=True))
            self.before = _canaries(larger, dtype, number)
            window = tuple(
                slice(p, p + step * n, step) if step > 0 else slice(p + n - 1, p - 1, -1)
                for p, n in zip(pads, lengths, strict=True)
            )

            def view(buffer):
                return buffer[window].T if layout == "transposed" else buffer[window]

        self.inside = np.zeros(self.before.shape, bool)
        view(self.inside)[...] = True
        if values is not None:
            view(self.before)[...] = values
        self.buffer = cupy.asarray(self.before)
        self.view = view(self.buffer)

    def written(self):
        """Return (inside, outside): whether a bit of the array, or around it, has changed."""
        after = self.buffer.get()
        width = after.dtype.itemsize
        changed = _bytes(after, width) != _bytes(self.before, width)
        changed = changed.any(axis=1).reshape(after.shape)
        return bool(changed[self.inside].any()), bool(changed[~self.inside].any())


def _bytes(array, width):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(-1, width)


def _canaries(shape, dtype, number):
    """Return an array of NaNs (of large integers, of True) whose bits differ from number to number.

    So a canary of one array, read too far and written too far in another one, is seen there.
    """
    if dtype.kind == "c":
        return _canaries((*shape, 2), np.empty(0, dtype).real.dtype, number).view(dtype)[..., 0]
    if dtype.kind == "f":
        bits = np.dtype(f"u{dtype.itemsize}")
        nan = np.array(np.nan, dtype).view(bits) | bits.type(0x55 + number)
        return np.full(shape, nan, bits).view(dtype)
    return np.full(shape, True if dtype.kind == "b" else np.iinfo(dtype).max - 86 + number, dtype)


def _try(candidate, case, expected, layout, out, rtol, atol):
    """Run one case; return what is wrong in words, or None."""
    from helpers.device import synchronise

    guards = [
        _Guarded(number, a.shape, a.dtype, layout, a) if isinstance(a, np.ndarray) else a
        for number, a in enumerate(case, 1)
    ]
    arguments = [g.view if isinstance(g, _Guarded) else g for g in guards]
    target = None
    if out:
        expected = np.asarray(expected)
        target = _Guarded(0, expected.shape, expected.dtype, layout)
        arguments.append(target.view)
    try:
        result = candidate(*arguments)
        synchronise()
    except NotImplementedError as error:
        return NOT_DONE if not str(error) else f"NotImplementedError: {error}"
    except Exception as error:  # whatever the reader's code raises is told in one line
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

    for number, guard in enumerate(g for g in guards if isinstance(g, _Guarded)):
        inside, outside = guard.written()
        if outside:
            return f"it wrote outside argument {number + 1}; look at the bounds test"
        if inside:
            return f"it changed argument {number + 1}, which it may only read"
    if target:
        inside, outside = target.written()
        if outside:
            return "it wrote outside the output; look at the bounds test"
        if not inside and expected.size:
            return NOT_DONE
        result = target.view
    if result is None or result is ...:
        return NOT_DONE
    several = isinstance(expected, tuple)
    results = result if several and isinstance(result, tuple) else (result,)
    wanted = expected if several else (expected,)
    if len(results) != len(wanted):
        return f"it returned {len(results)} result(s), expected {len(wanted)}"
    for got, want in zip(results, wanted, strict=True):
        complaint = _compare(got, np.asarray(want), case, rtol, atol)
        if complaint:
            return complaint
    return None


def _compare(result, expected, case, rtol, atol):
    import cupy

    if not isinstance(result, cupy.ndarray):
        kind = f"{type(result).__module__}.{type(result).__qualname__}"
        return f"it returned a {kind}; the result must be a cupy.ndarray"
    if result.shape != expected.shape:
        guess = " It looks transposed." if result.shape == expected.shape[::-1] else ""
        return f"the shape is {result.shape}, expected {expected.shape}.{guess}"
    if result.dtype != expected.dtype:
        return f"the dtype is {result.dtype}, expected {expected.dtype}"
    got = result.get()
    if expected.dtype.kind in "fc" and np.isnan(expected).any():
        raise ValueError("the oracle gave NaN: with such a case nothing can be checked")
    bad = ~_close(got, expected, rtol, atol)
    if not bad.any():
        return None
    where = tuple(int(k) for k in np.argwhere(bad)[0]) if bad.ndim else ()
    element = f"element {list(where)}" if where else "the value"
    return (
        f"{element} is {got[where]:.7g}, expected {expected[where]:.7g}; "
        f"{bad.sum()} of {bad.size} wrong.{_guess(got, expected, bad, case, rtol, atol)}"
    )


def _close(got, expected, rtol, atol):
    """Say element by element whether `got` agrees; integers exactly if both tolerances are 0."""
    if expected.dtype.kind in "biu" and not rtol and not atol:
        return got == expected
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    got, expected = got.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - expected) <= atol + rtol * np.abs(expected)
    return near & ~np.isnan(got) | (got == expected)


def _guess(got, expected, bad, case, rtol, atol):
    """Return a guess at the mistake as a sentence with a space before it, or nothing."""

    def same(a, b):
        return a.size > 1 and a.shape == b.shape and _close(a, b, rtol, atol).all()

    if got.dtype.kind in "fc" and np.isnan(got[bad]).any():
        return " NaN: an element that was never written, or read from outside the array?"
    if got.size > 1 and not got.any():
        return " All zeros: did the kernel run, and over all elements?"
    if got.ndim == 2 and same(got.T, expected):
        return " It looks transposed."
    for number, argument in enumerate(a for a in case if isinstance(a, np.ndarray)):
        if same(got, argument):
            return f" It is argument {number + 1}, unchanged."
    for axis in range(got.ndim):
        inner = [slice(None)] * got.ndim
        inner[axis] = slice(1, -1)
        for by in (1, -1):
            if same(np.roll(got, by, axis)[tuple(inner)], expected[tuple(inner)]):
                return f" It looks shifted by one along axis {axis}."
        for name, index in (("first", 0), ("last", -1)):
            edge = np.zeros_like(bad)
            np.moveaxis(edge, axis, 0)[index] = True
            if got.shape[axis] > 1 and not bad[~edge].any():
                return f" Only the {name} index of axis {axis} is wrong: look at the bounds."
    with np.errstate(all="ignore"):
        ratio = (got.astype(complex) / expected.astype(complex))[expected != 0]
    if (
        ratio.size > 1
        and np.isfinite(ratio).all()
        and ratio[0]
        and np.allclose(ratio, ratio[0], rtol=1e-4)
    ):
        if abs(ratio[0] - 1) < 1e-3:
            return " The values are close: look at the precision."
        return f" Every element is {ratio[0].real:.4g} times what it should be."
    return ""
