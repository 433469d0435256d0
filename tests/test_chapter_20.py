"""Chapter 20's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("20_drop_in_arrays")


def refused(line, says):
    assert "correct" not in line and re.search(says, line), line


@pytest.mark.parametrize("number", range(1, 6))
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, "")
    assert "correct" not in chapter.judged(number, chapter.cells[f"exercise-{number}"])


NUMPY = {
    1: """
def centre_row(image):
    if isinstance(image, np.ndarray):
        return centre_row_in_numpy(image)
    return cp.asarray(centre_row_in_numpy(image.get()))
""",
    2: "def scale_rows(image):\n    return cp.asarray(scale_rows_in_numpy(image.get()))\n",
    4: "def double_transposed_into(a, out):\n    out[:] = cp.asarray(a.get().T * 2)\n",
    5: "def spectra(images):\n    return cp.asarray(np.fft.fft2(images.get()))\n",
}


@pytest.mark.parametrize("number", NUMPY)
def test_numpy_on_the_host(chapter, number):
    refused(chapter.judged(number, NUMPY[number]), "leave the device|new array was made")


CENTRE = """
def centre_row(image):
    xp = cp.get_array_module(image)
    rows = xp.{rows}
    return {result}
"""
ROWS, RESULT = (
    "arange(len(image), dtype='f8')",
    "(image.sum(axis=1) * rows).sum() / image.sum()",
)
CENTRES = {
    "float": (ROWS, f"float({RESULT})", "builtins.float"),
    "item": (ROWS, f"({RESULT}).item()", "builtins.float"),
    "get": (ROWS, f"xp.asarray(({RESULT}).get())", "leave the device|AttributeError"),
    "through the host": (ROWS, f"xp.asarray(float({RESULT}))", "leave the device|numpy"),
    "columns": ("arange(image.shape[1])", "(image.sum(axis=0) * rows).sum() / image.sum()", "exp"),
    "axis 0": (ROWS, "(image.sum(axis=0) * rows).sum() / image.sum()", "Error"),
    "from one": ("arange(1, len(image) + 1)", RESULT, "expected"),
    "not divided": (ROWS, "(image.sum(axis=1) * rows).sum()", "expected"),
    "float32": (ROWS, f"({RESULT}).astype('f4')", "dtype"),
    "one element": (ROWS, f"({RESULT}).reshape(1)", "shape"),
    "the largest row": (ROWS, "xp.argmax(image.sum(axis=1)).astype('f8')", "expected"),
}


@pytest.mark.parametrize("name", CENTRES)
def test_centres_that_are_wrong(chapter, name):
    rows, result, says = CENTRES[name]
    refused(chapter.judged(1, CENTRE.format(rows=rows, result=result)), says)


@pytest.mark.parametrize(
    "lines",
    [
        "return (image * cp.arange(len(image))[:, None]).sum() / image.sum()",
        "return centre_row_in_numpy(image)",
        "return None",
    ],
)
def test_centres_for_one_place(chapter, lines):
    line = chapter.judged(1, f"def centre_row(image):\n    {lines}\n")
    assert "correct" not in line


def test_a_centre_by_a_product_is_right(chapter):
    result = "rows @ image.sum(axis=1) / image.sum()"
    assert "correct" in chapter.judged(1, CENTRE.format(rows=ROWS, result=result))


SCALED = {
    "a loop that makes arrays": (
        "return cp.stack([(r - r.min()) / (r.max() - r.min()) for r in image])",
        "arrays were made|is asked",
    ),
    "a loop with out=": (
        """low, high = cp.min(image, axis=1), cp.max(image, axis=1)
    out = cp.empty_like(image)
    for k in range(len(image)):
        cp.subtract(image[k], low[k], out=out[k])
        cp.divide(out[k], cp.subtract(high[k], low[k], out=high[k]), out=out[k])
    return out""",
        "is asked|arrays were made",
    ),
    "a loop with one array": (
        """out = image.copy()
    for k in range(len(image)):
        cp.multiply(out[k], 1, out=out[k])
    low = image.min(axis=1, keepdims=True)
    return (image - low) / (image.max(axis=1, keepdims=True) - low)""",
        "the device is asked",
    ),
    "of the whole image": (
        "return (image - image.min()) / (image.max() - image.min())",
        "expected",
    ),
    "columns": (
        """low = image.min(axis=0)
    return (image - low) / (image.max(axis=0) - low)""",
        "expected",
    ),
    "no keepdims": ("return (image - image.min(1)) / (image.max(1) - image.min(1))", "Error"),
    "not shifted": (
        "return image / image.max(axis=1, keepdims=True)",
        "expected",
    ),
    "by the largest": (
        """low = image.min(axis=1, keepdims=True)
    return (image - low) / image.max(axis=1, keepdims=True)""",
        "expected",
    ),
    "float32": (
        """low = image.min(axis=1, keepdims=True)
    return ((image - low) / (image.max(axis=1, keepdims=True) - low)).astype('f4')""",
        "dtype",
    ),
    "in place": (
        """image -= image.min(axis=1, keepdims=True)
    image /= image.max(axis=1, keepdims=True)
    return image""",
        "changed argument",
    ),
    "reads a number": (
        """if float(image.min()) < 0:
        return image
    low = image.min(axis=1, keepdims=True)
    return (image - low) / (image.max(axis=1, keepdims=True) - low)""",
        "leave the device",
    ),
    "nothing": ("return None", "not done"),
}


@pytest.mark.parametrize("name", SCALED)
def test_scaled_rows_that_are_wrong(chapter, name):
    lines, says = SCALED[name]
    refused(chapter.judged(2, f"def scale_rows(image):\n    {lines}\n"), says)


@pytest.mark.parametrize(
    "lines",
    [
        """low = image.min(axis=1)[:, None]
    out = image - low
    out /= cp.ptp(image, axis=1)[:, None]
    return out""",
        """t = image.T
    return ((t - t.min(0)) / (t.max(0) - t.min(0))).T""",
    ],
)
def test_other_scaled_rows_that_are_right(chapter, lines):
    assert "correct" in chapter.judged(2, f"def scale_rows(image):\n    {lines}\n")


CLOCK = """
def right_clock(xp, image, n, wait=wait_for_gpu, now=time.perf_counter):
    {}
