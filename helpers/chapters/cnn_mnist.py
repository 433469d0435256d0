"""Generated from notebooks/50_cnn_mnist.ipynb and notebooks/52_training.ipynb by `python -m helpers.press.export`: do not edit."""
# ruff: noqa
# fmt: off

import numpy as np
import cupy as cp

from helpers import mnist


def mnist_images(n_train=60000, n_test=10000):
    """Return (images, labels) to train and to test with, as NumPy arrays.

    Images (N, 1, 28, 28) float32 from 0 to 1, labels (N,) uint8 from 0 to 9.
    """
    x_train, t_train, x_test, t_test = mnist()
    few, rest = slice(n_train), slice(n_test)
    train = np.float32(x_train[few, None]) / 255, t_train[few]
    return train, (np.float32(x_test[rest, None]) / 255, t_test[rest])


# @title Solution 50.1
def out_size(size, f, stride, pad):
    """How many windows of f elements fit into `size`, in steps of stride."""
    if size + 2 * pad < f:
        raise ValueError(f"{f} does not fit into {size} + 2 * {pad}")
    return (size + 2 * pad - f) // stride + 1


def im2col(x, F_shape, stride=1, pad=0):
    """Windows of x (N, C, H, W) as (C * F_h * F_w, N * O_h * O_w)."""
    xp = cp.get_array_module(x)
    (N, C, H, W), (F_h, F_w) = x.shape, F_shape
    O_h, O_w = out_size(H, F_h, stride, pad), out_size(W, F_w, stride, pad)
    if pad:
        padded = xp.zeros((N, C, H + 2 * pad, W + 2 * pad), x.dtype)
        padded[:, :, pad:-pad, pad:-pad] = x
        x = padded
    n, c, h, w = x.strides  # bytes from one index to the next
    shape = C, F_h, F_w, N, O_h, O_w
    strides = c, h, w, n, stride * h, stride * w
    view = xp.lib.stride_tricks.as_strided(x, shape, strides)
    return view.reshape(C * F_h * F_w, -1)  # view[c, f_h, f_w, n, o_h, o_w]


def col2im(cols, x_shape, F_shape, stride=1, pad=0):
    """Add up the columns where im2col took them from; returns x_shape."""
    xp = cp.get_array_module(cols)
    (N, C, H, W), (F_h, F_w) = x_shape, F_shape
    O_h, O_w = out_size(H, F_h, stride, pad), out_size(W, F_w, stride, pad)
    parts = cols.reshape(C, F_h, F_w, N, O_h, O_w).transpose(1, 2, 3, 0, 4, 5)
    x = xp.zeros((N, C, H + 2 * pad, W + 2 * pad), cols.dtype)
    for i in range(F_h):
        for j in range(F_w):
            rows = slice(i, i + stride * O_h, stride)
            columns = slice(j, j + stride * O_w, stride)
            x[:, :, rows, columns] += parts[i, j]  # [n, c, o_h, o_w]
    return x[:, :, pad : pad + H, pad : pad + W]


def numerical_gradient(f, a, h=1e-5):
    """Gradient of the number f() by each element of a, which is put back."""
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
    """Takes samples of I_shape, gives samples of O_shape; xp is np or cp.

    Weights and biases are one array, wb (n_in + 1, n_out), with views w, b.
    """

    wb = None  # a layer that learns has some
    opt = None  # and an optimiser, which the network gives it
    wb_width = 0.05  # of the first weights, as in the source

    def __init__(self, I_shape, xp=np, dtype=np.float32, rng=None, first=False):
        self.I_shape = self.O_shape = tuple(I_shape)
        self.xp, self.dtype = xp, np.dtype(dtype)
        self.rng = rng or np.random.default_rng(0)
        self.is_first = first  # then nobody asks for the gradient of x

    def make_wb(self, n_in, n_out):
        wb = np.zeros((n_in + 1, n_out), self.dtype)
        wb[:-1] = self.wb_width * self.rng.standard_normal((n_in, n_out))
        self.wb = self.xp.asarray(wb)
        self.grad_wb = self.xp.zeros_like(self.wb)
        self.w, self.b = self.wb[:-1], self.wb[-1]
        self.grad_w, self.grad_b = self.grad_wb[:-1], self.grad_wb[-1]


