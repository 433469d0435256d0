"""Generated from notebooks/50_cnn_mnist.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

from pathlib import Path

import numpy as np
import cupy as cp

from helpers import mnist, progress


def mnist_images(n_train=60000, n_test=10000):
    """Return (images, labels) to train and to test with, two pairs of NumPy arrays.

    Images (N, 1, 28, 28) float32 from 0 to 1, labels (N,) uint8 from 0 to 9.
    """
    x_train, t_train, x_test, t_test = mnist()

    def first(n, x, t):
        return np.float32(x[:n, None]) / 255, t[:n]

    return first(n_train, x_train, t_train), first(n_test, x_test, t_test)


def out_size(size, f, stride, pad):
    """Return how many windows of f elements fit into `size`, in steps of stride."""
    if size + 2 * pad < f:
        raise ValueError(f"a window of {f} does not fit into {size} + 2 * {pad}")
    return (size + 2 * pad - f) // stride + 1


def im2col(x, F_shape, stride=1, pad=0):
    """Windows of x (N, C, H, W), each a column: (C * F_h * F_w, N * O_h * O_w)."""
    xp = cp.get_array_module(x)
    (N, C, H, W), (F_h, F_w) = x.shape, F_shape
    if pad:
        padded = xp.zeros((N, C, H + 2 * pad, W + 2 * pad), x.dtype)
        padded[:, :, pad:-pad, pad:-pad] = x
        x = padded
    n, c, h, w = x.strides  # bytes from one index to the next
    shape = (
        C,
        F_h,
        F_w,
        N,
        out_size(H, F_h, stride, pad),
        out_size(W, F_w, stride, pad),
    )
    strides = c, h, w, n, stride * h, stride * w
    view = xp.lib.stride_tricks.as_strided(x, shape, strides)
    return view.reshape(C * F_h * F_w, -1)  # view[c, f_h, f_w, n, o_h, o_w]


def col2im(cols, x_shape, F_shape, stride=1, pad=0):
    """Add up the columns of cols where im2col took them from; returns x_shape."""
    xp = cp.get_array_module(cols)
    (N, C, H, W), (F_h, F_w) = x_shape, F_shape
    O_h, O_w = out_size(H, F_h, stride, pad), out_size(W, F_w, stride, pad)
    parts = cols.reshape(C, F_h, F_w, N, O_h, O_w).transpose(1, 2, 3, 0, 4, 5)
    x = xp.zeros((N, C, H + 2 * pad, W + 2 * pad), cols.dtype)
    for i in range(F_h):
        for j in range(F_w):
            rows = slice(i, i + stride * O_h, stride)
            columns = slice(j, j + stride * O_w, stride)
            x[:, :, rows, columns] += parts[i, j]  # parts[i, j][n, c, o_h, o_w]
    return x[:, :, pad : pad + H, pad : pad + W]


def numerical_gradient(f, a, h=1e-5):
    """Gradient of the number f() by each element of a, which it changes and puts back."""
    grad = np.empty_like(a)
    for index in np.ndindex(a.shape):
        kept, ends = a[index], []
        for moved in (kept - h, kept + h):
            a[index] = moved
            ends.append(f())
        a[index] = kept
        grad[index] = (ends[1] - ends[0]) / (2 * h)
    return grad


def relative_error(a, b):
    """Length of a - b over the length of b."""
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


class BaseLayer:
    """A layer between samples of I_shape and of O_shape; its arrays belong to xp.

    A layer that learns has weights and biases in one array, wb (n_in + 1, n_out), with
    their views w and b; and their gradients in grad_wb, with views grad_w and grad_b.
    """

    wb = None
    is_first = False  # then nobody needs the gradient of x

    def __init__(self, I_shape, xp=np, dtype=np.float32, rng=None):
        self.I_shape = self.O_shape = tuple(I_shape)
        self.xp, self.dtype = xp, np.dtype(dtype)
        self.rng = rng or np.random.default_rng(0)

    def make_wb(self, n_in, n_out, wb_width):
        wb = np.zeros((n_in + 1, n_out))
        wb[:-1] = wb_width * self.rng.standard_normal((n_in, n_out))
        self.wb = self.xp.asarray(wb.astype(self.dtype))
        self.grad_wb = self.xp.zeros_like(self.wb)
        self.w, self.b = self.wb[:-1], self.wb[-1]
        self.grad_w, self.grad_b = self.grad_wb[:-1], self.grad_wb[-1]

    def update(self):
        if self.wb is not None:
            self.opt.update(self.wb, self.grad_wb)


class ConvLayer(BaseLayer):
    """M filters: x (N, C, H, W) becomes y (N, M, O_h, O_w). F_shape is (M, F_h, F_w)."""

    def __init__(self, I_shape, F_shape, stride=1, pad=0, wb_width=0.05, **kwds):
        super().__init__(I_shape, **kwds)
        (C, H, W), (M, F_h, F_w) = I_shape, F_shape
        self.window = {"F_shape": (F_h, F_w), "stride": stride, "pad": pad}
        self.O_shape = (
            M,
            out_size(H, F_h, stride, pad),
            out_size(W, F_w, stride, pad),
        )
        self.make_wb(C * F_h * F_w, M, wb_width)

    def forward(self, x):
        M, O_h, O_w = self.O_shape
        self.cols = im2col(x, **self.window)  # cols[(c, f_h, f_w), (n, o_h, o_w)]
        y = self.w.T @ self.cols + self.b[:, None]  # y[m, (n, o_h, o_w)]
        return y.reshape(M, -1, O_h, O_w).transpose(1, 0, 2, 3)

    def backward(self, grad):
        x_shape = (len(grad), *self.I_shape)
        grad = grad.transpose(1, 0, 2, 3).reshape(self.O_shape[0], -1)
        self.xp.matmul(
            self.cols, grad.T, out=self.grad_w
        )  # grad_w[(c, f_h, f_w), m]
        grad.sum(axis=1, out=self.grad_b)
        return (
            None if self.is_first else col2im(self.w @ grad, x_shape, **self.window)
        )


class ReLULayer(BaseLayer):
    """y = max(x, 0) for each element."""

    def forward(self, x):
        self.y = self.xp.maximum(x, 0)
        return self.y

    def backward(self, grad):
        return grad * (self.y > 0)


class PoolingLayer(BaseLayer):
    """The largest of each pool x pool window: x (N, C, H, W) becomes y (N, C, O_h, O_w).

    Rows and columns that do not fill a window are left out. Of equal elements the first
    is the largest.
    """

    def __init__(self, I_shape, pool=2, **kwds):
        super().__init__(I_shape, **kwds)
        C, H, W = I_shape
        self.pool, self.window = pool, {"F_shape": (pool, pool), "stride": pool}
        self.O_shape = (C, out_size(H, pool, pool, 0), out_size(W, pool, pool, 0))

    def forward(self, x):
        N, C, H, W = x.shape
        windows = im2col(x.reshape(N * C, 1, H, W), **self.window)
        self.max_index = windows.argmax(axis=0)  # max_index[(n, c, o_h, o_w)]
        return windows.max(axis=0).reshape(N, *self.O_shape)

    def backward(self, grad):
        N, (C, H, W), G = len(grad), self.I_shape, grad.size
        grad_x = self.xp.zeros((G, self.pool * self.pool), grad.dtype)
        grad_x[self.xp.arange(G), self.max_index] = grad.ravel()
        return col2im(grad_x.T, (N * C, 1, H, W), **self.window).reshape(N, C, H, W)


class DenseLayer(BaseLayer):
    """y = x w + b: x (N, *I_shape) becomes y (N, n)."""

    def __init__(self, I_shape, n, wb_width=0.05, **kwds):
        super().__init__(I_shape, **kwds)
        self.O_shape = (n,)
        self.make_wb(int(np.prod(I_shape)), n, wb_width)

    def forward(self, x):
        self.x = x.reshape(len(x), -1)  # x[n, i]
        return self.x @ self.w + self.b  # y[n, j]

    def backward(self, grad):
        self.xp.matmul(self.x.T, grad, out=self.grad_w)
        grad.sum(axis=0, out=self.grad_b)
        return (
            None if self.is_first else (grad @ self.w.T).reshape(-1, *self.I_shape)
        )


class SoftmaxLayer(BaseLayer):
    """Probabilities of x (N, n_class); the error is the mean of -log(probability of t)."""

    def forward(self, x):
        x = x - x.max(axis=1, keepdims=True)
        powers = self.xp.exp(x)
        sums = powers.sum(axis=1, keepdims=True)
        self.y, self.log_y = powers / sums, x - self.xp.log(sums)
        return self.y

    def get_error(self, t):
        """Return the error as a 0-d array; t (N, n_class) has a 1 in each row."""
        return (self.log_y * t).sum() / -len(t)

    def backward(self, t):
        return (self.y - t) / len(t)


@cp.fuse()
def adam_step(wb, m, v, grad, new_m, new_v, rate, part_v, eps):
    m += new_m * (grad - m)
    v += new_v * (grad * grad - v)
    wb -= rate * m / ((v / part_v) ** 0.5 + eps)


class Adam:
    """D. P. Kingma and J. Ba's optimiser, for the array wb, which update changes."""

    def __init__(self, wb, rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        xp = cp.get_array_module(wb)
        self.m, self.v, self.t = xp.zeros_like(wb), xp.zeros_like(wb), 0
        self.rate, self.beta1, self.beta2, self.eps = rate, beta1, beta2, eps

    def update(self, wb, grad):
        self.t += 1
        rate = self.rate / (1 - self.beta1**self.t)
        part_v = 1 - self.beta2**self.t
        new = 1 - self.beta1, 1 - self.beta2
        adam_step(wb, self.m, self.v, grad, *new, rate, part_v, self.eps)


class Network:
    """Layers, one after another; xp, dtype and the seed of the weights for all of them."""

    def __init__(self, I_shape, xp=np, dtype=np.float32, seed=0):
        self.I_shape, self.layers = tuple(I_shape), []
        self.xp, self.dtype = xp, np.dtype(dtype)
        self.rng = np.random.default_rng(seed)
        self.common = {"xp": xp, "dtype": dtype, "rng": self.rng}

    @property
    def learning(self):
        return [layer for layer in self.layers if layer.wb is not None]

    def append(self, layer_class, **options):
        I_shape = self.layers[-1].O_shape if self.layers else self.I_shape
        layer = layer_class(I_shape, **self.common, **options)
        layer.is_first = not self.layers
        if layer.wb is not None:
            layer.opt = Adam(layer.wb)
        self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, t):
        grad = t
        for layer in reversed(self.layers):
            grad = layer.backward(grad)

    def update(self):
        for layer in self.layers:
            layer.update()


