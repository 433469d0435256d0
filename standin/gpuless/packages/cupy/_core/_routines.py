"""The table of NumPy's functions on device arrays: one row for each; ``_row`` says what a row says.

Functions that need more than a row stand in ``_functions``.
"""

from __future__ import annotations

import numpy as np

from cupy._core import _convolutions, _einsum, _order, _reductions, _search, _statistics
from cupy._core import _special as own
from cupy._core import _stricter as stricter
from cupy._core import _sums as sums
from cupy._core._dispatch import deprecated
from cupy._core._row import row

# Shapes

array_split = stricter.splits(row(np.array_split))
atleast_1d = row(own.atleast(np.atleast_1d), "a*")
atleast_2d = row(own.atleast(np.atleast_2d), "a*")
atleast_3d = row(own.atleast(np.atleast_3d), "a*")
broadcast_arrays = own.with_scalars(row(own.broadcast_arrays, "u*"))
broadcast_to = row(stricter.shaped(np.broadcast_to))
column_stack = row(own.column_stack, "s", order="C")
concatenate = concat = row(stricter.joined(np.concatenate), "s", order="C")
diagonal = row(own.diagonal, "o")
dsplit = stricter.splits(row(np.dsplit))
dstack = row(np.dstack, "A", order="C")
expand_dims = row(stricter.expand_dims)
flip = row(stricter.flip, "o")
fliplr = row(np.fliplr, "o")
flipud = row(np.flipud, "o")
hsplit = stricter.splits(row(np.hsplit))
hstack = row(stricter.joined(np.hstack), "A", order="C")
matrix_transpose = row(np.matrix_transpose, "o")
moveaxis = row(own.moveaxis)
pad = row(own.pad)
permute_dims = row(np.permute_dims, "o")
ravel = row(stricter.ordered(np.ravel), "o")
repeat = row(stricter.repeat, "o")
reshape = row(stricter.shaped(stricter.ordered(np.reshape)), "o")
resize = row(stricter.shaped(np.resize), "a")
roll = row(stricter.roll, order="S")
rollaxis = row(own.unmoved(np.rollaxis))
rot90 = row(np.rot90, "o")
split = stricter.splits(row(np.split))
squeeze = row(own.unmoved(np.squeeze), "o")
stack = row(stricter.joined(np.stack), "s", order="C")
swapaxes = row(np.swapaxes, "o")
tile = row(stricter.shaped(stricter.tile), "a", order="S")
transpose = row(np.transpose, "o")
vsplit = stricter.splits(row(np.vsplit))
vstack = row(stricter.joined(np.vstack), "A", order="C")
row_stack = deprecated(
    vstack, "row_stack", "`row_stack` alias is deprecated. Use `cp.vstack` directly."
)

# Sums and other reductions

all = alltrue = row(np.all, order="C")
amax = row(sums.reduced(np.amax), "o", order="S")
amin = row(sums.reduced(np.amin), "o", order="S")
any = sometrue = row(np.any, order="C")
argmax = row(sums.argmax, name="argmax")
argmin = row(sums.argmin, name="argmin")
average = own.average(row(sums.average, "a-a", keywords=("weights",), name="average", order="S"))
count_nonzero = row(stricter.count_nonzero, name="count_nonzero", order="C")
cumprod = own.running(row(sums.scanned(sums.cumprod), order="S"))
cumproduct = deprecated(cumprod, "cumproduct", "Please use `cumprod` instead.")
cumsum = own.running(row(sums.scanned(sums.cumsum), order="S"))
cumulative_prod = own.running(row(sums.cumulative_prod, order="S"))
cumulative_sum = own.running(row(sums.cumulative_sum, order="S"))
max = row(sums.reduced(np.max), "o", order="S")
mean = row(sums.mean, "o", order="S")
median = own.median(row(sums.of_some(np.median), keywords=("overwrite_input",), order="C"))
min = row(sums.reduced(np.min), "o", order="S")
nanargmax = row(sums.nanargmax, name="nanargmax")
nanargmin = row(sums.nanargmin, name="nanargmin")
nancumprod = own.running(row(sums.scanned(sums.nancumprod), order="S"))
nancumsum = own.running(row(sums.scanned(sums.nancumsum), order="S"))
nanmax = row(sums.nan_extreme(np.nanmax), order="C")
nanmean = row(sums.nanmean, order="C")
nanmedian = own.median(row(sums.nanmedian, keywords=("overwrite_input",), order="C"))
nanmin = row(sums.nan_extreme(np.nanmin), order="C")
nanprod = row(sums.summed(np.nanprod), order="C")
nanstd = row(sums.empty_is_zero(_statistics.nanstd), order="C")
nansum = row(sums.summed(np.nansum), order="C")
nanvar = _reductions.variance(row(sums.empty_is_zero(_statistics.nanvar), order="C"))
percentile = own.between(
    row(_statistics.percentile, "dn", keywords=("overwrite_input",), order="C")
)
prod = row(sums.reduced(sums.summed(np.prod), "sums"), "o", order="S")
product = deprecated(prod, "product", "Please use `prod` instead.")
ptp = row(sums.reduced(np.ptp), "o", order="S")
quantile = own.between(row(_statistics.quantile, "dn", keywords=("overwrite_input",), order="C"))
std = row(_statistics.std, "o", order="C")
sum = row(sums.reduced(sums.summed(np.sum), "sums"), "o", order="S")
trace = row(sums.trace, "o", order="C")
trapezoid = trapz = row(stricter.trapezoid, order="C")
var = _reductions.variance(row(_statistics.var, "o", order="C"))

# Elementwise

