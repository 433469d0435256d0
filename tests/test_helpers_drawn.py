"""The drawn data have what their chapter looks for, and are the same in every run."""

import numpy as np
import pytest
from scipy import ndimage

import helpers


def draw(seed=3, count=2, side=99, cells=4):
    return helpers.microscope(np.random.default_rng(seed), count, side, cells)


def test_images_have_the_shape_type_and_levels_that_are_told():
    images = draw()
    assert images.shape == (2, 99, 99) and images.dtype == np.uint16
    assert images.min() > 250 and 600 < images.max() < 4000
    assert (images[0] != images[1]).any() and (images == draw()).all()


def test_an_image_has_as_many_cells_as_asked_for():
    """As seen by another method than the chapter's: what stays bright after an opening."""
    for cells in (0, 1, 5):
        image = helpers.microscope(np.random.default_rng(cells), 1, 400, cells)[0].astype(float)
        flat = ndimage.uniform_filter(image, 5) - ndimage.minimum_filter(
            ndimage.uniform_filter(image, 25), 75
        )
        _, found = ndimage.label(flat > 130)
        assert abs(found - cells) <= 1, (cells, found)


def test_the_background_is_not_even():
    image = draw(cells=0, side=201)[0].astype(float)
    assert image[30:90, 110:170].mean() > image[150:, :50].mean() + 50


def test_cells_need_room():
    with pytest.raises(ValueError, match="43 at least"):
        draw(side=42)
    assert draw(side=43).shape == (2, 43, 43)


def test_traces_shake_after_their_quake_or_not_at_all():
    traces = helpers.seismograms(np.random.default_rng(5), 101, 1001)
    assert traces.shape == (101, 1001) and traces.dtype == np.float64
    fast = np.diff(traces, axis=1) ** 2
    early, most = fast[:, :249].mean(1), fast.reshape(101, 10, 100).mean(2).max(1)
    assert (early < 4).all()  # twice the noise's variance, and no quake yet
    assert 0.5 < (most > 6).mean() < 0.9


def test_traces_need_samples():
    with pytest.raises(ValueError, match="400 at least"):
        helpers.seismograms(np.random.default_rng(5), 3, 399)
