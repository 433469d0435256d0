"""What CuPy's functions refuse to do, while SciPy's of the same name do it."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from cupy._core._ndarray import ndarray
from cupy.cuda import stream

from gpuless import not_covered


def _hankel(given: dict) -> str | None:
    ends = (given["mu"] + 1 - given.get("bias", 0)) / 2
    if np.ndim(ends) == 0 and ends < 0 and ends == int(ends):
        return "NaN for this bias, at which the transform has no inverse"


def _kinds(given: dict) -> str | None:
    if given.get("type", 2) in (1, 4):
        return "Only the transforms of the types II and III have been implemented."


def _inside(given: dict, *, turned: bool = False, both: bool = False, end: str = "") -> str | None:
    """SciPy reads beyond the image for an ``origin`` outside of a structure of booleans, which a
    dilation has ``turned``."""
    structure, origin = given.get("structure" + end), np.ravel(given.get("origin" + end, 0))
    shape = (3,) * max(len(origin), 1) if structure is None else np.shape(structure)
    if not origin.any() or len(origin) not in (1, len(shape)):
        return None
    middle, shape = np.array(shape) // 2, np.array(shape)
    places = [middle + origin] * (both or not turned)
    places += [middle - origin - (shape % 2 == 0)] * (both or turned)
    if any(((place < 0) | (place >= shape)).any() for place in places):
        return "an origin outside of the structure; it reads other pixels there."
    return None


def _hits(given: dict) -> str | None:
    first, second = given.get("structure1"), given.get("structure2")
    more = {"structure2": first if second is None else second}
    if given.get("origin2") is None:
        more["origin2"] = given.get("origin1", 0)
    return _inside(given, end="1") or _inside(given | more, end="2")


def _iterations(given: dict, **ways) -> str | None:
    if why := _inside(given, **ways):
        return why
    if given.get("iterations", 1) == 1 or given.get("brute_force"):
        return None
    structure = given.get("structure")
    if structure is not None:
        structure = structure._array if isinstance(structure, ndarray) else np.asarray(structure)
        moved = np.broadcast_to(given.get("origin", 0), structure.ndim)
        if not structure[tuple(n // 2 + by for n, by in zip(structure.shape, moved, strict=True))]:
            return None
    return "only brute_force iteration has been implemented"


def _iterated(given: dict) -> str | None:
    """CuPy dilates a structure without ``brute_force``."""
    more = given.get("iterations", 1) - 1
    return _iterations({"structure": given["structure"], "iterations": more}) if more > 1 else None


def _distances(given: dict) -> str | None:
    image = given["input"]
    if image.dtype.kind == "c":
        raise TypeError("CuPy's kernel does not compile for complex numbers")
    if image.ndim not in (2, 3):
        return "Only 2D and 3D distance transforms are supported."
    if not stream.capturing():
        stream.catch_up()
        if image._array.all():
            return "an image without a 0 gives distances to no place of it, others than SciPy's."


def _upfirdn(given: dict) -> str | None:
    if given.get("mode") not in (None, "constant") or given.get("cval", 0) != 0:
        return "mode and cval of upfirdn are not implemented."


def is_parzen(window) -> bool:
    name = window[0] if isinstance(window, tuple) and len(window) == 1 else window
    return isinstance(name, str) and name in ("parzen", "parz", "par")


_ONLY_SCIPYS = """dpss dss kaiser_bessel_derived optimal slep slepian taylor taylorwin""".split()
_WITH_PARAMETERS = "exponential poisson tukey tuk".split()  # which SciPy's may go without


# Entries of a tuple that CuPy does not fill up.
_LENGTHS = {"exponential": 3, "poisson": 3, "tukey": 2, "tuk": 2}


def check_window(window) -> None:
    """ValueError for a window's name that CuPy does not take."""
    name = window[0] if isinstance(window, tuple) and window else window
    if not isinstance(name, str):
        return
    if name in _ONLY_SCIPYS or name.endswith(("_periodic", "_symmetric")):
        raise ValueError("Unknown window type.")
    if name not in ("general_cosine", "general_hamming") and any(
        isinstance(v, ndarray) for v in window[1:]
    ):
        raise TypeError(f"CuPy's kernel of the {name!r} window takes no device array")
    if isinstance(window, tuple) and len(window) < _LENGTHS.get(name, 0):
        raise ValueError(
            f"The {name!r} window needs all of its parameters: CuPy takes fftbins for one."
        )
    if window in _WITH_PARAMETERS:
        raise ValueError(f"The {name!r} window needs one or more parameters -- pass a tuple.")


