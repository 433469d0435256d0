"""Chapter 70's autograd: against formulas, complex steps and the definition; and bad input."""

import gc

import numpy as np
import pytest
from scipy import special

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers.chapters import autograd as ag

cp = pytest.importorskip("cupy")


@pytest.fixture(params=[np, cp], ids=["numpy", "cupy"])
def xp(request):
    return request.param


def normal(*shape, seed=1):
    return np.random.default_rng(seed).standard_normal(shape)


def gradients(f, *arrays, xp=np, **options):
    """Return f's result and the gradients of sum(result * weights), as NumPy arrays."""
    xs = [ag.Variable(xp.asarray(a)) for a in arrays]
    y = f(*xs)
    weights = normal(*y.shape, seed=9)
    (y * xp.asarray(weights)).sum().backward(**options)
    assert all(isinstance(x.grad.data, xp.ndarray) for x in xs)
    return cp.asnumpy(y.data), weights, [cp.asnumpy(x.grad.data) for x in xs]


CURVES = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_by_complex_steps(xp, name):
    """f(x + ih) has h f'(x) as its imaginary part: exact to rounding, and not our formula."""
    x = np.abs(normal(3, 5)) + 0.1
    y, g, (slope,) = gradients(getattr(ag, name), x, xp=xp)
    np.testing.assert_allclose(y, CURVES[name](x), rtol=1e-13)
    by_step = CURVES[name](x + 1e-30j).imag / 1e-30
    np.testing.assert_allclose(slope, g * by_step, rtol=1e-12)


def test_sigmoid_far_out():
    y, _, (slope,) = gradients(ag.sigmoid, np.array([-1000.0, 1000.0, 0.0]))
    assert y.tolist() == [0, 1, 0.5] and slope[:2].tolist() == [0, 0]


def test_relu_and_its_kink(xp):
    x = np.array([-1.5, 0.0, 2.0])
    y, g, (slope,) = gradients(ag.relu, x, xp=xp)
    assert y.tolist() == [0, 0, 2] and slope.tolist() == [0, 0, g[2]]


