"""The parameters of CuPy's functions where those of NumPy's function are others, or fewer."""

from __future__ import annotations

from collections.abc import Callable

_TEXT = """
argpartition a kth axis
concatenate tup axis out dtype casting
corrcoef a y rowvar bias ddof dtype
cov a y rowvar bias ddof fweights aweights dtype
delete arr indices axis
ediff1d arr to_end to_begin
extract condition a
flip a axis
fliplr a
flipud a
intersect1d arr1 arr2 assume_unique return_indices
isin element test_elements assume_unique invert
lexsort keys
matrix_power M n
matrix_transpose a
nanstd a axis dtype out ddof keepdims
nanvar a axis dtype out ddof keepdims
partition a kth axis
pinv a rcond
reshape a newshape order copy
rot90 a k axes
stack tup axis out dtype casting
std a axis dtype out ddof keepdims
svd a full_matrices compute_uv
take_along_axis a indices axis
union1d arr1 arr2
var a axis dtype out ddof keepdims
"""
_CUPYS = {line.split()[0]: line.split()[1:] for line in _TEXT.strip().splitlines()}


def held(name: str, parameters: list[str]) -> tuple[int, Callable[[tuple, dict], dict]]:
    """How many arguments CuPy's function ``name`` has at most, and a function of a call's arguments
    that returns its keywords under NumPy's names, of which ``parameters`` are the leading ones.

    It raises TypeError for an argument that CuPy's function lacks.
    """
    if name not in _CUPYS:
        return 99, lambda args, kwargs: kwargs
    names, most = set(_CUPYS[name]), len(_CUPYS[name])
    numpys = {ours: theirs for ours, theirs in zip(_CUPYS[name], parameters, strict=False)}

    def hold(args: tuple, kwargs: dict) -> dict:
        if len(args) > most:
            raise TypeError(f"{name}() takes {most} positional arguments at most")
        for keyword in kwargs.keys() - names:
            raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")
        return {numpys.get(keyword, keyword): value for keyword, value in kwargs.items()}

    return most, hold
