"""The data sets of the book: a photograph, and handwritten digits from two collections."""

import hashlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

MNIST_FILE = Path(__file__).parent / "data" / "mnist.npz"
MNIST_SHA256 = "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64"
DIGITS_FILE = Path(__file__).parent / "data" / "digits.npz"
DIGITS_SHA256 = "c389f73b56459202ccde15c5acb00803e8ee4d021c7ca0bef92ccaa65d8c99fc"


class Mnist(NamedTuple):
    """MNIST: images of 28 x 28 grey levels from 0 to 255, and the digits they show, from 0 to 9."""

    x_train: np.ndarray  # (60000, 28, 28) uint8
    y_train: np.ndarray  # (60000,) uint8
    x_test: np.ndarray  # (10000, 28, 28) uint8
    y_test: np.ndarray  # (10000,) uint8


class Digits(NamedTuple):
    """Digits: images of 8 x 8 grey levels from 0 to 16, and the digits they show, from 0 to 9."""

    images: np.ndarray  # (1797, 8, 8) uint8
    labels: np.ndarray  # (1797,) uint8


def mnist(path=MNIST_FILE):
    """Return MNIST as NumPy arrays, read from the file that comes with the book.

    Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of handwritten digits", CC BY-SA 3.0.
    Raises FileNotFoundError without the file, ValueError when its SHA-256 is not the right one.
    """
    return Mnist(*_arrays(path, MNIST_SHA256, Mnist._fields))


def digits(path=DIGITS_FILE):
    """Return Digits as NumPy arrays, read from the file that comes with the book.

    E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", the test set, CC BY 4.0.
    Raises FileNotFoundError without the file, ValueError when its SHA-256 is not the right one.
    """
    return Digits(*_arrays(path, DIGITS_SHA256, Digits._fields))


def _arrays(path, sha256, names):
    found = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} is damaged: its SHA-256 is {found}, and should be {sha256}. "
            "Fetch the book again."
        )
    with np.load(path) as arrays:
        return [arrays[name] for name in names]


def astronaut():
    """Return scikit-image's photograph of Eileen Collins, (512, 512) float32 grey levels in [0, 1].

    NASA, public domain; colours are weighed as skimage.color.rgb2gray does.
    """
    from skimage import color, data

    return color.rgb2gray(data.astronaut()).astype(np.float32)
