"""Between the pixels of an image, and of a spectrum, by CuPy's coordinates and weights, where
SciPy's are double ones. The long numbers are an H200's; the others follow from CuPy's kernels."""

import cupy as cp
import numpy as np
import pytest
from cupyx.scipy import ndimage
from scipy import ndimage as scipys

import helpers

pytestmark = pytest.mark.skipif(helpers.on_gpu, reason="of the stand-in's own coordinates")


def row(length, kind="f"):
    return cp.asarray(np.arange(length) % 100, kind)


def test_the_edge_of_an_image_in_single_precision():
    for kind, last in (("f", 0), ("B", 0), ("d", 100)):
        image = cp.full((480, 5), 100, kind)
        # CuPy's kernel for zoom() knows of no cval.
        found = ndimage.zoom(image, (0.75, 1), order=1, cval=7)
        assert found[-1, 2] == last and bool((found[:-1] == 100).all())
    found = ndimage.affine_transform(cp.ones(480, "f"), cp.asarray([479 / 359]), order=1, cval=7)
    assert found[359] == 7 and found[358] == 1


def test_single_precision_inside_an_image():
    found = ndimage.zoom(row(224) - 1, 0.1, order=1)
    assert found[[-3, -2, -1]].tolist() == [
        0.76190185546875,
        11.380950927734375,
        21.999984741210938,
    ]
    image = cp.asarray((np.arange(12) == 6).reshape(3, 4) * 50, "f")
    found = ndimage.rotate(image, 60, order=1, output=float)
    assert found[found != 0].tolist() == [
        *(15.849368274211884, 4.246823489665985, 7.98551269554082e-07),
        *(25.00000298023224, 6.698733568191528),
    ]


@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("mode", ndimage._MODES)
def test_in_double_precision_scipys(order, mode):
    image = np.random.default_rng(3).random((9, 7))
    given = {"order": order, "mode": mode, "cval": 2.5}
    at = np.random.default_rng(4).random((2, 40)) * 12 - 2
    for name, how in {"shift": 0.3, "rotate": 33, "zoom": 1.4}.items():
        wanted = getattr(scipys, name)(image, how, **given)
        found = getattr(ndimage, name)(cp.asarray(image), how, **given)
        np.testing.assert_allclose(found.get(), wanted, atol=1e-6 if order > 1 else 1e-12)
    wanted = scipys.map_coordinates(image, at, **given)
    found = ndimage.map_coordinates(cp.asarray(image), cp.asarray(at), **given)
    np.testing.assert_allclose(found.get(), wanted, atol=1e-6 if order > 1 else 1e-12)


def test_a_product_that_is_only_added_to_is_not_rounded_by_itself():
    image = cp.asarray(np.arange(1000) * 37 % 101, "f")
    zoomed = ndimage.zoom(image, 1.2, order=2, mode="reflect", prefilter=False)
    k = np.float64(np.float32(999 / 1199)) * 1106
    near = np.floor(k + 0.5)
    w = k - near
    left, middle, right = image[int(near) - 1 : int(near) + 2].tolist()
    wanted = left * (0.5 - w) ** 2 / 2 + middle * (0.75 - w * w) + right * (0.5 + w) ** 2 / 2
    assert abs(float(zoomed[1106]) - wanted) < 1e-5


def test_half_precision_is_rounded_with_each_pixel():
    image = cp.asarray(np.full((30, 40), 20), "e")
    found = ndimage.zoom(image, 0.75, order=1).get()
    assert found.dtype == np.float16 and {19.984375, 20, 20.015625} == set(found.ravel().tolist())
    assert ndimage.shift(image, 0.5).dtype == np.float16


def test_what_lies_behind_an_axis_is_told_of():
    image = cp.asarray(np.arange(35).reshape(5, 7), "f")
    with pytest.warns(RuntimeWarning, match="grid-wrap"):
        ndimage.rotate(image, 360, reshape=False, order=1, mode="wrap")
    with pytest.warns(RuntimeWarning, match="grid-wrap"):
        ndimage.shift(image[:1], 0.5, order=1, mode="wrap")
    ndimage.rotate(image, 30, order=1, mode="wrap")
    ndimage.rotate(image, 360, reshape=False, order=3, mode="wrap")


def test_weights_of_nothing_leave_out_what_is_no_number():
    image = cp.asarray([1.0, 2, cp.nan, 4, 5], "f")
    assert ndimage.shift(image, 1, order=1).tolist()[:3] == [0, 1, 2]
    assert bool(cp.isnan(ndimage.shift(image, 1, order=1)[3]))
    with pytest.warns(RuntimeWarning, match="NaN"):  # a product of complex numbers makes two
        ndimage.shift(image + 0j, 0.5, order=1)
    mask = cp.asarray([False, False, True, False])
    assert ndimage.shift(mask, 0.5, order=1).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ndimage.zoom(x, 2, order=1.0),
        lambda x: ndimage.zoom(x, 2, mode="edge"),
        lambda x: ndimage.map_coordinates(x, cp.ones((2, 3), complex), order=1),
        lambda x: ndimage.shift(x, 1, cval=None),
        lambda x: ndimage.affine_transform(x, cp.eye(2), output_shape=[4, 4]),
        lambda x: ndimage.fourier_shift(x, None),
        lambda x: ndimage.fourier_gaussian(x, 1, output="complex64"),
    ],
)
def test_mistakes_are_refused(call):
    with pytest.raises((TypeError, ValueError, AttributeError)):
        call(cp.ones((3, 4)))


def test_spectra_in_the_precision_of_the_output():
    x = cp.ones((8, 6), "e")
    assert ndimage.fourier_gaussian(x, 1).dtype == np.float64
    assert ndimage.fourier_shift(x, 1).dtype == np.complex128
    assert ndimage.fourier_uniform(x.astype("F"), 0).dtype == np.complex64
    whole = ndimage.fourier_uniform(cp.ones(8), 4)  # of whole numbers the sine is exactly 0
    assert whole[::2].tolist() == [1, 0, 0, 0]
    half = ndimage.fourier_gaussian(cp.ones(5), 1, n=8)
    assert abs(float(half[4]) - np.exp(-2 * np.pi**2 / 4)) < 1e-15


@pytest.mark.parametrize("name", ["spline_filter", "spline_filter1d"])
def test_splines_of_half_precision_and_into_complex_numbers(name):
    image, call = cp.arange(12.0).reshape(3, 4), getattr(ndimage, name)
    wanted = call(image)
    assert bool(cp.allclose(call(image.astype("e")), wanted))
    assert call(image.astype("e"), output=None).dtype == np.float16
    assert bool(cp.allclose(call(image, output=complex), wanted))
    out = cp.empty((3, 4), "F")
    assert call(image, output=out) is out and bool(cp.allclose(out, wanted, atol=1e-5))
