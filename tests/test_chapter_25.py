"""Chapter 25's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import re

import pytest
from chapter_cells import Chapter
from marks import long_but

chapter = Chapter.fixture("25_your_program")


def refused(line, says):
    assert "correct" not in line and re.search(says, line), line


def test_solutions_pass(chapter):
    for number in range(1, 7):
        assert "correct" in chapter.judged(number, ""), number


def test_stubs_do_not_pass(chapter):
    for number in range(1, 7):
        stub = chapter.cells[f"exercise-{number}"]
        assert "correct" not in chapter.judged(number, stub), number


WHOLE = {
    "all of it stays": ("sum(seconds.values())", "take"),
    "what is moved, alone": ("sum(seconds[k] for k in moved) / factor", "take"),
    "what stays, alone": ("sum(v for k, v in seconds.items() if k not in moved)", "take"),
    "all but the names": ("sum(seconds.values()) / max(len(moved) * factor, 1)", "take"),
    "times the factor": (
        "sum(v * factor if k in moved else v for k, v in seconds.items())",
        "take",
    ),
    "the longest step alone": ("max(seconds.values(), default=0)", "take"),
    "the factor off": ("sum(seconds.values()) - factor", "take"),
    "one step of those moved": (
        "sum(v / factor if k == 'step 0' and moved else v for k, v in seconds.items())",
        "take",
    ),
    "by the number of steps": (
        "sum(seconds.values()) * (1 - len(moved) / len(seconds) * (1 - 1 / factor))",
        "take",
    ),
    "nothing": ("None", "not done yet"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_sums_that_are_wrong(chapter, name):
    value, says = WHOLE[name]
    answer = f"def whole(seconds, moved, factor):\n    return {value}\n"
    refused(chapter.judged(1, answer), says)


def test_a_sum_written_otherwise(chapter):
    answer = """def whole(seconds, moved, factor):
    times = dict(seconds)
    for name in moved:
        times[name] /= factor
    return np.float64(sum(times.values()))
"""
    assert "correct" in chapter.judged(1, answer)


LEVEL = """def level(x):
    inside = cp.ones(x.shape, bool)
    for _ in range({rounds}):
        n = inside.sum()
        mean = cp.where(inside, x, {fill}).sum() / {n}
        square = cp.where(inside, (x - mean) ** 2, 0).sum() / {n}
        inside {op} x <= mean + {width} * cp.sqrt(square)
    return {result}
"""
RIGHT = {"rounds": 5, "fill": 0, "n": "n", "op": "&=", "width": 3, "result": "mean"}
LEVELS = {
    "one float": ({"result": "cp.asarray(float(mean))"}, "leave the device"),
    "a number": ({"result": "float(mean)"}, "must be a cupy.ndarray"),
    "four rounds": ({"rounds": 4}, "expected"),
    "one round": ({"rounds": 1}, "expected"),
    "a mean over all": ({"n": "x.size"}, "expected"),
    "ones outside": ({"fill": 1}, "expected"),
    "two deviations": ({"width": 2}, "expected"),
    "a mask": ({"result": "x[inside].mean()"}, "expected|leave the device"),
    "with an axis": ({"result": "mean[None]"}, "the shape is"),
}


@pytest.mark.parametrize("name", LEVELS)
def test_levels_that_are_wrong_or_wait(chapter, name):
    changes, says = LEVELS[name]
    refused(chapter.judged(2, LEVEL.format(**RIGHT | changes)), says)


def test_a_level_by_weights(chapter):
    answer = """def level(x):
    w = cp.ones_like(x)
    for _ in range(5):
        mean = (w * x).sum() / w.sum()
        w = w * (x <= mean + 3 * cp.sqrt((w * (x - mean) ** 2).sum() / w.sum()))
    return mean
"""
    assert "correct" in chapter.judged(2, answer)


def test_a_level_by_nan(chapter):
    answer = """def level(x):
    for _ in range(5):
        x = cp.where(x <= cp.nanmean(x) + 3 * cp.nanstd(x), x, cp.nan)
    return cp.nanmean(x)