class ConvLayer(BaseLayer):
    """M filters of F_shape (F_h, F_w): (N, C, H, W) to (N, M, O_h, O_w)."""

    def __init__(self, I_shape, M, F_shape, stride=1, pad=0, **options):
        super().__init__(I_shape, **options)
        self.window = {"F_shape": F_shape, "stride": stride, "pad": pad}
        (C, H, W), (F_h, F_w) = I_shape, F_shape
        O_h, O_w = out_size(H, F_h, stride, pad), out_size(W, F_w, stride, pad)
        self.O_shape = M, O_h, O_w
        self.make_wb(C * F_h * F_w, M)

    def forward(self, x):
        M, O_h, O_w = self.O_shape
        self.cols = im2col(x, **self.window)  # [(c, f_h, f_w), (n, o_h, o_w)]
        y = self.w.T @ self.cols + self.b[:, None]  # y[m, (n, o_h, o_w)]
        return y.reshape(M, -1, O_h, O_w).transpose(1, 0, 2, 3)

    def backward(self, grad):
        grad_y = grad.transpose(1, 0, 2, 3).reshape(self.O_shape[0], -1)
        self.xp.matmul(self.cols, grad_y.T, out=self.grad_w)
        grad_y.sum(axis=1, out=self.grad_b)
        if self.is_first:
            return None
        x_shape = len(grad), *self.I_shape
        return col2im(self.w @ grad_y, x_shape, **self.window)


class ReLULayer(BaseLayer):
    """y = max(x, 0) for each element."""

    def forward(self, x):
        self.y = self.xp.maximum(x, 0)
        return self.y

    def backward(self, grad):
        return grad * (self.y > 0)


class PoolingLayer(BaseLayer):
    """The largest of each pool x pool window: (N, C, H, W) to (N, C, O_h, O_w).

    What fills no window is left out. Of equal elements the first counts.
    """

    def __init__(self, I_shape, pool=2, **options):
        super().__init__(I_shape, **options)
        C, H, W = I_shape
        self.pool, self.window = pool, {"F_shape": (pool, pool), "stride": pool}
        self.O_shape = C, out_size(H, pool, pool, 0), out_size(W, pool, pool, 0)

    def forward(self, x):
        N, C, H, W = x.shape
        windows = im2col(x.reshape(N * C, 1, H, W), **self.window)
        self.max_index = windows.argmax(axis=0)  # max_index[(n, c, o_h, o_w)]
        return windows.max(axis=0).reshape(N, *self.O_shape)

    def backward(self, grad):
        N, (C, H, W), G = len(grad), self.I_shape, grad.size
        grad_x = self.xp.zeros((G, self.pool**2), grad.dtype)
        grad_x[self.xp.arange(G), self.max_index] = grad.ravel()
        grad_x = col2im(grad_x.T, (N * C, 1, H, W), **self.window)
        return grad_x.reshape(N, C, H, W)


class DenseLayer(BaseLayer):
    """y = x w + b: x (N, *I_shape) becomes y (N, n)."""

    def __init__(self, I_shape, n, **options):
        super().__init__(I_shape, **options)
        self.O_shape = (n,)
        self.make_wb(int(np.prod(I_shape)), n)

    def forward(self, x):
        self.x = x.reshape(len(x), -1)  # x[n, i]
        return self.x @ self.w + self.b  # y[n, j]

    def backward(self, grad):
        self.xp.matmul(self.x.T, grad, out=self.grad_w)
        grad.sum(axis=0, out=self.grad_b)
        if self.is_first:
            return None
        return (grad @ self.w.T).reshape(-1, *self.I_shape)


from helpers import progress


# @title Solution 52.1
def log_softmax(z):
    """Logarithms of the probabilities that are made of each row of z."""
    xp = cp.get_array_module(z)
    z = z - z.max(axis=1, keepdims=True)
    return z - xp.log(xp.exp(z).sum(axis=1, keepdims=True))


class SoftmaxLayer(BaseLayer):
    """Probabilities of x (N, n_class), and the error: the last layer."""

    def forward(self, x):
        self.log_y = log_softmax(x)
        self.y = self.xp.exp(self.log_y)
        return self.y

    def get_error(self, t):
        """The mean of -log p, a 0-d array; t (N, n_class) has a 1 a row."""
        return (self.log_y * t).sum() / -len(t)

    def backward(self, t):
        """The gradient by x of the error for the right answers t."""
        return (self.y - t) / len(t)


@cp.fuse()
def adam_step(wb, m, v, grad, new_m, new_v, rate, part_v, eps):
    m += new_m * (grad - m)
    v += new_v * (grad * grad - v)
    wb -= rate * m / ((v / part_v) ** 0.5 + eps)


class Adam:
    """D. P. Kingma and J. Ba's optimiser of the array wb."""

    def __init__(self, wb, rate=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
        xp = cp.get_array_module(wb)
        self.m, self.v, self.t = xp.zeros_like(wb), xp.zeros_like(wb), 0
        self.rate, self.beta1, self.beta2, self.eps = rate, beta1, beta2, eps

    def update(self, wb, grad):
        """Change wb in place."""
        self.t += 1
        rate = self.rate / (1 - self.beta1**self.t)
        part_v = 1 - self.beta2**self.t
        new = 1 - self.beta1, 1 - self.beta2
        adam_step(wb, self.m, self.v, grad, *new, rate, part_v, self.eps)


class Network:
    """Layers one after another, with one xp, dtype and seed for all."""

    def __init__(self, I_shape, xp=np, dtype=np.float32, seed=0, opt=Adam):
        self.I_shape, self.layers, self.learning = tuple(I_shape), [], []
        self.xp, self.dtype, self.opt = xp, np.dtype(dtype), opt
        self.rng = np.random.default_rng(seed)

    def append(self, layer_class, **options):
        I_shape = self.layers[-1].O_shape if self.layers else self.I_shape
        options |= {"xp": self.xp, "dtype": self.dtype, "rng": self.rng}
        layer = layer_class(I_shape, first=not self.layers, **options)
        self.layers.append(layer)
        if layer.wb is not None:
            layer.opt = self.opt(layer.wb)
            self.learning.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, t):
        grad = self.layers[-1].backward(t)  # of the error, whose layer it is
        for layer in reversed(self.layers[:-1]):
            grad = layer.backward(grad)

    def update(self):
        for layer in self.learning:
            layer.opt.update(layer.wb, layer.grad_wb)


