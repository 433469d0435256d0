"""``cupy.memoize`` and ``cupy.clear_memo``."""

import cupy as cp
import pytest


def counting(**options):
    """A memoized function of one or two arguments, and the list of what it was called with."""
    calls = []

    @cp.memoize(**options)
    def pair(a, b=0):
        """Both."""
        calls.append((a, b))
        return [a, b]

    return pair, calls


def test_a_function_is_called_once_for_the_same_arguments():
    pair, calls = counting()
    assert (pair.__name__, pair.__doc__) == ("pair", "Both.")
    first = pair(1, b=2)
    assert first == [1, 2] and pair(1, b=2) is first
    assert pair(1, 2) == [1, 2]  # given another way it is another call, as in CuPy
    assert pair(2) == [2, 0] and pair(2) is pair(2)
    assert calls == [(1, 2), (1, 2), (2, 0)]
    with pytest.raises(TypeError, match="unhashable"):
        pair([1])


def test_none_is_a_result_and_an_error_is_not():
    calls = []

    @cp.memoize()
    def test(a):
        calls.append(a)
        if a:
            raise KeyError(a)

    assert test(0) is None and test(0) is None
    for _ in range(2):
        with pytest.raises(KeyError):
            test(1)
    assert calls == [0, 1, 1]


@pytest.mark.parametrize("each", [False, True])
def test_on_each_device(each, four_devices):
    pair, calls = counting(for_each_device=each)
    results = []
    for device in (0, 3, 0):
        with cp.cuda.Device(device):
            results.append(pair("x"))
    assert len(calls) == 1 + each
    assert results[2] is results[0] and (results[1] is results[0]) is not each


def test_clear_memo_forgets_all_functions():
    (one, calls), (two, others) = counting(), counting(for_each_device=True)
    for _ in range(2):
        one(1), two(1), two(1)
        cp.clear_memo()
    assert calls == others == [(1, 0), (1, 0)]
