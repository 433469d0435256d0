"""Checks for the exercises: a wrong answer does not pass by luck, and is told what is wrong.

Every case has new random data of another size. Around each array lie canaries (see guards.py). The
kernels of the first case are x-rayed for races (see xray/), where there is g++. At the end the last
case is run once more, since a race seldom gives the same answer twice.
"""

import functools
import itertools
import re

import numpy as np

import gpuless
from gpuless.xray import watch as xray_watch
from helpers import conduct, device, guesses
from helpers.guards import LAYOUTS, Guarded, watched

SEED = 20211224
NOT_DONE = "not done yet"
FOR_SHOW = "the values are right, but without your kernels, too: they are launched for show"
KERNEL_SECONDS = 20  # on the stand-in; a launch that takes longer has a loop without an end
LIMITS = {np.dtype("f4"): (1e-5, 1e-6), np.dtype("f8"): (1e-9, 1e-12)}  # rtol and atol
# CUDA's names for faults inside a kernel, in either spelling.
LOST = re.compile(r"(?i)illegal_?address|misaligned_?address|launch_?failed|illegal_?instruction")


def check(
    label,
    candidate,
    oracle,
    make_case,
    *,
    rtol=None,
    atol=None,
    n_cases=4,
    contiguous=False,
    out=False,
    changes=False,
    numpy_too=False,
    max_arrays=None,
    kernels=None,
    stays=False,
    pattern=None,
    most_launches=None,
    largest=None,
    seed=SEED,
):
    """Compare `candidate` with `oracle` on random cases and print one line.

    label       the exercise's number, for example "10.1"
    candidate   the reader's function of CuPy arrays and scalars; returns a cupy.ndarray or a tuple
    oracle      the same in NumPy, right and plain
    make_case   the shapes in letters, "mp,pn" for two matrices that can be multiplied (see
                `shaped`), or a function of a numpy.random.Generator that returns the arguments of
                one case, a tuple of NumPy arrays and scalars: sizes random and odd, data without
                symmetry
    rtol, atol  |got - expected| <= atol + rtol * |expected| must hold for every element; NaN never
                passes. By default 1e-9 and 1e-12 for float64, 1e-5 and 1e-6 for float32 (and for
                the complex types made of them), 0 for integers; atol is 0 if only rtol is given
    n_cases     how many cases are tried
    contiguous  False: arrays arrive as strided views by turns (stepped, transposed, reversed).
                True, for RawKernels, which see no strides: contiguous slices of a larger array
    out         True: the candidate gets one more argument, an array of the expected shape and
                dtype, and writes its result there
    changes     True: the candidate may change its arguments
    numpy_too   True: given NumPy arrays, the candidate must return NumPy's result
    max_arrays  how often the candidate may ask for device memory in one call; None: as it likes
    kernels     how many launches of its own kernels one call makes: a number, or (least, most);
                None: any number
    stays       True: nothing may go to the host or come from there in a call
    pattern     a function of an XRay that says in words what is wrong with a kernel's accesses, or
                returns None: it is asked of the first launch of every kernel in the first case
    most_launches  how many launches one call may make in all, those of CuPy's functions included;
                None: as many as it likes
    largest     how large an array may be that the candidate makes, as a multiple of the bytes of
                the largest argument or result; None: as large as it likes

    The arguments must come back unchanged, and so must the canaries around them, around the output
    and, on a GPU, around every array that the candidate makes. Shape and dtype must be the
    oracle's. The first launch of every kernel in the first case must show no race in an x-ray,
    where that can compile; with CuPy, of the kernels that `watch.launches` can see. Returns a
    Verdict, true when all cases agree. What it cannot see: how long the candidate takes; on a GPU,
    whether kernels are launched for show, and neither `kernels`, `stays` nor `most_launches` where
    the candidate calls what a stream capture refuses (see `conduct.look`).
    ValueError: the case itself is unfit (see `_fit`).
    """
    rng = np.random.default_rng(seed)
    if isinstance(make_case, str):
        make_case = shaped(make_case)

    def attempt(case, layout, fenced=device.on_gpu):
        return _try(candidate, oracle, case, layout, contiguous, out, changes, rtol, atol, fenced)

    for number in range(n_cases):
        case = make_case(rng)
        _fit(case)
        layout = "contiguous" if contiguous else LAYOUTS[number % len(LAYOUTS)]
        if number:
            complaint, _ = attempt(case, layout)
        else:
            with xray_watch.launches(candidate) as launches:
                complaint, _ = attempt(case, layout)
            complaint = complaint or _race(launches) or _pattern(launches, pattern)
        if not complaint and numpy_too:
            complaint = _try_numpy(candidate, oracle, case, rtol, atol)
        if not complaint and number == n_cases - 1:
            with gpuless.another_order():
                complaint, watch = attempt(case, layout)
            if complaint:
                complaint = f"right at first, but run again {complaint} Do two threads race?"
            elif max_arrays is not None and watch.count > max_arrays:
                arrays = "array was" if watch.count == 1 else "arrays were"
                complaint = (
                    f"the values are right, but {watch.count} new {arrays} made where "
                    f"{max_arrays} will do: is there a Python loop, or a temporary array?"
                )
            elif largest is not None and (times := watch.largest / _bytes(case, oracle)) > largest:
                complaint = (
                    f"the values are right, but an array is made that is {times:.0f} times as "
                    "large as any argument or result"
                )
            elif kernels is not None or stays or most_launches is not None:
                wanted = kernels, stays, most_launches
                complaint = _conduct(candidate, oracle, case, layout, out, wanted)
                if not complaint and kernels and gpuless.is_active():
                    with conduct.no_kernels():  # what is right all the same does without them
                        complaint = None if attempt(case, layout, fenced=True)[0] else FOR_SHOW
        if complaint:
            if complaint != NOT_DONE:
                shapes = ", ".join(str(a.shape) for a in case if isinstance(a, np.ndarray))
                which = f"case {number + 1} of {n_cases} ({layout} arrays of {shapes})"
                complaint = f"wrong in {which}: {complaint}"
            print(f"Exercise {label}: {complaint}")
            for _ in range(number + 1, n_cases):  # cases that come by turns stay in step
                make_case(rng)
            return Verdict(False)
    print(f"Exercise {label}: correct on {n_cases} cases of odd sizes")
    return Verdict(True)