def _window(given: dict) -> None:
    check_window(given.get("window"))
    if is_parzen(given.get("window")):
        raise not_covered("the window called 'parzen' outside of get_window")


def _padded(given: dict) -> None:
    _window(given)
    if given.get("padtype", "constant") != "constant" or given.get("cval") is not None:
        raise ValueError("padtype and cval arguments are not supported by upfirdn")


def _summed(given: dict) -> str | None:
    """CuPy sums in the type of the smaller array, and cuts off what no integer holds."""
    _constants(given)
    filled = given.get("boundary", "fill") in ("fill", "pad")
    if filled:
        constant(given.get("fillvalue", 0))
    large, small = given.get("in1"), given.get("in2")
    if not (isinstance(large, ndarray) and isinstance(small, ndarray)):
        return None
    if given.get("method") == "fft" or not (large.size and small.size):
        return None
    if large.ndim != 1 and large.dtype in (np.bool_, np.float16):
        raise ValueError("unsupported type in SciPy")
    plain = filled and given.get("fillvalue", 0) == 0
    if small.size > large.size and (plain or given.get("mode") == "valid"):
        large, small = small, large
    whole = small.dtype.kind in "iu" and not np.can_cast(small.dtype, large.dtype)
    made = np.promote_types(small.dtype, large.dtype)
    if whole and made != small.dtype:
        return f"a sum in {small.dtype} of {large.dtype}; give both of them one dtype."
    if large.dtype.kind == "c" and small.dtype.kind == "f" and made != large.dtype:
        raise TypeError(f"CuPy's kernel does not compile for {large.dtype} and {small.dtype}")
    return None


def _apart(given: dict) -> str | None:
    return None if given.get("tol", 1) > 0 else "no roots at all for a tol that is not positive."


def _tapped(given: dict) -> str | None:
    taps = given.get("taps")
    if taps is not None and given["nbits"] in _host(taps):
        return f"a tap at {given['nbits']}; its kernel reads beyond the memory of the state."
    return None


def _flat(given: dict) -> None:
    if np.ndim(given["input"]) != 2:
        raise ValueError("input must be 2d")


def _axes(given: dict) -> None:
    if not np.ndim(given["volume"]):
        raise not_covered("cupyx.scipy.signal.medfilt of a single number")


def _orders(given: dict) -> None:
    for value in (given["n"], given["x"]):
        if not isinstance(value, ndarray):
            raise TypeError(f"polygamma() takes arrays of the device, not {type(value)}")
    if given["n"].dtype.kind == "c":
        raise TypeError("polygamma() takes no complex orders")


def _two_of_them(given: dict) -> None:
    if given.get("q") is None:
        raise TypeError("zeta() takes two arguments")
    for value in (given["x"], given["q"]):
        if getattr(value, "dtype", np.dtype(float)).kind == "c" or isinstance(value, complex):
            raise TypeError("zeta() takes no complex numbers")


def _of_reals(given: dict) -> str | None:
    """CuPy drops the imaginary part of a complex coefficient here and there."""
    system = given.get("system") or ()
    if len(system) == 3:  # zeros, poles and a gain
        return
    for value in system or (given.get("a", 0), given.get("b", 0)):
        if np.iscomplexobj(value._array if isinstance(value, ndarray) else value):
            return "complex coefficients, of which it drops the imaginary parts"


def _of_floats(given: dict) -> str | None:
    signal = given["signal"]
    if isinstance(signal, ndarray) and signal.dtype.kind not in "fc" and signal.size > 1:
        return "integers, in which it sums, so that most of the result is 0; make them floats."


NOTHING = "CuPy's kernels of recursive filters read beyond the memory of a signal without numbers"


