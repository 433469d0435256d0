"""The parameters of CuPy's functions where those of NumPy's function are others, or fewer."""

from __future__ import annotations

import operator
from collections.abc import Callable

from cupy._core._dispatch import check_number

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


# Parameters that CuPy hands to a kernel as a number (n; a list is m's, too) or takes for a whole
# number of the host's (i), where NumPy's functions are content with more.
_TEXT = """
append axis:i
around decimals:n
concatenate axis:i
diag k:i
diagflat k:i
diagonal offset:i axis1:i axis2:i
diff n:i axis:i
gradient edge_order:n
interp left:m right:m period:n
kron a:n b:n
nan_to_num x:n nan:m posinf:m neginf:m
nanstd ddof:n
nanvar ddof:n
real_if_close tol:n
repeat axis:i
rollaxis axis:i start:i
searchsorted v:m
sort axis:i
argsort axis:i
stack axis:i
swapaxes axis1:i axis2:i
take indices:m axis:i
trace offset:i axis1:i axis2:i
trapezoid dx:n axis:i
tril k:n
tril_indices_from k:n
triu k:n
triu_indices_from k:n
vander N:i
unwrap discont:n period:n axis:i
"""
_KINDS = {
    line.split()[0]: [part.split(":") for part in line.split()[1:]]
    for line in _TEXT.strip().splitlines()
}


def check_kinds(name: str, parameters: list[str]) -> Callable[[list, dict], None] | None:
    """A function that raises TypeError where an argument of a call is not of the kind that CuPy's
    function ``name`` takes; None where there is nothing to look at."""
    rules = [
        (one, parameters.index(one), kind)
        for one, kind in _KINDS.get(name, ())
        if one in parameters
    ]

    def check(args: list, kwargs: dict) -> None:
        for one, position, kind in rules:
            value = args[position] if position < len(args) else kwargs.get(one)
            if value is None or kind == "m" and isinstance(value, (list, tuple)):
                continue
            if kind == "i":
                operator.index(value)
            else:
                check_number(value)

    return check if rules else None


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