"""
    assert "correct" in chapter.judged(2, answer)


CLEAN = """def clean_stack(images):
    background = gpu_ndimage.gaussian_filter(images, {width})
    return gpu_ndimage.median_filter(images - background, {size})
"""
CLEANS = {
    "the background of all": ("20", "(1, 3, 3)"),
    "the median of three images": ("(0, 20, 20)", "3"),
    "the wrong axis": ("(20, 20, 0)", "(1, 3, 3)"),
    "the median along the stack": ("(0, 20, 20)", "(3, 3, 1)"),
    "a width too small": ("(0, 10, 10)", "(1, 3, 3)"),
    "almost no width": ("(1, 20, 20)", "(1, 3, 3)"),
    "no background": ("(0, 0, 0)", "(1, 3, 3)"),
    "no median": ("(0, 20, 20)", "1"),
    "a median too large": ("(0, 20, 20)", "(1, 5, 5)"),
    "along rows only": ("(0, 0, 20)", "(1, 3, 3)"),
}


@pytest.mark.parametrize("name", CLEANS)
def test_stacks_whose_images_touch(chapter, name):
    width, size = CLEANS[name]
    refused(chapter.judged(3, CLEAN.format(width=width, size=size)), "expected")


def test_a_loop_over_the_images(chapter):
    answer = """def clean_stack(images):
    clean = cp.empty_like(images)
    for k, image in enumerate(images):
        level = gpu_ndimage.gaussian_filter(image, 20)
        clean[k] = gpu_ndimage.median_filter(image - level, 3)
    return clean
"""
    refused(chapter.judged(3, answer), "arrays were made")


STAGED = """def staged(chunks, buffers, lanes, work):
    results = []
    for k, chunk in enumerate(chunks):
        buffer, lane = buffers[k % 2], lanes[k % 2]
        {before}
        buffer[:] = chunk
        with lane:
            x = cp.empty(chunk.shape, chunk.dtype)
            x.set(buffer, stream=lane)
            {between}
            results.append(work(x))
        {after}
    return results