def _something(given: dict) -> None:
    if isinstance(x := given.get("x"), ndarray) and not x.size:
        raise ValueError(NOTHING)


def _both_ways(given: dict) -> None:
    _something(given)
    if given.get("method", "pad") != "pad":
        return
    x, lengths = given["x"], [np.size(_host(given[name])) for name in "ba"]
    edge = 0 if "padtype" in given and given["padtype"] is None else given.get("padlen")
    n = np.shape(_host(x))[given.get("axis", -1)] + 2 * (3 * max(lengths) if edge is None else edge)
    for kept in (length - 1 for length in lengths):
        if n < kept and n - max(2 * n - kept, 0) != 1:
            raise ValueError("CuPy keeps more numbers of a filter than there are in this signal")


def _smoothed(given: dict) -> None:
    if given.get("mode") == "constant":
        constant(given.get("cval", 0))


def _nyquist(given: dict) -> str | None:
    above, below, count = given.get("b", 1), given.get("a", 1), given.get("worN", 512)
    sizes = [v.size if isinstance(v, ndarray) else np.size(v) for v in (above, below)]
    count = 512 if count is None else count
    transforms = isinstance(count, int) and count >= sizes[0] > 1 and sizes[1] == 1
    if transforms and given.get("include_nyquist") and not given.get("whole"):
        return "include_nyquist without poles; the response is then that of other frequencies."


def _in_time(given: dict) -> str | None:
    if given.get("domain") == "freq" and given["x"].dtype.kind != "c":
        return "a spectrum of real numbers"


def _whole_orders(given: dict) -> str | None:
    n = given["n"]
    kind = n.dtype.kind if isinstance(n, ndarray) else np.asarray(n).dtype.kind
    if kind not in "biu" or getattr(n, "dtype", None) == np.uint64:
        raise TypeError("spherical_yn() takes orders that are integers")
    n = n._array if isinstance(n, ndarray) else np.asarray(n)
    if n.size and n.min() < 0:
        return "negative orders"
    if given.get("derivative") and n.size and n.min() < 2:
        raise not_covered("cupyx.scipy.special.spherical_yn: CuPy's derivative of orders 0 and 1")
    return _complex(given)


def _zeros(given: dict) -> str | None:
    if np.ndim(given["z"]) > 1:
        return "zpk2tf: z.ndim is more than 1."
    for roots in (given["z"], given["p"]):
        roots = _host(roots)
        if roots.dtype.kind == "c":
            one = np.sort_complex(roots)
            if not np.allclose(one, np.sort_complex(one.conj())):
                return "complex roots without their conjugates"


def _paired(given: dict) -> str | None:
    """Of a system's zeros and poles, if it has been given by these."""
    system = given["system"]
    if isinstance(system, tuple) and len(system) == 3:
        return _zeros({"z": system[0], "p": system[1]})


def _of_steps(given: dict) -> None:
    if 1 in (given.get("n"), np.size(given["t"]) if given.get("t") is not None else 100):
        raise not_covered("cupyx.scipy.signal.dimpulse of one step")


def _timed(given: dict) -> str | None:
    system = given["system"]
    if given.get("T") is not None and np.ndim(given["T"]) == 0 and isinstance(system, tuple):
        if np.size(_host(system[len(system) < 4])) - (len(system) == 2) == 1:  # one state
            raise ValueError("Scalar operands are not allowed: impulse() needs an array of times")
    return _paired(given)


def _resynthesized(given: dict) -> None:
    _window(given)
    spectrum = given["Zxx"]
    if given.get("nfft") is None and given.get("input_onesided", True):
        if isinstance(spectrum, ndarray) and spectrum.ndim > 1:
            if spectrum.shape[given.get("freq_axis", -2)] == 1:
                raise ValueError("a spectrum of one frequency has no length")


def _in_sections(given: dict) -> None:
    if given.get("analog") or given.get("pairing") == "minimal":
        return
    both = given["z"], given["p"]
    for roots in both:
        if isinstance(roots, (list, tuple)) and any(map(np.size, both)):
            raise TypeError(f"Unsupported type {type(roots)}")