def build_cnn(network, pooling=PoolingLayer):
    """Append the layers of the chapter's network, and return it."""
    network.append(ConvLayer, F_shape=(10, 3, 3), pad=1)
    network.append(ReLULayer)
    network.append(pooling, pool=2)
    network.append(DenseLayer, n=100)
    network.append(ReLULayer)
    network.append(DenseLayer, n=10)
    network.append(SoftmaxLayer)
    return network


def checked_images(x, I_shape, dtype, xp):
    """Return the images x as an array of xp and dtype; or say what is wrong with them."""
    if not isinstance(x, (np.ndarray, cp.ndarray)):
        raise TypeError(f"images are a {type(x).__name__}, not an array")
    if x.ndim != 4 or x.shape[1:] != I_shape or not len(x):
        needed = ", ".join(map(str, I_shape if len(I_shape) == 3 else "CHW"))
        raise ValueError(
            f"images are {x.shape}, not (N, {needed}) with N from 1 on"
        )
    if x.dtype.kind != "f":
        raise TypeError(
            f"images are {x.dtype}, not floats: take np.float32(x) / 255"
        )
    x = xp.asarray(x, dtype)
    if not bool(xp.isfinite(x).all()):
        raise ValueError("images have NaN or infinity in them")
    low, high = float(x.min()), float(x.max())
    if low < 0 or high > 1:
        raise ValueError(
            f"images go from {low:g} to {high:g}, not 0 to 1: divide by 255?"
        )
    return x


