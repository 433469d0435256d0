"""The four jobs with jax.jit: NumPy's words, fused by XLA."""

import jax
import jax.numpy as jnp
import numpy as np

CANNOT = (
    "Its arrays cannot be written, so `out` is of no use to it; like torch.compile it cannot be "
    "steered, and a kernel of your own needs Pallas or a foreign call."
)


def versions():
    return {"JAX": jax.__version__}


put, get = jnp.asarray, np.asarray


def wait(result):
    jax.block_until_ready(result)


@jax.jit
def add_twice(x, y, out):
    return x + 2 * y


@jax.jit
def stencil(x, weights, out):
    rows, columns = x.shape
    wide = jnp.pad(x, 1)
    return sum(
        weights[m, n] * wide[m : m + rows, n : n + columns] for m in range(3) for n in range(3)
    )


@jax.jit
def softmax(x, out):
    return jax.nn.softmax(x, axis=1)


@jax.jit
def dense(a, b, bias, out):
    product = jnp.dot(a, b, preferred_element_type=jnp.float32)
    return jax.nn.relu(product + bias).astype(jnp.float16)