def _race(launches):
    """Say which of the kernels that were launched has a race, if its result was right by luck."""
    found = xray_watch.first_race(launches)
    if found is None:
        return None
    name, race = found
    return f"the values are right, but by luck: kernel '{name}' has {race}"


def _pattern(launches, pattern):
    """Say what `pattern` has against the accesses of a kernel that was launched."""
    if pattern is None:
        return None
    said = next(filter(None, map(pattern, xray_watch.found(launches))), None)
    return said and f"the values are right, but {said}"


def _conduct(candidate, oracle, case, layout, out, wanted):
    """Say what is wrong with the launches and transfers of one call, or None."""
    arguments, _, _ = _arguments(case, oracle, layout, out)
    seen = conduct.look(lambda: candidate(*arguments))
    return None if seen is None else conduct.complaint(seen, *wanted)


def judge(look):
    """Wrap look(answer), which says in a line what an exercise's answer is worth.

    Where the answer raises an error (or does not compile, or does not end on the stand-in), the
    line says so: "wrong: CompileException: …". For exercises that `check` does not fit.
    """

    @functools.wraps(look)
    def told(answer):
        said, complaint = _run(look, [answer])
        if complaint is None or complaint == NOT_DONE:
            return complaint or said
        return f"wrong: {complaint}"

    return told


class Verdict(int):
    """What `check` found, true or false; a notebook does not repeat it below the line printed."""

    def _ipython_display_(self):
        pass


def shaped(text):
    """Return a make_case for float64 arrays of normal data, whose shapes are `text`.

    A letter is a size, the same letter the same size, a comma separates arrays: "mn,n" is a matrix
    and a vector that it can be multiplied with. All sizes are odd and below 60, but in every case
    after the first one of them, by turns, is above 1,024, and larger from case to case, for a grid
    that is written as a number (above 128 if an array has it twice).
    """
    shapes = [word.strip() for word in text.split(",")]
    letters = sorted(set("".join(shapes)))
    if not all(shape.isalpha() for shape in shapes):
        raise ValueError(f'shapes are letters and commas, like "mp,pn", not {text!r}')
    turn = itertools.count(-1)

    def make_case(rng):
        small = rng.choice(np.arange(3, 60, 2), len(letters), replace=False)
        sizes = dict(zip(letters, small, strict=True))
        if (now := next(turn)) >= 0:
            large = letters[now % len(letters)]
            twice = any(shape.count(large) > 1 for shape in shapes)
            if twice:
                sizes[large] = rng.choice(np.arange(129, 200, 2))
            else:
                sizes[large] = (2 * now + 1) * rng.choice(np.arange(1025, 1200, 2))
        return tuple(rng.standard_normal([sizes[letter] for letter in shape]) for shape in shapes)

    return make_case


def _copies(case):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in case]


def _bytes(case, oracle):
    """Return the bytes of the largest argument or result."""
    expected = oracle(*_copies(case))
    results = expected if isinstance(expected, tuple) else (expected,)
    return max(np.asarray(a).nbytes for a in (*case, *results))


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


def _arguments(case, oracle, layout, out):
    """Return the arguments for a candidate, their guards (the output's last), what is expected."""
    expected = oracle(*_copies(case))
    guards = [
        Guarded(number, a.shape, a.dtype, layout, a) if isinstance(a, np.ndarray) else a
        for number, a in enumerate(case, 1)
    ]
    if out:
        expected = np.asarray(expected)
        guards.append(Guarded(0, expected.shape, expected.dtype, layout))
    return [g.view if isinstance(g, Guarded) else g for g in guards], guards, expected