def one_hot(t, n, n_class, dtype, xp):
    """Return the labels t (n,) as rows with one 1 each; or say what is wrong with them."""
    t = np.asarray(t)
    if t.shape != (n,) or t.dtype.kind not in "iu":
        raise ValueError(f"labels are {t.dtype} {t.shape}, not {n} integers")
    bad = np.flatnonzero((t < 0) | (t >= n_class))
    if bad.size:
        raise ValueError(f"label {bad[0]} is {t[bad[0]]}, not 0 to {n_class - 1}")
    return xp.asarray(np.eye(n_class, dtype=dtype)[t])


class Keeper:
    """Keeps a copy of what a network has learnt while all is finite, and brings it back."""

    def __init__(self, network):
        self.network = network
        self.look(0.0)

    def look(self, error):
        """Copy all. If the error or a weight is not finite: FloatingPointError."""
        network = self.network
        finite = [
            bool(network.xp.isfinite(layer.wb).all()) for layer in network.learning
        ]
        if np.isfinite(error) and all(finite):
            self.steps, self.copies = (
                network.steps,
                [*map(self.copy, network.learning)],
            )
            return
        for layer, (wb, opt) in zip(network.learning, self.copies):
            layer.wb[...] = wb
            vars(layer.opt).update(opt)
        last, network.steps = network.steps, self.steps
        raise FloatingPointError(
            f"the error became {error} in steps {self.steps + 1} to {last}: is an image bad,"
            f" or a rate far too large? All is again as it was after step {self.steps}"
        )

    def copy(self, layer):
        """Return wb, and what the optimiser knows."""
        arrays = self.network.xp.ndarray
        known = vars(layer.opt).items()
        return layer.wb.copy(), {
            name: value.copy() if isinstance(value, arrays) else value
            for name, value in known
        }