@pytest.mark.parametrize(
    "f", [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b]
)
@pytest.mark.parametrize(
    "shapes", [((3, 4), (4,)), ((5,), (3, 1)), ((2, 1, 4), (3, 1)), ((), (3, 2)), ((4,), (4,))]
)
def test_broadcasting_by_complex_steps(xp, f, shapes):
    arrays = [normal(*shape, seed=k) + 3 for k, shape in enumerate(shapes)]
    y, g, slopes = gradients(f, *arrays, xp=xp)
    np.testing.assert_allclose(y, f(*arrays), rtol=1e-14)
    for k, slope in enumerate(slopes):
        assert slope.shape == shapes[k]
        for index in np.ndindex(shapes[k]):
            moved = [np.array(a, complex) for a in arrays]
            moved[k][index] += 1e-30j
            expected = (f(*moved) * g).sum().imag / 1e-30
            assert slope[index] == pytest.approx(expected, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("c", [0, 1, 2, 3, -1, 0.5, -2.5])
def test_power(xp, c):
    x = np.abs(normal(7)) + 0.2
    y, g, (slope,) = gradients(lambda v: v**c, x, xp=xp)
    np.testing.assert_allclose(y, x**c, rtol=1e-13)
    np.testing.assert_allclose(slope, g * c * x ** (c - 1.0), rtol=1e-12)


def test_polynomials_at_zero_have_all_their_derivatives():
    x, found = ag.Variable(0.0), []
    y = x**3 + 2 * x**2 + 5 * x + 7
    for _ in range(4):
        found.append(float(y.data))
        x.grad = None
        y.backward(record=True)
        y = x.grad
    assert found == [7, 5, 4, 6]


def test_numbers_beside_variables_keep_float32(xp):
    x = ag.Variable(xp.asarray(np.float32([1, 2, 3])))
    for y in (2 * x, x + 1.5, 1 - x, x / 3, 3 / x, x**2, x * np.float64(2), -x, np.float64(1) - x):
        assert y.dtype == np.float32 and y.shape == (3,)
    assert cp.asnumpy((3 / x - 1).data).tolist() == [2, 0.5, 0]


def test_arrays_beside_variables(xp):
    x = ag.Variable(xp.asarray(normal(3)))
    array = xp.asarray(normal(2, 3))
    for y in (array * x, x * array, array + x):
        assert isinstance(y, ag.Variable) and y.shape == (2, 3)
    np.testing.assert_allclose(cp.asnumpy((array - x).data), cp.asnumpy(array - x.data))


@pytest.mark.parametrize("axis, keepdims", [(None, False), (0, False), (-1, True), (1, False)])
def test_sums(xp, axis, keepdims):
    x = normal(2, 3, 4)
    y, g, (slope,) = gradients(lambda v: v.sum(axis=axis, keepdims=keepdims), x, xp=xp)
    np.testing.assert_allclose(y, x.sum(axis=axis, keepdims=keepdims), rtol=1e-13)
    if axis is not None and not keepdims:
        g = np.expand_dims(g, axis)
    np.testing.assert_allclose(slope, np.broadcast_to(g, x.shape), rtol=1e-14)


def test_shapes_and_products(xp):
    a, b = normal(3, 4), normal(4, 5, seed=2)
    y, g, (of_a, of_b) = gradients(lambda p, q: (q.T @ p.T).T, a, b, xp=xp)
    np.testing.assert_allclose(y, a @ b, rtol=1e-12)
    np.testing.assert_allclose(of_a, np.einsum("ik,jk->ij", g, b), rtol=1e-12)
    np.testing.assert_allclose(of_b, np.einsum("ij,ik->jk", a, g), rtol=1e-12)
    y, g, (slope,) = gradients(lambda p: ag.reshape(p, shape=(2, 6)), a, xp=xp)
    assert (slope == g.reshape(3, 4)).all() and (y == a.reshape(2, 6)).all()


@pytest.mark.parametrize("index", [1, (slice(None), slice(1, 3)), (2, -1), [0, 2, 0, 0]])
def test_indices_also_repeated_ones(xp, index):
    x = normal(3, 4)
    chosen = xp.asarray(index) if isinstance(index, list) else index
    y, g, (slope,) = gradients(lambda v: v[chosen], x, xp=xp)
    assert (y == x[index]).all()
    expected = np.zeros_like(x)
    np.add.at(expected, index, g)
    np.testing.assert_allclose(slope, expected, rtol=1e-14)


@pytest.mark.parametrize("size", [1, 500])
def test_softmax_cross_entropy(xp, size):
    x, t = size * normal(4, 6), np.array([5, 0, 0, 3])
    y, g, (slope,) = gradients(lambda v: ag.softmax_cross_entropy(v, xp.asarray(t)), x, xp=xp)
    assert y == pytest.approx(-special.log_softmax(x, axis=1)[np.arange(4), t].mean(), rel=1e-12)
    expected = g * (special.softmax(x, axis=1) - np.eye(6)[t]) / 4
    np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-14)


def test_mean_squared_error(xp):
    x, t = normal(4, 3), normal(4, 3, seed=2)
    y, g, (of_x, of_t) = gradients(ag.mean_squared_error, x, t, xp=xp)
    assert y == pytest.approx(((x - t) ** 2).mean(), rel=1e-13)
    np.testing.assert_allclose(of_x, g * 2 * (x - t) / 12, rtol=1e-12)
    np.testing.assert_allclose(of_t, -of_x, rtol=1e-14)


def test_the_order_does_not_matter_to_the_writer():
    """Results made early and used late, used often, and through both inputs of one function."""
    x, y = ag.Variable(2.0), ag.Variable(3.0)
    a = x * y
    s = a + x
    (s * a + a * a * x).backward()  # x²y² + x²y + x³y²
    assert float(x.grad.data) == 2 * 2 * 9 + 2 * 2 * 3 + 3 * 4 * 9
    assert float(y.grad.data) == 2 * 4 * 3 + 4 + 2 * 8 * 3


def test_gradients_add_up_until_they_are_cleared():
    link = ag.Chain()
    link.w, link.inner = (
        ag.Parameter(np.array([1.0, 2.0])),
        ag.Linear(2, 3, np.random.default_rng(0)),
    )
    link.state = ag.Variable(np.ones(2))  # not a Parameter
    assert [p.shape for p in link.params()] == [(2,), (2, 3), (3,)]
    for times in (1, 2):
        (link.w * link.w).sum().backward()
        assert link.w.grad.data.tolist() == [2 * times, 4 * times]
    link.cleargrads()
    assert link.w.grad is None