"""
LOOP = "for _ in range(n): transform(xp, image)"
WARM = "transform(xp, image)"
CLOCKS = {
    "a third of a pass": (
        [WARM, "wait()", "s = now()", "for _ in range(n): xp.fft.ifft(image)", "wait()"]
        + ["return now() - s"],
        "three steps",
    ),
    "five, whatever n": (
        [WARM, "wait()", "s = now()", LOOP.replace("range(n)", "range(5)"), "wait()"]
        + ["return now() - s"],
        "not 3",
    ),
    "the post's": (["s = now()", LOOP, "return now() - s"], "warm up"),
    "waits at the end only": (["s = now()", LOOP, "wait()", "return now() - s"], "warm up"),
    "no wait before": ([WARM, "s = now()", LOOP, "wait()", "return now() - s"], "in the queue"),
    "no wait at the end": ([WARM, "wait()", "s = now()", LOOP, "return now() - s"], "not done"),
    "waits too late": (
        [WARM, "wait()", "s = now()", LOOP, "t = now()", "wait()", "return t - s"],
        "not done",
    ),
    "waits each time": (
        [WARM, "wait()", "s = now()", LOOP + "; wait()", "return now() - s"],
        "each pass",
    ),
    "one pass short": (
        [WARM, "wait()", "s = now()", LOOP.replace("n)", "n - 1)"), "wait()", "return now() - s"],
        "passes on the clock",
    ),
    "the warm-up counts": (
        ["wait()", "s = now()", WARM, LOOP, "wait()", "return now() - s"],
        "warm up",
    ),
    "one pass more": (
        [WARM, "wait()", "s = now()", LOOP, WARM, "wait()", "return now() - s"],
        "passes on the clock",
    ),
    "a time of one pass": (
        [WARM, "wait()", "s = now()", LOOP, "wait()", "return (now() - s) / n"],
        "does not return",
    ),
    "the other way round": (
        [WARM, "wait()", "s = now()", LOOP, "wait()", "return s - now()"],
        "does not return",
    ),
    "its own clock": (
        [WARM, "wait()", "s = time.perf_counter()", LOOP, "wait()", "return now() - s"],
        r"now\(\) is called 1",
    ),
    "its own wait": (
        [WARM, "wait_for_gpu()", "s = now()", LOOP, "wait_for_gpu()", "return now() - s"],
        "in the queue",
    ),
    "waits, then warms up": (
        ["wait()", WARM, "s = now()", LOOP, "wait()", "return now() - s"],
        "in the queue",
    ),
    "reads three times": (
        [WARM, "wait()", "s = now()", LOOP, "now()", "wait()", "return now() - s"],
        "3 times",
    ),
    "a constant": (["return 1e-3"], "0 times"),
    "nothing": (["return None"], "0 times"),
    "gives the wait": ([WARM, "wait()", "s = now()", LOOP, "wait", "return now() - s"], "not done"),
    "a word wrong": ([WARM, "wait()", "s = now()", "sync()", "return now() - s"], "NameError"),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_clocks_that_are_wrong(chapter, name):
    lines, says = CLOCKS[name]
    refused(chapter.judged(3, CLOCK.format("\n    ".join(lines))), says)


@pytest.mark.parametrize(
    "lines",
    [
        [LOOP, "wait()", "s = now()", LOOP, "wait()", "return now() - s"],
        ["wait()", WARM, "wait()", "wait()", "s = -now()", LOOP, "wait()", "wait()", "s += now()"],
    ],
)
def test_other_clocks_that_are_right(chapter, lines):
    lines = lines if "return" in lines[-1] else [*lines, "return s"]
    assert "correct" in chapter.judged(3, CLOCK.format("\n    ".join(lines)))


INTO = {
    "two passes": ("cp.copyto(out, a.T)\n    out *= 2", "asked 2 times"),
    "assigned, then doubled": ("out[:] = a.T\n    cp.multiply(out, 2, out=out)", "asked 2 times"),
    "a temporary": ("out[:] = a.T * 2", "1 new array was made"),
    "copied": ("cp.copyto(out, a.T * 2)", "1 new array was made"),
    "row by row": (
        "for k in range(len(out)):\n        cp.multiply(a[:, k], 2, out=out[k])",
        "is asked",
    ),
    "the name alone": ("out = a.T * 2", "not done"),
    "returned": ("return a.T * 2", "nothing was written"),
    "not transposed": ("out[:] = (a * 2).reshape(out.shape)", "expected"),
    "not doubled": ("cp.multiply(a.T, 1, out=out)", "expected"),
    "in place first": ("a *= 2\n    cp.copyto(out, a.T)", "changed argument"),
    "squared": ("cp.multiply(a.T, a.T, out=out)", "expected"),
    "four times": ("cp.multiply(a.T, 4, out=out)", "expected"),
    "nothing": ("pass", "not done"),
}


@pytest.mark.parametrize("name", INTO)
def test_products_into_an_array_that_are_wrong(chapter, name):
    lines, says = INTO[name]
    refused(chapter.judged(4, f"def double_transposed_into(a, out):\n    {lines}\n"), says)


@pytest.mark.parametrize(
    "line",
    [
        "cp.add(a.T, a.T, out=out)",
        "cp.multiply(a, 2, out=out.T)",
        "cp.ElementwiseKernel('T x', 'T y', 'y = 2 * x', 'doubled')(a.T, out)",
    ],
)
def test_other_products_that_are_right(chapter, line):
    answer = f"def double_transposed_into(a, out):\n    {line}\n"
    assert "correct" in chapter.judged(4, answer)


SPECTRA = {
    "a loop": ("return cp.stack([cp.fft.fft2(i) for i in images])", "arrays were made"),
    "a loop with one result": (
        """out = cp.empty(images.shape, cp.complex64)
    for k in range(len(images)):
        out[k] = cp.fft.fft2(images[k])
    return out""",
        "arrays were made",
    ),
    "all axes": ("return cp.fft.fftn(images)", "expected"),
    "one axis": ("return cp.fft.fft(images)", "expected"),
    "the first two axes": ("return cp.fft.fft2(images, axes=(0, 1))", "expected"),
    "the inverse": ("return cp.fft.ifft2(images)", "expected"),
    "half of it": ("return cp.fft.rfft2(images)", "shape"),
    "shifted": ("return cp.fft.fftshift(cp.fft.fft2(images))", "expected"),
    "float64": ("return cp.fft.fft2(images.astype('f8'))", "dtype"),
    "transposed": ("return cp.fft.fft2(images).transpose(0, 2, 1)", "shape|expected"),
    "scaled": ("return cp.fft.fft2(images, norm='ortho')", "expected"),
    "nothing": ("return None", "not done"),
}


@pytest.mark.parametrize("name", SPECTRA)
def test_spectra_that_are_wrong(chapter, name):
    lines, says = SPECTRA[name]
    refused(chapter.judged(5, f"def spectra(images):\n    {lines}\n"), says)


@pytest.mark.parametrize(
    "line",
    [
        "cp.fft.fft(cp.fft.fft(images, axis=2), axis=1)",
        "cp.fft.fftn(images, axes=(1, 2))",
    ],
)
def test_other_spectra_that_are_right(chapter, line):
    assert "correct" in chapter.judged(5, f"def spectra(images):\n    return {line}\n")