class Predictor(Network):
    """A network with its data. train and test: images (N, C, H, W) and labels (N,)."""

    def __init__(self, train, test, n_class=10, **options):
        super().__init__(np.shape(train[0])[1:], **options)
        kind = {"dtype": self.dtype, "xp": self.xp}
        self.x_train = checked_images(train[0], self.I_shape, **kind)
        self.x_test = checked_images(test[0], self.I_shape, **kind)
        self.t_train = one_hot(train[1], len(self.x_train), n_class, **kind)
        self.t_test = one_hot(test[1], len(self.x_test), n_class, **kind)

    def predict(self, x, n_batch=1000):
        """Return the probabilities (N, n_class) for the images x (N, C, H, W)."""
        x = checked_images(x, self.I_shape, self.dtype, self.xp)
        starts = range(0, len(x), n_batch)
        return self.xp.concatenate(
            [self.forward(x[i : i + n_batch]) for i in starts]
        )

    def accuracy(self, x, t):
        """Return which share of the images x is read as t (N, n_class) has it."""
        return float((self.predict(x).argmax(axis=1) == t.argmax(axis=1)).mean())


class LayerManager(Predictor):
    """A network that trains. steps counts; errors holds (step, mean error since the last);
    accuracies holds (training, test) of each epoch, on equally many images."""

    def __init__(self, train, test, **options):
        super().__init__(train, test, **options)
        self.steps, self.errors, self.accuracies = 0, [], []

    def step(self, x, t):
        """Learn from one batch. Return its error, a 0-d array, without waiting for it."""
        self.forward(x)
        error = self.layers[-1].get_error(t)
        self.backward(t)
        self.update()
        self.steps += 1
        return error

    def training(self, epoch, n_batch=8, every=500):
        """Train; an incomplete batch at the end of an epoch is left out."""
        n, keeper = len(self.x_train), Keeper(self)
        if not 1 <= n_batch <= n:
            raise ValueError(
                f"n_batch is {n_batch}, not 1 to {n}, the number of images"
            )
        for _ in range(epoch):
            order = self.xp.asarray(self.rng.permutation(n))
            x, t = self.x_train[order], self.t_train[order]
            ends, total, count = range(n_batch, n + 1, n_batch), 0, 0
            for end in progress(ends, f"Epoch {len(self.accuracies) + 1}"):
                batch = slice(end - n_batch, end)
                total, count = total + self.step(x[batch], t[batch]), count + 1
                if count == every or end == ends[-1]:
                    mean, total, count = float(total) / count, 0, 0
                    keeper.look(mean)
                    self.errors.append((self.steps, mean))
            self.accuracies.append(self.both_accuracies())

    def both_accuracies(self):
        some = slice(len(self.x_test))
        train = self.accuracy(self.x_train[some], self.t_train[some])
        return train, self.accuracy(self.x_test, self.t_test)


def save_weights(network, path):
    """Write the weights and biases of all layers to an .npz file."""
    weights = [cp.asnumpy(layer.wb) for layer in network.learning]
    with open(path, "wb") as file:
        np.savez(file, **{f"wb{k}": wb for k, wb in enumerate(weights)})


def load_weights(network, path):
    """Read what save_weights wrote; ValueError if it is damaged or of another network."""
    name = Path(path).name
    try:
        with np.load(path) as file:
            arrays = [file[f"wb{k}"] for k in range(len(file))]
    except FileNotFoundError:
        raise
    except Exception as error:  # which one depends on what is damaged
        raise ValueError(
            f"{name} is damaged, or holds no weights: {error}"
        ) from error
    found, needed = (
        [a.shape for a in arrays],
        [a.wb.shape for a in network.learning],
    )
    if found != needed:
        raise ValueError(f"{name} is of another network: {found}, needed {needed}")
    if not all(np.isfinite(array).all() for array in arrays):
        raise ValueError(f"{name} has weights that are NaN or infinite")
    for array, layer in zip(arrays, network.learning):
        layer.wb[...] = network.xp.asarray(array.astype(network.dtype))