def test_keep_allows_a_second_pass_and_gives_the_same():
    x = ag.Variable(normal(3))
    y = (ag.tanh(x) * x).sum()
    y.backward(keep=True)
    first, x.grad = x.grad.data, None
    y.backward()
    assert (x.grad.data == first).all()


def test_hessian_of_rosenbrocks_function():
    x, y = ag.Variable(0.3), ag.Variable(-0.7)
    ((1 - x) ** 2 + 100 * (y - x**2) ** 2).backward(record=True)
    of_x, of_y = x.grad, y.grad
    found = []
    for slope in (of_x, of_y):
        x.grad = y.grad = None
        slope.backward(keep=True)
        found.append([float(x.grad.data), float(y.grad.data)])
    a, b = 0.3, -0.7
    assert np.allclose(found, [[1200 * a * a - 400 * b + 2, -400 * a], [-400 * a, 200]], rtol=1e-12)


def test_a_long_graph_needs_no_recursion():
    h = x = ag.Variable(1.0)
    for _ in range(20_000):
        h = h + 1.0
    h.backward(keep=True)
    assert float(x.grad.data) == 1
    del h


def test_memory_goes_without_the_garbage_collector():
    pool, one = cp.get_default_memory_pool(), cp.ones(2**16, np.float32)
    gc.collect()
    gc.disable()
    try:
        start = pool.used_bytes()
        x = ag.Variable(one)
        y = ag.tanh(ag.exp(x)).sum()
        assert pool.used_bytes() - start >= 2 * one.nbytes
        y.backward()
        assert one.nbytes <= pool.used_bytes() - start < 1.1 * one.nbytes  # x.grad
        x.grad = y = None
        with ag.using(recording=False):
            h = ag.tanh(ag.exp(x))
        assert pool.used_bytes() - start < 1.1 * one.nbytes
        h = None
        assert h is None and pool.used_bytes() == start
    finally:
        gc.enable()


def test_switches_are_put_back_after_an_error():
    with pytest.raises(ZeroDivisionError), ag.using(recording=False, finite=True):
        assert not ag.Function.recording and ag.Function.finite
        _ = 1 / 0
    assert ag.Function.recording and not ag.Function.finite


def v(*shape, dtype=np.float64):
    return ag.Variable(np.ones(shape, dtype))


def twice():
    y = v(2) * 3
    y.sum().backward(keep=True)
    z = y.sum()
    z.backward()
    z.backward()


BAD = [
    (lambda: v(2, 3) @ v(2, 3), ValueError, r"matmul of float64 \(2, 3\) and float64 \(2, 3\)"),
    (lambda: v(2) @ v(2), ValueError, r"matmul of float64 \(2,\) and"),
    (lambda: v(3) + v(4), ValueError, r"add of float64 \(3,\) and float64 \(4,\)"),
    (lambda: v(3) * np.ones((2, 4)), ValueError, r"mul of float64 \(3,\) and float64 \(2, 4\)"),
    (lambda: v(3) * v(3, dtype=np.float32), TypeError, r"mul of float64 \(3,\) and float32 \(3,\)"),
    (lambda: ag.add(v(3), cp.ones(3)), TypeError, r"add of float64 \(3,\) and .*CuPy"),
    (lambda: ag.reshape(v(2, 3), shape=(4,)), ValueError, r"reshape of float64 \(2, 3\)"),
    (lambda: v(3)[5], IndexError, r"getitem of float64 \(3,\)"),
    (lambda: v(2, 3).sum(axis=2), IndexError, "out of range"),
    (
        lambda: ag.mean_squared_error(v(3, 1), np.ones(3)).backward(),
        ValueError,
        r"results of \(3, 1\) and targets of \(3,\)",
    ),
    (lambda: v(3) ** v(3), TypeError, r"power of float64 \(3,\)"),
    (lambda: ag.Variable(3), TypeError, "floats, not <class 'int'>"),
    (lambda: ag.Variable([1.0]), TypeError, "floats, not <class 'list'>"),
    (lambda: ag.Variable(np.arange(3)), TypeError, "floats, not int64"),
    (lambda: (v(2, 3) * 2).backward(), ValueError, r"backward from float64 \(2, 3\) .* sum it"),
    (lambda: v().backward(), RuntimeError, r"nothing was recorded for this float64 \(\)"),
    (twice, RuntimeError, r"freed what made float64 \(\)"),
]