def _poles(given: dict) -> None:
    """SciPy takes equal poles as they stand, CuPy in groups, each with the mean of them."""
    poles, tol = np.atleast_1d(_host(given["p"])), given.get("tol", 1e-3)
    near = np.abs(poles[:, None] - poles) < tol
    apart = np.arange(len(poles))
    for first, second in zip(*np.nonzero(near & (apart[:, None] < apart)), strict=True):
        if (poles[first : second + 1] != poles[first]).any():
            raise ValueError("equal poles must be adjacent, and not merely near each other")


def _branch(given: dict) -> None:
    if not np.can_cast(_host(given.get("k", 0)).dtype, np.int64):
        raise TypeError("lambertw() takes a k that is an integer")
    if np.any(_host(given.get("tol", 1e-8)) > 1e-6):  # so few steps that they are not SciPy's
        raise not_covered("cupyx.scipy.special.lambertw with a wide tol")


def _host(value):
    return value._array if isinstance(value, ndarray) else np.asarray(value)


def _in_itself(given: dict) -> str | None:
    if given.get("output") is given["input"]:
        return "the kernel reads the input while it writes the output, which is the same."
    return _over_itself(given)


def _over_itself(given: dict) -> str | None:
    source, output = given["input"], given.get("output")
    if output is not source and isinstance(output, ndarray):
        if np.may_share_memory(source._array, output._array):
            return "the input is copied into the output, and they overlap in part."


def _splined(given: dict) -> str | None:
    output = given.get("output")  # in which CuPy's kernel works, where its memory is in one piece
    in_it = isinstance(output, ndarray) and output.flags.c_contiguous
    return _over_itself(given) if in_it else None


def _systems(given: dict) -> None:
    shapes = {}
    for name in "ABCD":
        if (matrix := given.get(name)) is not None:
            shapes[name] = np.atleast_2d(_host(matrix)).shape
    sizes = {}
    for name, letters in (("A", "pp"), ("B", "pq"), ("C", "rp"), ("D", "rq")):
        for letter, size in zip(letters, shapes.get(name, ()), strict=False):
            sizes.setdefault(letter, size)
            if size != sizes[letter] and shapes[name] != (0, 0):
                raise ValueError("The input arrays have incompatible shapes.")


def _no_halves(given: dict) -> None:
    for values in given.values():
        if isinstance(values, ndarray) and values.dtype == np.float16:
            raise TypeError("array type float16 is unsupported in linalg")


def _signed(given: dict) -> None:
    for values in given.values():
        if getattr(values, "dtype", None) == np.bool_:
            raise TypeError("The boolean negative, the `-` operator, is not supported")


def _bessel(given: dict) -> str | None:
    if given.get("ftype") == "bessel":
        return "'bessel' is not implemented in iirfilter."


def _derivatives(given: dict) -> str | None:
    if given.get("diff_n", 0) != 0:
        return "Derivatives not implemented."


def _complex(given: dict) -> str | None:
    if getattr(given["z"], "dtype", np.dtype(float)).kind == "c" or isinstance(given["z"], complex):
        return "complex numbers"


_MODES = "reflect constant nearest mirror wrap grid-mirror grid-wrap".split()


def _modes(given: dict) -> bool:
    """Whether one of the modes is 'constant'."""
    if "input" not in given:
        return False
    modes = given.get("mode", "reflect")
    modes = [modes] if isinstance(modes, str) else modes
    for mode in modes:
        if mode not in _MODES:
            raise RuntimeError(f"boundary mode not supported (actual: {mode})")
    return "constant" in modes


def constant(cval) -> None:
    """Refuses what CuPy writes into the source of a kernel that then does not compile."""
    if isinstance(cval, bool):
        raise TypeError("CuPy's kernel does not compile with a bool for cval; give a number.")
    if isinstance(cval, float) and cval != cval and cval is not np.nan:
        raise TypeError("CuPy's kernel compiles with no NaN for cval but cupy.nan itself.")