"""
STAGES = {
    "after the last chunk": {"after": "k + 1 == len(chunks) and lane.synchronize()"},
    "only the first time": {"before": "k < 2 and lane.synchronize()"},
    "the default stream": {"before": "cp.cuda.Stream.null.synchronize()"},
}


@pytest.mark.parametrize("name", STAGES)
def test_buffers_that_are_filled_too_early(chapter, name):
    parts = {"before": "", "between": "", "after": ""} | STAGES[name]
    refused(chapter.judged(4, STAGED.format(**parts)), "not its own")


OTHER_STAGED = {
    "no buffer": ("[work(cp.asarray(chunk)) for chunk in chunks]", "a buffer was not used"),
    "on the host": ("[np.asarray(chunk) for chunk in chunks]", "not on the device"),
    "all but one": ("[work(cp.asarray(chunk)) for chunk in chunks[1:]]", "0 results for 1"),
    "in another order": (
        "[work(cp.asarray(chunk)) for chunk in chunks[::-1]]",
        "not its own; the first is that of chunk 4.0",
    ),
    "halved": ("[work(cp.asarray(chunk)) / 2 for chunk in chunks]", "not its own"),
    "nothing": ("None", "not done yet"),
}


@pytest.mark.parametrize("name", OTHER_STAGED)
def test_other_stages_that_are_wrong(chapter, name):
    value, says = OTHER_STAGED[name]
    answer = f"def staged(chunks, buffers, lanes, work):\n    return {value}\n"
    refused(chapter.judged(4, answer), says)


OTHER_STAGES = {
    "the chunk before": {"before": "lanes[(k + 1) % 2].synchronize()"},
    "the device": {"before": "cp.cuda.Device().synchronize()"},
    "at once": {"after": "lane.synchronize()"},
}


@pytest.mark.parametrize("name", OTHER_STAGES)
def test_other_ways_to_wait(chapter, name):
    parts = {"before": "", "between": "", "after": ""} | OTHER_STAGES[name]
    assert "correct" in chapter.judged(4, STAGED.format(**parts))


def test_work_that_is_not_done(chapter):
    answer = STAGED.format(before="lane.synchronize()", between="", after="")
    refused(chapter.judged(4, answer.replace("work(x)", "x")), "what work")


def test_a_chunk_that_is_sent_from_where_it_is(chapter):
    answer = STAGED.format(before="", between="", after="")
    refused(chapter.judged(4, answer.replace("set(buffer", "set(chunk")), "wrong")


def test_copyto_and_an_array_like_the_buffer(chapter):
    answer = STAGED.format(before="lane.synchronize()", between="", after="")
    answer = answer.replace("buffer[:] = chunk", "np.copyto(buffer, chunk)")
    answer = answer.replace("chunk.shape, chunk.dtype", "buffer.shape, buffer.dtype")
    assert "correct" in chapter.judged(4, answer)


def test_results_that_are_yielded(chapter):
    answer = STAGED.format(before="lane.synchronize()", between="", after="")
    answer = answer.replace("results.append(work(x))", "result = work(x)")
    answer = answer.replace("    return results\n", "").replace("{after}", "")
    answer = answer.replace("    results = []\n", "") + "        yield result\n"
    assert "correct" in chapter.judged(4, answer)


def test_an_event_behind_the_copy(chapter):
    answer = """def staged(chunks, buffers, lanes, work):
    results, copied = [], [None, None]
    for k, chunk in enumerate(chunks):
        buffer, lane = buffers[k % 2], lanes[k % 2]
        if copied[k % 2] is not None:
            copied[k % 2].synchronize()
        buffer[:] = chunk
        with lane:
            x = cp.empty(chunk.shape, chunk.dtype)
            x.set(buffer, stream=lane)
            copied[k % 2] = lane.record()
            results.append(work(x))
    return results
"""
    assert "correct" in chapter.judged(4, answer)


CENTRES = {
    "by bincount, which waits": (
        "    at = labels.ravel()\n"
        "    w = [cp.bincount(at, v.ravel(), n + 1) for v in (light, light * rows)]\n"
        "    return w[1][1:] / w[0][1:]\n",
        "leave the device",
    ),
    "pixels, not light": (
        "    w, m = cp.zeros(n + 1), cp.zeros(n + 1)\n"
        "    cupyx.scatter_add(w, labels, cp.ones_like(light))\n"
        "    cupyx.scatter_add(m, labels, rows + 0 * light)\n"
        "    return m[1:] / w[1:]\n",
        "expected",
    ),
    "with the background": (
        "    w, m = cp.zeros(n + 1), cp.zeros(n + 1)\n"
        "    cupyx.scatter_add(w, labels, light)\n"
        "    cupyx.scatter_add(m, labels, light * rows)\n"
        "    return m / w\n",
        "the shape is",
    ),
    "columns": (
        "    rows = cp.arange(labels.shape[1], dtype=np.float64)\n"
        "    w, m = cp.zeros(n + 1), cp.zeros(n + 1)\n"
        "    cupyx.scatter_add(w, labels, light)\n"
        "    cupyx.scatter_add(m, labels, light * rows)\n"
        "    return m[1:] / w[1:]\n",
        "expected",
    ),
    "float32": (
        "    w, m = cp.zeros(n + 1, np.float32), cp.zeros(n + 1, np.float32)\n"
        "    cupyx.scatter_add(w, labels, light.astype(np.float32))\n"
        "    cupyx.scatter_add(m, labels, (light * rows).astype(np.float32))\n"
        "    return m[1:] / w[1:]\n",
        "the dtype is",
    ),
}


@pytest.mark.parametrize("name", CENTRES)
def test_centres_that_are_wrong_or_wait(chapter, name):
    body, says = CENTRES[name]
    first = "    rows = cp.arange(labels.shape[0], dtype=np.float64)[:, None]\n"
    answer = f"def centre_rows(labels, light, n):\n{first}{body}"
    refused(chapter.judged(5, answer), says)


def test_centres_by_a_mask_for_each_cell(chapter):
    answer = """def centre_rows(labels, light, n):
    rows = cp.arange(labels.shape[0])[:, None]
    mine = (labels == cp.arange(1, n + 1)[:, None, None]) * light
    return (mine * rows).sum((1, 2)) / mine.sum((1, 2))
