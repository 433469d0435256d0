"""The data are whole, and damage is noticed."""

import hashlib

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


@pytest.mark.parametrize(
    "name, sha256",
    [
        ("mnist", "06b0d1f124c4e5fa796686ade41a9b778edacc8622f2195a352ef479ad44fc16"),
        ("digits", "87ff0c9e40dc7e2c0e34e7257799c2e3f3aec1a016363bb11cad869ec428a826"),
    ],
)
def test_chapters_get_the_numbers_that_were_recorded_with(name, sha256):
    """To the last byte, however they are read: receipts do not hold the code that reads them."""
    arrays = getattr(helpers, name)()
    assert hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest() == sha256


def test_the_astronauts_grey_levels_are_those_of_the_colours():
    from skimage import data as pictures

    colours = pictures.astronaut()
    wanted = (0.2125 * colours[..., 0] + 0.7154 * colours[..., 1] + 0.0721 * colours[..., 2]) / 255
    assert np.abs(helpers.astronaut() - wanted).max() < 1e-6