def _ordered(given: dict, *, ranks: bool = False) -> str | None:
    """Of minima, maxima and ``ranks``."""
    cval, footprint = given.get("cval", 0), given.get("footprint")
    edged = _modes(given)
    if edged and not isinstance(cval, bool):
        constant(cval)
    if cval is np.nan:
        return "NaN cval is unsupported"
    _origins(given)
    if "input" not in given:
        return None
    part = isinstance(footprint, (ndarray, np.ndarray)) and not footprint.all()
    alike = ranks or part or given.get("structure") is not None  # as the image are the edges
    if not alike:
        _halves(given)
        if edged and given["input"].dtype.kind in "biu" and not np.isfinite(cval):
            return "an infinite cval for an image of integers"
    if isinstance(footprint, np.ndarray) and footprint.ndim < given["input"].ndim and not ranks:
        raise RuntimeError("footprint array has incorrect shape")
    return None


def _halves(given: dict) -> None:
    output = given.get("output")
    output = output.dtype if isinstance(output, (ndarray, np.ndarray)) else output
    dtypes = given["input"].dtype, given["input"].dtype if output is None else np.dtype(output)
    if np.float16 in dtypes and _modes(given):
        raise TypeError("CuPy's kernel does not compile for float16 with mode='constant'")


def _ranked(given: dict) -> str | None:
    return _ordered(given, ranks=True)


def _ordered_along_one(given: dict) -> str | None:
    if isinstance(given["size"], int) and given["size"] < 1:
        raise RuntimeError("incorrect filter size")
    return _ordered(given)


def _origins(given: dict) -> None:
    """SciPy looks at none along an axis of which the filter is one pixel long."""
    size, origin = given.get("size"), given.get("origin", 0)
    footprint = given.get("footprint")
    if footprint is not None:
        size = np.shape(footprint)
        if isinstance(footprint, (ndarray, np.ndarray)) and not footprint.any():
            raise ValueError("all-zero footprint is not supported")
    if size is None or np.ndim(size) > 1 or not given["input"].ndim:
        return
    sizes, origins = np.atleast_1d(size), np.atleast_1d(origin)
    if 1 in (len(sizes), len(origins)) or len(sizes) == len(origins):
        where = sizes // 2 + origins
        if ((where < 0) | (where >= sizes)).any():
            raise ValueError("invalid origin")


def _constants(given: dict) -> None:
    if _modes(given):
        constant(given.get("cval", 0))


def _edges(given: dict) -> str | None:
    if np.isnan(_host(given.get("sigma", 1))).any():
        raise ValueError("sigma is no number")
    _constants(given)
    if "input" not in given:
        return None
    _halves(given)
    if np.isfinite(given.get("cval", 0)):
        return None
    if any(v.dtype.kind == "c" for v in given.values() if isinstance(v, ndarray)):
        return "an infinite cval among complex numbers"
    output, modes = given.get("output"), given.get("mode", "reflect")
    output = given["input"] if output is None else output
    dtype = output.dtype if isinstance(output, ndarray) else np.dtype(output)
    if dtype.kind in "iu" and "constant" in ([modes] if isinstance(modes, str) else modes):
        return "Non-finite cval is not supported for outputs with integer dtype."


def _edges_of_one_mode(given: dict) -> str | None:
    mode = given.get("mode", "reflect")
    if not isinstance(mode, str):
        raise RuntimeError(f"boundary mode not supported (actual: {mode})")
    return _edges(given)


def _labels(given: dict) -> None:
    index, labels = given.get("index"), given.get("labels")
    if not (labels is None or isinstance(labels, ndarray)):
        raise TypeError("label must be cupy.ndarray")
    if not (index is None or isinstance(index, (ndarray, int, np.integer))):
        raise TypeError("index must be cupy.ndarray or a scalar int")
    if given["input"].dtype.kind == "c":
        raise TypeError("complex numbers are not supported")
    for numbers in (labels, index) if labels is not None else ():
        if isinstance(numbers, ndarray) and numbers.dtype.kind == "c":
            raise TypeError("CuPy's kernel does not compile with complex labels")
    if labels is not None and isinstance(index, ndarray) and index.size and index.dtype.kind == "f":
        raise not_covered("cupyx.scipy.ndimage with an index of floats")
    if given.get("labels") is not None and isinstance(index, ndarray) and index.ndim > 1:
        if given["input"].dtype not in ("i4", "u4", "u8", "f2", "f4", "f8"):
            raise ValueError("operands could not be broadcast together")


