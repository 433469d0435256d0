"""What of CUDA C the stand-in covers inside kernels: the one place that says it.

From here come the refusals, and what ``gpuless.COVERED`` and ``NOT_COVERED`` say of
kernels, and so the page of the book.
"""

from __future__ import annotations

from gpuless.engine import ptx
from gpuless.engine.preprocess import CUPY_HEADERS, HEADERS

# What a kernel cannot have: how it looks in preprocessed text, and what it is.
REFUSED = (
    (r"<<<", "dynamic parallelism (`<<<...>>>`)"),
    (
        r"\b__cluster_dims__\b|\b__block_size__\b|\b__launch_bounds__\s*\((?:[^(),]|\([^()]*\))*,"
        r"(?:[^(),]|\([^()]*\))*,",
        "clusters, which need compute capability 9.0",
    ),
    (
        r"\bcuda\s*::(?!\s*(?:std\s*::\s*)?(?:atomic(?:_ref)?\b|memory_order|atomic_thread_fence"
        r"|thread_scope_)\w*)(?!\s*thread_scope\b)",
        "libcu++ (`cuda::`...) beyond `atomic` and `atomic_ref`",
    ),
    (
        r"\bcub\s*::|\bthrust\s*::(?!\s*(?:complex|real|imag|abs|arg|norm|conj|proj|polar|exp|log"
        r"|log10|pow|sqrt|a?(?:sin|cos|tan)h?)\b)",
        "CUB and Thrust beyond `thrust::complex`",
    ),
    (r"\bcurand\w+", "the device side of cuRAND"),
    (
        r"\blong\s+double\b|(?<![\w.])(?:\d+\.?\d*|\.\d+)[eE][-+]?\d+[lL]\b|(?<![\w.])(?:\d+\.\d*|\.\d+)[lL]\b",
        "`long double`, which a GPU takes as `double`",
    ),
)


def in_kernels() -> str:
    """What kernels may use beside the language, atomic functions, warps, and shared memory."""
    headers = ", ".join(f"`{name}`" for name in HEADERS if name not in CUPY_HEADERS)
    instructions = "; ".join(f"`{one}`" for one in ptx.COVERED)
    return f"textures, surfaces, the headers {headers}; of inline PTX: {instructions}"


def not_in_kernels() -> str:
    """What is refused by its name."""
    refused = ", ".join(what for _, what in REFUSED)
    return f"{refused}, layered and cubemap textures, bfloat16, inline PTX of other kinds"
