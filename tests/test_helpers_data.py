"""The data are whole, and damage is noticed."""

import numpy as np
import pytest

import helpers
from helpers import data


def test_mnist():
    x_train, y_train, x_test, y_test = mnist = helpers.mnist()
    assert x_train.shape == (60000, 28, 28) and x_test.shape == (10000, 28, 28)
    assert all(array.dtype == np.uint8 for array in mnist)
    assert np.bincount(y_test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert y_train[:5].tolist() == [5, 0, 4, 1, 9]
    assert round(float(x_train.mean()), 2) == 33.32


def test_digits():
    images, labels = helpers.digits()
    assert images.shape == (1797, 8, 8) and images.dtype == labels.dtype == np.uint8
    assert images.min() == 0 and images.max() == 16
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert labels[:12].tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]
    assert images[0, 0].tolist() == [0, 0, 5, 13, 9, 1, 0, 0]


def test_a_damaged_file_is_named_with_both_checksums(tmp_path):
    content = bytearray(data.MNIST_FILE.read_bytes())
    content[len(content) // 2] ^= 1
    path = tmp_path / "mnist.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught:
        data.mnist(path)
    message = str(caught.value)
    assert str(path) in message and data.MNIST_SHA256 in message
    assert (
        len(
            [
                word
                for word in message.replace(",", " ").replace(".", " ").split()
                if len(word) == 64
            ]
        )
        == 2
    )


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere.npz"):
        data.mnist(tmp_path / "nowhere.npz")
    with pytest.raises(FileNotFoundError, match="elsewhere.npz"):
        data.digits(tmp_path / "elsewhere.npz")


def test_one_file_is_not_taken_for_the_other():
    with pytest.raises(ValueError, match="damaged"):
        data.digits(data.MNIST_FILE)


def test_astronaut():
    image = helpers.astronaut()
    assert image.shape == (512, 512) and image.dtype == np.float32
    assert 0 <= image.min() < 0.01 and 0.99 < image.max() <= 1
    assert not np.allclose(image, image.T)