"""
    assert "correct" in chapter.judged(5, answer)


def test_centres_by_add_at(chapter):
    answer = """def centre_rows(labels, light, n):
    rows = cp.arange(labels.shape[0], dtype=np.float64)[:, None]
    weight, moment = cp.zeros(n + 1), cp.zeros(n + 1)
    cp.add.at(weight, labels, light)
    cp.add.at(moment, labels, light * rows)
    return moment[1:] / weight[1:]
"""
    assert "correct" in chapter.judged(5, answer)


ARRIVALS = {
    "all traces' mean": ("traces.mean(1, keepdims=True)", "traces.mean()", "correct"),
    "the mean along the wrong axis": (
        "traces.mean(1, keepdims=True)",
        "traces.mean(0, keepdims=True)",
        "expected",
    ),
    "no slow swings taken": ("spectrum[:, : samples // 50] = 0", "pass", "expected"),
    "one length alone": ("samples = traces.shape[1]", "samples = 1001", "expected"),
    "one swing more": ("samples // 50", "samples // 50 + 1", "expected"),
    "traces, not swings": (
        "spectrum[:, : samples // 50] = 0",
        "spectrum[: samples // 50] = 0",
        "expected",
    ),
    "no zero in front": ("((0, 0), (1, 0))", "((0, 0), (0, 1))", "expected"),
    "a window too short": ("180:-20]", "181:-19]", "expected"),
    "the strongest": ("cp.argmax(ratio > 4, axis=1)", "cp.argmax(ratio, axis=1)", "expected"),
    "the first, with none": (
        "cp.where(strength > 4, cp.argmax(ratio > 4, axis=1), -1)",
        "cp.argmax(ratio > 4, axis=1)",
        "expected",
    ),
    "at least four": ("strength > 4,", "strength > 3,", "expected"),
    "32 bits": ("return arrival,", "return arrival.astype(np.int32),", "the dtype is"),
    "one array": ("return arrival, strength", "return arrival", "expected 2"),
}


@pytest.mark.parametrize("name", long_but(list(ARRIVALS)[:4], ARRIVALS))
def test_arrivals_that_are_wrong(chapter, name):
    old, new, says = ARRIVALS[name]
    solution = next(
        cell for cell in chapter.cells.values() if cell.startswith("# @title Solution 25.6")
    )
    function = solution[: solution.index("\n\n\nhelpers.check")]
    assert function.count(old) == 1
    line = chapter.judged(6, function.replace(old, new))
    if says == "correct":  # its first Fourier coefficient goes anyhow
        assert "correct" in line, line
    else:
        refused(line, says)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            "    return tuple(map(cp.asarray, arrivals_in_numpy(traces.get())))\n",
            "leave the device",
        ),
        (
            "    found = [arrivals_of(trace[None]) for trace in traces]\n"
            "    return tuple(map(cp.concatenate, zip(*found)))\n",
            "arrays were made",
        ),
        ("    return arrivals_in_numpy(traces)\n", "wrong"),
    ],
)
def test_arrivals_on_the_host_or_trace_by_trace(chapter, answer, says):
    before = "arrivals_of = arrivals\n\n\n"
    refused(chapter.judged(6, f"{before}def arrivals(traces):\n{answer}"), says)