def _try(candidate, oracle, case, layout, contiguous, out, changes, rtol, atol, fenced):
    """Run one case; return what is wrong in words, or None, and the Watch over what it made."""
    arguments, guards, expected = _arguments(case, oracle, layout, out)
    target = guards.pop() if out else None
    with watched(fenced) as watch:
        result, complaint = _run(candidate, arguments)
    if complaint:
        return complaint, watch
    for number, guard in enumerate(g for g in guards if isinstance(g, Guarded)):
        inside, outside = guard.written()
        if outside:
            return f"it wrote outside argument {number + 1}; look at the bounds test", watch
        if inside and not changes:
            return f"it changed argument {number + 1}, which it may only read", watch
    if target:
        inside, outside = target.written()
        if outside:
            return "it wrote outside the output; look at the bounds test", watch
        if not inside and expected.size:
            unused = "nothing was written into the last argument; what is returned does not count"
            return NOT_DONE if result is None else unused, watch
        result = target.view
    if watch.outside_written():
        return "it wrote outside an array that it made; look at the bounds test", watch

    def hint(got, want, bad, near):
        guess = guesses.guess(got, want, bad, case, near)
        several = isinstance(expected, tuple)
        return guess or ("" if several else guesses.transposed(got, oracle, case, contiguous, near))

    import cupy

    return _compare_all(result, expected, cupy.ndarray, hint, rtol, atol), watch


def _try_numpy(candidate, oracle, case, rtol, atol):
    """Run one case on NumPy arrays; return what is wrong in words, or None."""
    expected = oracle(*_copies(case))
    result, complaint = _run(candidate, _copies(case))
    if not complaint:
        complaint = _compare_all(
            result, expected, (np.ndarray, np.generic), lambda *_: "", rtol, atol
        )
    return complaint and f"given NumPy arrays: {complaint}"


def _run(candidate, arguments):
    """Return the candidate's result, and what it raised in one line, or None."""
    try:
        with gpuless.time_limit(KERNEL_SECONDS):
            result = candidate(*arguments)
            device.synchronise()
    except NotImplementedError as error:
        return None, NOT_DONE if not str(error) else f"NotImplementedError: {error}"
    except Exception as error:  # whatever the reader's code raises is told in one line
        text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        if LOST.search(text):
            text += "; after this CUDA does nothing more for this process: restart Python"
        return None, text
    return result, None


def _compare_all(result, expected, kind, hint, rtol, atol):
    if result is None or result is ...:
        return NOT_DONE
    several = isinstance(expected, tuple)
    results = tuple(result) if several and isinstance(result, tuple | list) else (result,)
    wanted = expected if several else (expected,)
    if len(results) != len(wanted):
        return f"it returned {len(results)} result(s), expected {len(wanted)}"
    for number, (got, want) in enumerate(zip(results, wanted, strict=True), 1):
        complaint = _compare(got, np.asarray(want), kind, hint, rtol, atol)
        if complaint:
            return f"result {number} of {len(wanted)}: {complaint}" if several else complaint
    return None


def _compare(result, expected, kind, hint, rtol, atol):
    if not isinstance(result, kind):
        found = f"{type(result).__module__}.{type(result).__qualname__}"
        wanted = "numpy.ndarray" if isinstance(kind, tuple) else "cupy.ndarray"
        return f"it returned a {found}; the result must be a {wanted}"
    if result.shape != expected.shape:
        guess = " It looks transposed." if result.shape == expected.shape[::-1] else ""
        return f"the shape is {result.shape}, expected {expected.shape}.{guess}"
    if result.dtype != expected.dtype:
        return f"the dtype is {result.dtype}, expected {expected.dtype}"
    got = np.asarray(result if isinstance(kind, tuple) else result.get())
    if expected.dtype.kind in "fc" and np.isnan(expected).any():
        raise ValueError("the oracle gave NaN: with such a case nothing can be checked")
    usual = LIMITS.get(expected.real.dtype, (0.0, 0.0)) if rtol is None else (rtol, 0.0)
    limits = usual[0], usual[1] if atol is None else atol

    def near(a, b):
        return _close(a, b, *limits)

    bad = ~near(got, expected)
    if not bad.any():
        return None
    where = tuple(int(k) for k in np.argwhere(bad)[0]) if bad.ndim else ()
    element = f"element {list(where)}" if where else "the value"
    is_now, should_be = _in_words(got[where], expected[where])
    return (
        f"{element} is {is_now}, expected {should_be}; "
        f"{bad.sum()} of {bad.size} wrong.{hint(got, expected, bad, near)}"
    )


def _in_words(got, expected):
    """Write both numbers with as few digits as tell them apart, but at least seven."""
    if got.dtype.kind in "biu":
        return str(got), str(expected)
    for digits in (7, 9, 12, 17):
        texts = f"{got:.{digits}g}", f"{expected:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def _close(got, expected, rtol, atol):
    """Say element by element whether `got` agrees; integers exactly if both tolerances are 0."""
    if expected.dtype.kind in "biu" and not rtol and not atol:
        return got == expected
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    got, expected = got.astype(wide), expected.astype(wide)
    with np.errstate(invalid="ignore"):
        near = np.abs(got - expected) <= atol + rtol * np.abs(expected)
    return near & ~np.isnan(got) | (got == expected)