angle = row(own.angle, "u", order="C")
around = round = row(own.around, "a", order="C")
round_ = deprecated(around, "round_", "Please use `round` instead.")
clip = own.clip
imag = row(own.imag, "a", name="imag", order="C")
interp = row(own.interp, "ddd")
iscomplex = own.or_of_scalars(row(np.iscomplex, "a", order="C"), np.iscomplex)
isneginf = row(np.isneginf, "u", order="C")
isposinf = row(np.isposinf, "u", order="C")
isreal = own.or_of_scalars(row(np.isreal, "a", order="C"), np.isreal)
nan_to_num = row(own.nan_to_num, "u", order="S")
real = row(own.real, "a", name="real")
real_if_close = own.real_if_close(row(np.real_if_close, "o"))
unwrap = row(np.unwrap, "a", order="S")
where = own.where(row(own.choice, "duu", name="where", order="C"), lambda given: nonzero(given))

# Comparisons of whole arrays

array_equal = row(own.array_equal, "oo", name="array_equal")
array_equiv = row(own.array_equiv, "oo", name="array_equiv")

# Differences, products of arrays

convolve = row(_convolutions.convolve, "dd")
corrcoef = row(stricter.corrcoef, library="cuBLAS")
correlate = row(_convolutions.correlate, "dd")
cov = row(stricter.of_two(_statistics.cov), library="cuBLAS")
cross = row(own.cross, "aa", name="cross", order="S")
diff = row(np.diff, "a", order="C")
dot = row(own.dot, "od", library=own.blas)
ediff1d = row(stricter.ediff1d)
einsum = _einsum.of_arrays(row(_einsum.einsum, "-", library=_einsum.einsum_blas, order="S"))
gradient = row(own.gradient, "a", order="S")
inner = row(own.inner, "dd", library=own.blas)
kron = own.of_numbers(row(own.kron, "uu", order="C"))
matmul = row(own.matmul, "dd", library=own.blas)
outer = row(np.outer, "dd")
tensordot = row(own.tensordot, "dd", library=own.tensordot_blas)
vander = row(np.vander, "a")
vdot = row(own.vdot, "dd")

# Sorting and searching

argpartition = row(sums.along(_order.argpartition), "o", order="S")
argsort = row(sums.along(_order.argsort), "o", name="argsort", order="S")
argwhere = row(np.argwhere, waits=True, order="C")
digitize = row(_search.digitize, "dd")
extract = row(np.extract, "dd", waits=True)
flatnonzero = row(np.flatnonzero, waits=True)
lexsort = row(_order.lexsort)
nonzero = own.nonzero(argwhere, row(np.nonzero, waits=True))
partition = row(_order.partition, "o", order="C")
searchsorted = row(_search.searchsorted, "du")
sort = row(_order.sort, "o", name="sort", order="C")
sort_complex = row(own.sort_complex, "o")
msort = deprecated(
    lambda a: sort(a, axis=0), "msort", "msort is deprecated, use cupy.sort(a, axis=0) instead"
)

# Sets

in1d = row(_search.in1d, "dd", name="in1d")
intersect1d = row(_search.intersect1d, "dd", waits=True)
isin = row(_search.isin, "dd")
setdiff1d = row(_search.setdiff1d, "dd", waits=True)
setxor1d = row(np.setxor1d, "dd", waits=True)
union1d = row(np.union1d, "dd", waits=True)
unique = row(_order.unique, waits=True)
unique_all = row(np.unique_all, waits=True)
unique_counts = row(np.unique_counts, waits=True)
unique_inverse = row(np.unique_inverse, waits=True)
unique_values = row(_order.unique_values, waits=True)

# Counting

bincount = row(own.bincount, waits=True)
histogram = row(_statistics.histogram, "dn", waits=True)
histogram2d = _statistics.inner(row(_statistics.histogram2d, "dd", waits=True))
histogramdd = _statistics.inner(row(_statistics.histogramdd, "-", waits=True))

# Indices, parts of arrays

append = row(np.append, "aa", order="C")
choose = row(own.choose, "o")
compress = own.of_whole(row(own.compress, "ao", name="compress", waits=True))
delete = row(np.delete, "da", waits=True, order="C")
diag = row(own.diag, "n")
diag_indices_from = row(np.diag_indices_from)
diagflat = row(np.diagflat, "u")
ix_ = row(own.ix_, "a*")
take = row(own.take, "oa", name="take")
take_along_axis = row(own.take_along_axis, "on", order="C")
tril = row(own.triangle(np.tril), "a", order="C")
tril_indices_from = row(own.triangle(np.tril_indices_from))
trim_zeros = row(own.trim_zeros, waits=True)
triu = row(own.triangle(np.triu), "a", order="C")
triu_indices_from = row(own.triangle(np.triu_indices_from))

# Bits and types

common_type = row(np.common_type, "-")
packbits = row(own.packbits)
unpackbits = row(own.unpackbits)

# The answer is a host value, known from shapes and dtypes, or for printing.

array2string = own.of_host(np.array2string, waits=True)
array_repr = own.of_host(np.array_repr, waits=True)
array_str = own.of_host(np.array_str, waits=True)
broadcast_shapes = own.of_host(np.broadcast_shapes)
byte_bounds = own.byte_bounds
can_cast = own.of_host(np.can_cast)
iscomplexobj = own.of_host(np.iscomplexobj)
isfortran = own.of_host(np.isfortran)
isrealobj = own.of_host(np.isrealobj)
isscalar = own.of_host(np.isscalar)
may_share_memory = row(own.may_share_memory, "dd")
min_scalar_type = own.min_scalar_type
ndim = own.of_host(np.ndim)
promote_types = np.promote_types
result_type = own.of_host(np.result_type)
shape = own.of_host(np.shape)
shares_memory = row(own.shares_memory, "dd")
size = own.size
typename = own.of_host(np.typename)
