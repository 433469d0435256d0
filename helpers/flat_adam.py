"""Adam for one long array of parameters, which a CUDA graph can record.

What Python hands to a kernel is frozen in a recording, so the device itself counts the steps.
"""

import cupy as cp

count_step = cp.ElementwiseKernel(
    "float64 rate",
    "int64 step, float64 scale, float64 root",
    """
    step += 1;
    scale = rate / (1 - pow(0.9, (double)step));
    root = 1 / sqrt(1 - pow(0.999, (double)step));
    """,
    "count_step",
)
adam_flat = cp.ElementwiseKernel(
    "T g, raw float64 scale, raw float64 root",
    "T p, T m, T v",
    """
    m += (T)0.1 * (g - m);
    v += (T)0.001 * (g * g - v);
    p -= (T)scale[0] * m / (sqrt(v) * (T)root[0] + (T)1e-8);
    """,
    "adam_flat",
)


def update(g, count, p, m, v, rate):
    """One step of Adam in place: gradients g, parameters p and means m, v, of one shape and dtype.

    count  (1,) int64 and two (1,) float64, zeros before the first step; `rate` is frozen in a graph
    """
    count_step(rate, *count)
    adam_flat(g, *count[1:], p, m, v)
