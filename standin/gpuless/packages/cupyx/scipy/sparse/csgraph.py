"""``cupyx.scipy.sparse.csgraph``: what CuPy does with ``pylibcugraph``, where that is installed."""

from __future__ import annotations

import importlib.util as _util

from scipy.sparse import csgraph as _library

from cupyx.scipy.sparse import _base, _formats
from gpuless import missing as _missing


def connected_components(csgraph, directed=True, connection="weak", return_labels=True):
    """The connected parts of a graph: ``(n, labels)``, or their number ``n``; by SciPy.

    ``csgraph`` is a matrix ``(m, m)`` on the device, dense or sparse. ``labels`` are int32.
    RuntimeError, as CuPy's, where ``pylibcugraph`` is not installed.
    """
    if _util.find_spec("pylibcugraph") is None:
        raise RuntimeError("pylibcugraph is not available")
    if connection.lower() not in ("weak", "strong"):
        raise ValueError("connection must be 'weak' or 'strong'")
    if csgraph.ndim != 2:
        raise ValueError("graph should have two dimensions")
    graph = csgraph if _base.issparse(csgraph) else _formats.csr_matrix(csgraph)
    if graph.shape[0] != graph.shape[1]:
        raise ValueError("graph should be a square array")
    return_labels = return_labels or not graph.nnz
    found = _library.connected_components(graph._here(), directed, connection, return_labels)
    return _base.on_device(found)


def __getattr__(name: str):
    raise _missing(__name__, name)
