"""Python functions that both `cupy.vectorize` and `cupyx.jit` translate."""


def collatz(n):
    """Steps to 1, at most 20."""
    steps = 0
    while n > 1 and steps < 20:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
