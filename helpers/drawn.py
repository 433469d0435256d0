"""Data that are drawn, because nobody need own them: images from a microscope, traces of quakes."""

import numpy as np

REACH = 20  # pixels from a cell's centre within which it is drawn


def microscope(rng, count, side, cells):
    """Return images of bright, tilted cells on an uneven background: (count, side, side) uint16.

    rng    a numpy.random.Generator
    side   pixels, at least 2 * REACH + 3
    cells  how many lie in each image; some touch. Their axes are 4 to 9 pixels (at 1/e), and their
           grey levels 150 to 900 above a background of 400 to 650; the noise has the square root of
           the level as its standard deviation
    ValueError if the side is too short.
    """
    if side < 2 * REACH + 3:
        raise ValueError(f"a side of {side} pixels; it must be {2 * REACH + 3} at least")
    return np.stack([_image(rng, side, cells) for _ in range(count)])


def _image(rng, side, cells):
    y, x = np.mgrid[:side, :side].astype(np.float32)
    away = (y - 0.3 * side) ** 2 + (x - 0.7 * side) ** 2
    image = 400 + 250 * np.exp(-away / (0.5 * side) ** 2)
    for _ in range(cells):
        at = rng.uniform(REACH, side - REACH - 1, 2)
        (a, b), tilt, light = rng.uniform(4, 9, 2), rng.uniform(0, np.pi), rng.uniform(150, 900)
        near = tuple(slice(k - REACH, k + REACH + 1) for k in at.astype(int))
        v, w = y[near] - at[0], x[near] - at[1]
        along = (v * np.cos(tilt) + w * np.sin(tilt)) / a
        across = (w * np.cos(tilt) - v * np.sin(tilt)) / b
        image[near] += light * np.exp(-(along**2) - across**2)
    noise = rng.standard_normal(image.shape, np.float32)
    return (image + np.sqrt(image) * noise).astype(np.uint16)


def seismograms(rng, rows, samples):
    """Return (rows, samples) float64: noise on a slow swing, and in most rows a quake that fades.

    rng      a numpy.random.Generator
    samples  at least 400; a quake begins at sample 250 or later, 50 before the end at the latest
    ValueError if there are too few samples.
    """
    if samples < 400:
        raise ValueError(f"{samples} samples; there must be 400 at least")
    traces = 5 * np.sin(np.arange(samples) / 90 + rng.uniform(0, 6, (rows, 1)))
    traces += rng.standard_normal((rows, samples))
    for k in np.flatnonzero(rng.random(rows) < 0.7):
        begin = rng.integers(250, samples - 50)
        fading = np.exp(-np.arange(samples - begin) / 150)
        traces[k, begin:] += 9 * fading * rng.standard_normal(samples - begin)
    return traces