@pytest.mark.parametrize("mistake, error, words", BAD)
def test_mistakes_are_named(mistake, error, words):
    with pytest.raises(error, match=words):
        mistake()


def test_a_wrong_way_back_is_named():
    flat = ag.Function("flat", lambda xp, x: x.sum(axis=0), lambda g, y, x: g)
    with pytest.raises(ValueError, match=r"flat of float64 \(2, 3\): the gradient for \(2, 3\) is"):
        flat(v(2, 3)).sum().backward()


@pytest.mark.parametrize("back", [lambda g, y, a, b: g, lambda g, y, a, b: (g, g, g)])
def test_a_way_back_has_a_gradient_for_each_input(back):
    twin = ag.Function("twin", lambda xp, a, b: a + b, back)
    with pytest.raises(ValueError, match="zip"):
        twin(v(3), v(3)).sum().backward()


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_nan_is_named_forward_and_backward(xp):
    x = ag.Variable(xp.asarray([1.0, 0.0]))
    with ag.using(finite=True):
        with pytest.raises(FloatingPointError, match=r"log of float64 \(2,\) gives NaN"):
            ag.log(x)
        y = (x**0.5).sum()
        with pytest.raises(FloatingPointError, match=r"power of float64 \(2,\) gives NaN"):
            y.backward()
    ag.log(x)  # unasked, nobody looks


def test_an_optimiser_wants_gradients():
    link = ag.Linear(4, 3, np.random.default_rng(0))
    with pytest.raises(RuntimeError, match=r"no gradient for float32 \(4, 3\)"):
        ag.Adam(link).update()


def test_adam_by_its_definition(xp):
    link = ag.Link()
    link.w = ag.Parameter(xp.asarray(normal(7)))
    w, m, u = normal(7), 0.0, 0.0
    adam = ag.Adam(link, rate=0.02)
    for t in range(1, 7):
        link.cleargrads()
        (link.w**4 - link.w).sum().backward()
        adam.update()
        g = 4 * w**3 - 1
        m, u = 0.9 * m + 0.1 * g, 0.999 * u + 0.001 * g * g
        w = w - 0.02 * (m / (1 - 0.9**t)) / (np.sqrt(u / (1 - 0.999**t)) + 1e-8)
    np.testing.assert_allclose(cp.asnumpy(link.w.data), w, rtol=1e-11)


def test_both_sides_learn_the_same():
    x, t = normal(20, 5), np.arange(20) % 3
    found = []
    for xp in (np, cp):
        rng = np.random.default_rng(4)
        net = ag.Chain()
        net.one, net.two = (
            ag.Linear(5, 7, rng, xp, np.float64),
            ag.Linear(7, 3, rng, xp, np.float64),
        )
        adam, errors = ag.Adam(net, rate=0.05), []
        for _ in range(60):
            net.cleargrads()
            out = net.two(ag.tanh(net.one(xp.asarray(x))))
            error = ag.softmax_cross_entropy(out, xp.asarray(t))
            error.backward()
            adam.update()
            errors.append(float(error.data))
        found.append(errors)
    np.testing.assert_allclose(*found, rtol=1e-9)
    assert found[0][-1] < 0.3 * found[0][0]


def test_against_pytorch():
    torch = pytest.importorskip("torch")
    arrays = normal(5, 3), normal(3, 4, seed=2), normal(4, seed=3)
    t = np.array([0, 3, 3, 1, 2])

    def loss(m, x, w, b, cross_entropy, t):
        h = m.sigmoid(x @ w + b) * m.exp(-(b * b))
        return cross_entropy((h / (2 + m.cos(b))) ** 3 + m.log(h + 1), t)

    ours = [ag.Variable(a) for a in arrays]
    y = loss(ag, *ours, ag.softmax_cross_entropy, t)
    y.backward()
    theirs = [torch.tensor(a, requires_grad=True) for a in arrays]
    z = loss(torch, *theirs, torch.nn.functional.cross_entropy, torch.tensor(t))
    z.backward()
    assert float(y.data) == pytest.approx(float(z.detach()), rel=1e-12)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.grad.data, b.grad.numpy(), rtol=1e-10, atol=1e-13)