def _first_label(few: int, given: dict) -> str | None:
    """Where CuPy sorts, for more than a few labels, it takes 0 to be found where label 0 is."""
    labels, index = given.get("labels"), given.get("index")
    if isinstance(labels, (list, tuple)):
        raise TypeError("label must be cupy.ndarray")
    if not isinstance(labels, ndarray):
        return None
    if isinstance(index, ndarray) and not index.ndim:
        raise TypeError("len() of unsized object")
    if np.ndim(index) == 0:
        return None
    if np.ndim(index) > 1:
        return "an index of more than one axis"
    if not len(index):
        raise IndexError("an index without labels")
    labels = labels._array
    if not labels.size:
        return None
    least, most = labels.min(), labels.max()
    plain = np.can_cast(labels.dtype, np.int64) and 0 <= least and most <= labels.size
    index = index._array if isinstance(index, ndarray) else np.asarray(index)
    more = not plain and len(np.unique(labels)) > most + 1
    if more and not np.isin(index, labels).all():
        return "a label that is nowhere, beside negative ones or others that it numbers anew"
    if len(index) > few and not plain and not np.isin(index, labels).all():
        return f"a label that is nowhere, of more than {few}, which it looks for elsewhere"
    if len(index) <= few or (plain and least > 0):
        return None
    if (index == least).any():
        return f"label {least}, one of more than {few}, gives 0; look at it alone."


def _summed_labels(given: dict) -> None:
    if given.get("labels") is not None and isinstance(given.get("index"), np.integer):
        raise TypeError("index must be cupy.ndarray or a scalar int")
    _labels(given)


def _counted(given: dict) -> str | None:
    dtype = given["input"].dtype
    if dtype.kind == "c":
        return f"{dtype} is not supported"
    if dtype == np.int8 and (given["input"] < 0).any():
        return "negative numbers of int8 are not counted"