def build_cnn(network, pooling=PoolingLayer):
    """Append the chapter's seven layers to the network, and return it."""
    network.append(ConvLayer, M=10, F_shape=(3, 3), pad=1)
    network.append(ReLULayer)
    network.append(pooling, pool=2)
    network.append(DenseLayer, n=100)
    network.append(ReLULayer)
    network.append(DenseLayer, n=10)
    network.append(SoftmaxLayer)
    return network


def placed(images, labels, like, n_class=10):
    """Images, and labels as rows with a 1, as arrays of the network `like`."""
    if images.dtype.kind != "f" or not 0 <= images.min() <= images.max() <= 1:
        raise ValueError("images must be floats from 0 to 1: divide by 255?")
    if len(labels) != len(images):
        raise ValueError(f"{len(labels)} labels for {len(images)} images")
    if not 0 <= labels.min() <= labels.max() < n_class:
        raise ValueError(f"labels must be from 0 to {n_class - 1}")
    rows = np.eye(n_class, dtype=like.dtype)[labels]
    return like.xp.asarray(images, like.dtype), like.xp.asarray(rows)


class LayerManager(Network):
    """A network with its data: train and test are (images, labels)."""

    def __init__(self, train, test, **options):
        super().__init__(train[0].shape[1:], **options)
        self.x_train, self.t_train = placed(*train, self)
        self.x_test, self.t_test = placed(*test, self)
        self.steps, self.errors, self.accuracies = 0, [], []

    def predict(self, x, n_batch=1000):
        """The probabilities (N, n_class) for images x (N, C, H, W)."""
        starts = range(0, len(x), n_batch)
        parts = [self.forward(x[i : i + n_batch]) for i in starts]
        return self.xp.concatenate(parts)

    def accuracy(self, x, t):
        """The share of the images x that is read as t (N, n_class) says."""
        read, right = self.predict(x).argmax(axis=1), t.argmax(axis=1)
        return float((read == right).mean())

    def step(self, x, t):
        """Learn from a batch; its error, a 0-d array, is not waited for."""
        self.forward(x)
        error = self.layers[-1].get_error(t)
        self.backward(t)
        self.update()
        self.steps += 1
        return error


def training(lm, epochs, n_batch=8, every=500):
    """Train; keep the errors, and the accuracy after each epoch."""
    n, same = len(lm.x_train), slice(len(lm.x_test))
    if n_batch > n:
        raise ValueError(f"a batch of {n_batch} does not fit into {n} images")
    for _ in range(epochs):
        order = lm.xp.asarray(lm.rng.permutation(n))
        x, t = lm.x_train[order], lm.t_train[order]
        ends, total, count = range(n_batch, n + 1, n_batch), 0, 0
        for end in progress(ends, f"Epoch {len(lm.accuracies) + 1}"):
            batch = slice(end - n_batch, end)
            total, count = total + lm.step(x[batch], t[batch]), count + 1
            if count == every or end == ends[-1]:
                mean, total, count = float(total) / count, 0, 0
                if not np.isfinite(mean):
                    raise FloatingPointError(f"error {mean}, step {lm.steps}")
                lm.errors.append((lm.steps, mean))
        seen = lm.accuracy(lm.x_train[same], lm.t_train[same])
        lm.accuracies.append((seen, lm.accuracy(lm.x_test, lm.t_test)))
        right = " and ".join(f"{100 * a:.2f} %" for a in lm.accuracies[-1])
        print(f"error {mean:.4f}; right: {right} of training and test images")


def save_weights(network, path):
    """Write weights and biases of all layers to `path`, an .npz file."""
    np.savez(path, *[cp.asnumpy(layer.wb) for layer in network.learning])


def load_weights(network, path):
    """Put back what was saved; ValueError for another network's file."""
    with np.load(path) as file:
        arrays = [file[name] for name in file.files]
    found = [array.shape for array in arrays]
    needed = [layer.wb.shape for layer in network.learning]
    if found != needed:
        raise ValueError(f"the file has {found}, the network needs {needed}")
    for layer, array in zip(network.learning, arrays):
        layer.wb[...] = network.xp.asarray(array, layer.wb.dtype)
