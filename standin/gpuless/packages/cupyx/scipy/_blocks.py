"""Recursive filters as CuPy runs them, on NumPy's arrays: the signal in blocks of 1,024, each
joined from two halves, these from halves of theirs, and then corrected by the block before it. It
is there to find how many digits are lost on that way; the results of the stand-in are SciPy's.
"""

from __future__ import annotations

import numpy as np
from scipy import signal
from scipy.signal._signaltools import _validate_pad as pad

SIZE = 1024


def _answers(a: np.ndarray, size: int = SIZE) -> np.ndarray:
    """What a recursion makes of one 1, ``i + 1`` numbers before a block: row ``i``. ``a``: its
    coefficients behind the first, which is 1."""
    a = np.concatenate((np.ones(1, a.dtype), a))
    starts = [np.concatenate((-a[i:], np.zeros(i - 1, a.dtype))) for i in range(1, a.size)]
    return np.array(
        [signal.lfilter(a[:1], a, np.zeros(size, a.dtype), zi=start)[0] for start in starts]
    )


def _recursion(a: np.ndarray, x: np.ndarray, before=None) -> np.ndarray:
    """``y[n] = x[n] - a[0] * y[n - 1] - ...`` along the last of two axes; ``before``: the outputs
    before them, in the order of time."""
    (rows, n), order = x.shape, a.size
    answers = _answers(a.astype(x.dtype), min(SIZE, 2 ** (n - 1).bit_length()))
    y = np.zeros((rows, -(-n // SIZE), answers.shape[1]), x.dtype)
    y.reshape(rows, -1)[:, :n] = x
    length = 1
    while length < y.shape[2]:
        halves = y.reshape(rows, -1, 2, length)
        for i in range(min(order, length)):
            halves[:, :, 1] += halves[:, :, 0, length - 1 - i, None] * answers[i, :length]
        length *= 2
    past = before
    for block in range(y.shape[1]):
        if past is not None:
            for i in range(order):
                y[:, block] += past[:, order - 1 - i, None] * answers[i]
        past = y[:, block, -order:]
    return y.reshape(rows, -1)[:, :n]


def filtered(b: np.ndarray, a: np.ndarray, x: np.ndarray, zi=None) -> np.ndarray:
    """CuPy's ``lfilter`` along the last of two axes; ``zi``: inputs and outputs before ``x``."""
    b, a, before = b / a[0], a[1:] / a[0], len(b) - 1
    padded = np.zeros((len(x), before + x.shape[1]), np.result_type(x, b))
    padded[:, before:] = x
    if zi is not None:
        padded[:, :before] = zi[:, :before]
    y = sum(v * padded[:, before - i : before - i + x.shape[1]] for i, v in enumerate(b))
    y = y.astype(np.result_type(padded, a))
    if not a.size:
        return y
    return _recursion(a, y, None if zi is None else zi[:, before:].astype(y.dtype))


def settled(b: np.ndarray, a: np.ndarray, x=None) -> np.ndarray:
    """CuPy's ``lfilter_zi``, or with some numbers ``x`` that part of ``sosfilt_zi``."""
    k, zi = len(a) - 1, np.ones(len(b) - 1)
    x = np.ones(k + 1) if x is None else x
    zi = zi * x[:1]
    if not k:
        return zi
    y = filtered(b, a, x[None], np.concatenate((zi, np.zeros(k)))[None])[0]
    answers = _answers(a[1:] / a[0], k + 1)
    matrix, step = (answers[:, :k] - answers[:, 1:]).T, y[1:] - y[:k]
    least = np.abs(a).min() / np.abs(a).max()
    try:
        solve = np.linalg.solve if least else np.linalg.lstsq
        found = solve(matrix, step)
    except np.linalg.LinAlgError:  # of a coefficient that is rounding CuPy has another one
        found = np.linalg.lstsq(matrix, step) if least < 1e-15 else [np.full(k, np.nan)]
    found = found[0] if isinstance(found, (list, tuple)) else found
    found = np.nan_to_num(found, nan=0, posinf=np.inf, neginf=-np.inf)
    return np.concatenate((zi, found[::-1]))


def settled_sections(sos: np.ndarray) -> np.ndarray:
    """CuPy's ``sosfilt_zi``."""
    x, states = np.ones(3, sos.dtype), np.zeros((len(sos), 4), sos.dtype)
    for state, section in zip(states, sos, strict=True):
        state[:] = settled(section[:3], section[3:], x)
        x = filtered(section[:3], section[3:], x[None], state[None])[0]
    return states


def in_sections(sos: np.ndarray, x: np.ndarray, zi=None) -> np.ndarray:
    """CuPy's ``sosfilt`` along the last of two axes; ``zi``: a state of each section and row."""
    x = x.astype(np.result_type(sos, x))
    for k, section in enumerate(sos.astype(x.dtype)):
        x = filtered(section[:3], section[3:], x, None if zi is None else zi[k].astype(x.dtype))
    return x


def _rows(x: np.ndarray, axis: int) -> np.ndarray:
    """Some rows of ``x`` along its axis, and of these a beginning, which tell enough."""
    x = np.moveaxis(x, axis, -1)
    x = x.reshape(-1, x.shape[-1])
    return x[:: -(-len(x) // 8) or 1, : 32 * SIZE]


def _part(x: np.ndarray, axis: int) -> np.ndarray:
    x = _rows(x, axis)
    x = x[np.isfinite(x).all(-1)]
    if not x.size:
        raise ValueError("nothing can be told of NaN and infinities")
    return x


def _apart(theirs: np.ndarray, ours: np.ndarray) -> float:
    """How far they are from each other, as a part of the largest number."""
    if not np.isfinite(ours).all():
        return np.inf  # it grows beyond all numbers
    if not ours.any():
        return 0.0
    apart = np.nan_to_num(np.abs(theirs - ours), nan=np.inf)
    return float(apart.max() / np.abs(ours).max())


def lost(b, a, x, axis=-1) -> float:
    """What part of CuPy's ``lfilter`` is rounding."""
    x = _part(x, axis)
    return _apart(filtered(b, a, x), signal.lfilter(b, a, x))


def lost_in_division(dividend, divisor) -> float:
    """The same of ``deconvolve``, which is a filter of one 1."""
    return lost(dividend, divisor, np.eye(1, dividend.size - divisor.size + 1)[0])


def lost_in_sections(sos, x, axis=-1) -> float:
    """The same of ``sosfilt``."""
    x = _part(x, axis)
    return _apart(in_sections(sos, x), signal.sosfilt(sos, x))


def _states(zi, x, axis) -> np.ndarray:
    zi = np.moveaxis(np.atleast_1d(zi), axis, -1)
    return np.broadcast_to(zi, (*np.moveaxis(x, axis, -1).shape[:-1], zi.shape[-1]))


def lost_after(b, a, x, axis, zi, y) -> float:
    """The same of ``lfilter`` from a state on, whose right result is ``y``."""
    zi = _part(_states(zi, x, axis), -1)
    return _apart(filtered(b, a, _part(x, axis), zi), _rows(y, axis))


def lost_in_sections_after(sos, x, axis, zi, y) -> float:
    zi = [_part(_states(state, x, axis), -1) for state in zi]
    return _apart(in_sections(sos, _part(x, axis), zi), _rows(y, axis))


def _seen(run, theirs, ours) -> float:
    """How far apart these states are in what follows from them when ones go on, as a part of that
    or of what one 1 makes."""
    ones, one = np.ones((1, SIZE)), np.eye(1, SIZE)
    with_ours, with_theirs = run(ones, ours), run(ones, theirs)
    scale = max(np.abs(with_ours).max(), np.abs(run(one, 0 * ours)).max())
    return float(np.nan_to_num(np.abs(with_theirs - with_ours), nan=np.inf).max() / scale)


def lost_in_state(b, a, zi) -> float:
    """The same of ``lfilter_zi``."""
    if not np.isfinite(zi).all():
        return 0.0
    theirs, wide = settled(b, a), (b.astype(float), a.astype(float))
    seen = _seen(lambda x, zi: filtered(*wide, x, zi[None]), theirs, zi)
    used = np.concatenate((np.ones(len(b) - 1, bool), np.abs(a[:0:-1]) > 1e-9 * np.abs(a).max()))
    return max(seen, _apart(theirs[used], zi[used]))


def lost_in_states(sos, zi) -> float:
    """The same of ``sosfilt_zi``."""
    if not np.isfinite(zi).all():
        return 0.0
    theirs = settled_sections(sos)
    return _seen(lambda x, zi: in_sections(sos.astype(float), x, zi[:, None]), theirs, zi)


def _both_ways(run, zi, x, edge):
    """``run`` from a steady state, and back; without the edges."""
    for _ in range(2):
        x = run(x, zi * x[..., :1])[..., ::-1]
    return x[..., edge : x.shape[-1] - edge]


def lost_both_ways(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None) -> float:
    """The same of ``filtfilt``."""
    x = _part(x, axis)
    if method != "pad":
        return max(lost(b, a, v) for v in (x, x[:, ::-1]))
    edge, padded = pad(padtype, padlen, x, -1, max(len(a), len(b)))
    zi = settled(b, a)
    theirs = _both_ways(lambda x, zi: filtered(b, a, x, zi), zi, padded, edge)
    return _apart(theirs, signal.filtfilt(b, a, x, -1, padtype, padlen))


def lost_in_sections_both_ways(sos, x, axis=-1, padtype="odd", padlen=None) -> float:
    """The same of ``sosfiltfilt``."""
    x = _part(x, axis)
    taps = 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    edge, padded = pad(padtype, padlen, x, -1, taps)
    zi = settled_sections(sos)[:, None]
    theirs = _both_ways(lambda x, zi: in_sections(sos, x, zi), zi, padded, edge)
    return _apart(theirs, signal.sosfiltfilt(sos, x, -1, padtype, padlen))