def _structure(given: dict) -> str | None:
    if why := _ordered(given):
        return why
    footprint = given.get("footprint")
    if given.get("structure") is not None and given.get("size") is None and footprint is None:
        raise ValueError("must specify either weights array or sizes")
    if given.get("structure") is None:
        return None
    # CuPy makes the structure's numbers ones of the image's type, and compares with the pixel as
    # it is where the footprint has it.
    structure, origin = given["structure"], given.get("origin", 0)
    structure = structure._array if isinstance(structure, ndarray) else np.asarray(structure)
    if given["input"].dtype == np.float16:
        raise TypeError("CuPy's kernel does not compile for float16 with a structure")
    if footprint is not None and np.shape(footprint) != structure.shape:
        return "a structure of another shape than the footprint, beyond which its kernel reads"
    kind = given["input"].dtype.kind
    if kind in "biu" and (structure != np.trunc(structure)).any():
        return "a structure of fractions for an image of integers"
    if kind in "bu" and (structure < 0).any():
        return f"a structure with negative numbers for an image of {given['input'].dtype}"
    origins = np.broadcast_to(origin, structure.ndim)
    middle = [n // 2 + by for n, by in zip(structure.shape, origins, strict=True)]
    if structure.size and structure[tuple(middle)] < 0:
        return "a structure that is negative in its middle"


def _overlap(given: dict) -> str | None:
    source, output = given["input"], given.get("output")
    spline = given.get("order", 3) > 1 and given.get("prefilter", True)  # which is a new array
    if isinstance(output, ndarray) and source.flags.c_contiguous and not spline:
        if np.may_share_memory(source._array, output._array):
            return "the kernel reads the input while it writes the output, and they overlap."


def _shifted(given: dict) -> str | None:
    if not np.isfinite(_host(given["shift"])).all():
        raise not_covered("cupyx.scipy.ndimage.shift by what is no number")
    return _overlap(given)


def _check_of(names: str, check: Callable) -> dict[str, Callable]:
    return dict.fromkeys(names.split(), check)


# {name: a function of the arguments given, that raises, or returns why CuPy refuses them, or None}
UNABLE = {
    **_check_of("fht ifht", _hankel),
    **_check_of("dct idct dst idst dctn idctn dstn idstn", _kinds),
    **_check_of("binary_erosion", _iterations),
    **_check_of("binary_dilation", functools.partial(_iterations, turned=True)),
    **_check_of("binary_opening binary_closing", functools.partial(_iterations, both=True)),
    **_check_of("binary_propagation binary_fill_holes", functools.partial(_inside, turned=True)),
    **_check_of("binary_hit_or_miss", _hits),
    **_check_of("iterate_structure", _iterated),
    **_check_of("distance_transform_edt", _distances),
    **_check_of("sum sum_labels", _summed_labels),
    **_check_of("mean variance standard_deviation", _labels),
    **_check_of("minimum maximum", functools.partial(_first_label, 30)),
    **_check_of("median minimum_position maximum_position", functools.partial(_first_label, 15)),
    **_check_of("histogram", _counted),
    **_check_of("grey_erosion grey_dilation grey_opening grey_closing", _structure),
    **_check_of("morphological_gradient morphological_laplace", _structure),
    **_check_of("white_tophat black_tophat", _structure),
    **_check_of("upfirdn", _upfirdn),
    **_check_of("resample_poly", _padded),
    **_check_of("check_COLA check_NOLA coherence csd firwin firwin2", _window),
    **_check_of("istft", _resynthesized),
    **_check_of("zpk2sos", _in_sections),
    **_check_of("cont2discrete lsim step", _paired),
    **_check_of("dimpulse", _of_steps),
    **_check_of("impulse", _timed),
    **_check_of("periodogram spectrogram stft welch", _window),
    **_check_of("resample", lambda given: _window(given) or _in_time(given)),
    **_check_of("convolve2d correlate2d", _summed),
    **_check_of(
        "convolve correlate", lambda given: (_edges if "input" in given else _summed)(given)
    ),
    **_check_of("medfilt", _axes),
    **_check_of("medfilt2d", _flat),
    **_check_of("polygamma", _orders),
    **_check_of("zeta", _two_of_them),
    **_check_of("zpk2ss zpk2tf", _zeros),
    **_check_of("invres invresz", lambda given: _apart(given) or _poles(given)),
    **_check_of("residue residuez", _apart),
    **_check_of("max_len_seq", _tapped),
    **_check_of("iirfilter", _bessel),
    **_check_of("sph_harm_y", _derivatives),
    **_check_of("spherical_yn", _whole_orders),
    **_check_of("lambertw", _branch),
    **_check_of("abcd_normalize ss2tf ss2zpk", _systems),
    **_check_of("freqs findfreqs", _no_halves),
    **_check_of("lp2bs_zpk lp2hp_zpk", _signed),
    **_check_of("bilinear bode freqresp lp2bp lp2bs lp2lp", _of_reals),
    **_check_of("cspline1d qspline1d", _of_floats),
    **_check_of("savgol_filter", _smoothed),
    **_check_of("lfilter sosfilt sosfiltfilt", _something),
    "filtfilt": _both_ways,
    **_check_of("freqz", _nyquist),
    **_check_of("correlate1d convolve1d uniform_filter uniform_filter1d", _edges),
    **_check_of("affine_transform map_coordinates rotate zoom", _overlap),
    **_check_of("shift", _shifted),
    **_check_of("gaussian_filter gaussian_filter1d laplace", _edges),
    **_check_of("prewitt sobel", _edges_of_one_mode),
    **_check_of("gaussian_laplace gaussian_gradient_magnitude", _edges),
    **_check_of("minimum_filter maximum_filter", _ordered),
    **_check_of("minimum_filter1d maximum_filter1d", _ordered_along_one),
    **_check_of("median_filter percentile_filter rank_filter", _ranked),
    **_check_of("fourier_ellipsoid", _in_itself),
    **_check_of("fourier_gaussian fourier_shift fourier_uniform", _over_itself),
    **_check_of("spline_filter spline_filter1d", _splined),
}
