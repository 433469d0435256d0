"""An LSTM's weights on the chip: gradients and steps against chapter 80's model in float64."""

from types import SimpleNamespace

import numpy as np
import nvrtc
import pytest
from marks import long_but

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers import lstm_checks
from helpers.chapters.autograd import Adam
from helpers.chapters.cnn_mnist import relative_error
from helpers.chapters.lstm_sine import SineLSTM, Walk, gradients, sine, window_at_once
from helpers.press import evidence, stays_page
from helpers.programs import lstm_on_chip
from helpers.programs.lstm_on_chip.__main__ import compared
from helpers.xray import can_xray

cp = pytest.importorskip("cupy")


def windows(n_steps, n_batch):
    return np.random.default_rng(8).standard_normal((2, n_steps, n_batch)).astype("f4")


def exact_steps(n_units, x, t, n_updates):
    """Error, gradients of the first update, and parameters after `n_updates`: NumPy, float64."""
    model = lstm_checks.model_without_zeros(SineLSTM, n_units, dtype=np.float64)
    optimizer, first = Adam(model), None
    for _ in range(n_updates):
        model.l2.reset()
        error, found = gradients(model, *map(np.float64, (x, t)), window=window_at_once)
        first = first or (float(error), [g.copy() for g in found])
        optimizer.update()
    return *first, [p.data for p in model.params()]


def off(ours, exact):
    """The largest relative error of several arrays; infinite where zeros are not."""
    found = []
    for a, b in zip(ours, exact, strict=True):
        if b.any():
            found.append(relative_error(a.get(), b))
        else:
            found.append(np.inf if a.any() else 0)
    return np.max(found)  # NaN, if one is


def errors(n_units=64, n_steps=3, n_batch=64, n_updates=1, **how):
    """Relative errors of error, gradients (the largest of seven) and parameters."""
    x, t = windows(n_steps, n_batch)
    error, wanted, parameters = exact_steps(n_units, x, t, n_updates)
    model = lstm_checks.model_without_zeros(SineLSTM, n_units, cp)
    s = lstm_on_chip.load(model, cp.asarray(x), cp.asarray(t), **how)
    lstm_on_chip.step(s)
    s.gemm.stream.synchronize()
    found = [abs(float(s.error[0]) / error - 1), off(s.dw.values(), wanted)]
    for _ in range(n_updates - 1):
        lstm_on_chip.step(s)
    s.gemm.stream.synchronize()
    return *found, off([p.data for p in model.params()], parameters)


def are_small(found):
    return found[0] < 1e-5 and found[1] < 1e-4 and found[2] < 1e-5


def changed(right, wrong):
    def change(text):
        assert right in text
        return text.replace(right, wrong)

    return change


# Steps of a window, updates, is one number the input, do copies come late on the stand-in too?
CASES = [(3, 1, False, 0), (3, 2, True, 0), (5, 2, False, 1), (1, 1, True, 1), (1, 1, False, 0)]


@pytest.mark.parametrize(("n_steps", "n_updates", "one_number", "late"), CASES)
def test_a_step_is_that_in_float64(n_steps, n_updates, one_number, late):
    how = {"n_steps": n_steps, "n_updates": n_updates, "one_number": one_number}
    assert are_small(errors(**how, ASYNC=late))


@pytest.mark.parametrize("one_number", long_but([False], [False, True]))
def test_several_groups_of_blocks(monkeypatch, one_number):
    """More blocks than the stand-in says to have room for; it runs them all the same."""
    monkeypatch.setattr(lstm_on_chip, "why_not", lambda *size: "")
    assert are_small(errors(128, 3, 192, one_number=one_number))


MISTAKES = [
    ("(1 - half) * 16", "half * 16"),
    ("dc[i] *= forget;", ""),
    ("z[1][i] * memory[i]", "memory[i]"),
    ("way / 2 * 8;", "way % 2 * 8;"),
    ("plain[q] += g[q][i];", "plain[q] += g[q][i] * read[i];"),
]


@pytest.mark.parametrize(("right", "wrong"), long_but(MISTAKES[:2], MISTAKES))
def test_a_mistake_in_a_loop_is_seen(right, wrong):
    assert not are_small(errors(change=changed(right, wrong)))


def test_copies_that_are_not_waited_for_are_refused():
    change = changed("await_groups<STAGES - 2>", "await_groups<STAGES - 1>")
    with pytest.raises(Exception, match="has not waited"):
        errors(change=change, ASYNC=1)


MEETINGS = [
    ("", "", ""),
    ("(s + 1) * GROUP", "s * GROUP", "h"),
    ("(steps - s) * GROUP", "(steps - s - 1) * GROUP", "gates swap"),
    ("(steps - 1 - s) * 2", "(steps - 2 - s) * 2", "swap"),
]


@pytest.mark.skipif(not can_xray(), reason="the x-ray needs g++ on x86-64")
@pytest.mark.parametrize(("right", "wrong", "arrays"), long_but(MEETINGS[1:2], MEETINGS))
def test_meetings_of_blocks_that_are_missing_are_seen(right, wrong, arrays):
    """The stand-in runs blocks in one order and would forgive it; a race is a race in any."""
    x, t = map(cp.asarray, windows(3, 64))
    model = SineLSTM(64, np.random.default_rng(0), cp)
    s = lstm_on_chip.load(model, x, t, one_number=True, change=changed(right, wrong))
    found, launched = set(), {name: getattr(s, name) for name in ("forward", "backward")}
    for name, kernel in launched.items():

        def look(grid, block, arguments, shared_mem, kernel=kernel):
            seen = helpers.xray(kernel, grid, block, arguments, shared_mem=shared_mem)
            found.update(race.array for race in seen.races)

        setattr(s, name, look)
    lstm_on_chip.step(s)
    assert found == set(arrays.split())


def test_a_loss_goes_down():
    """With the sine itself, as it is trained; replayed, where there is a graph."""
    model = SineLSTM(64, np.random.default_rng(0), cp)
    x, t = next(Walk(sine, 3, 64, np.random.default_rng(1), cp))
    s = lstm_on_chip.load(model, x, t, one_number=True)
    take, found = lstm_on_chip.recorded(lambda: lstm_on_chip.step(s), s.gemm), []
    for _ in range(4):
        take()
        s.gemm.stream.synchronize()
        found.append(float(s.error[0]))
    assert found == sorted(found, reverse=True)


def test_what_is_measured_comes_to_the_page(monkeypatch):
    """At a small size, and where there is no PyTorch but for a made-up time."""
    stored = compared(64, 64, 3)
    assert max(stored["gradient_errors"].values()) < 1e-4
    assert list(stored["seconds"]) == list(stored["gradient_errors"])
    assert all(np.min(times) > 0 for times in stored["seconds"].values())
    stored["seconds"] = dict.fromkeys(stored["seconds"], [1, 2, 4])
    stored["seconds"]["PyTorch, graph"] = [5, 5, 10]
    stored["gradient_errors"]["PyTorch, graph"] = 1e-6
    stored["receipt"] = {"on": {"gpu": "a GPU"}, "date": "a day"}
    monkeypatch.setattr(evidence, "load", {"lstm_on_chip": stored}.get)
    said = "\n".join(stays_page.lstm_on_chip([]))
    assert "a GPU" in said and "64 units, batch 64, 3 steps" in said
    assert "2.000 s | 0.50 to 2.00 | 0.400 |" in said and "| 1.000 |" in said
    monkeypatch.setattr(evidence, "load", {}.get)
    assert stays_page.lstm_on_chip([]) == ["It has not been measured yet."]


SIZES = [(64, 65, "multiples of 64"), (96, 64, "multiples of 64"), (0, 64, "multiples of 64")]
SIZES += [(128, 640, "80 blocks need a multiprocessor each, and this GPU has 70")]
SIZES += [(1024, 64, "327,680 bytes of shared memory"), (64, 64, "")]


@pytest.mark.parametrize(("n_units", "n_batch", "says"), SIZES)
def test_what_cannot_be_trained_is_refused(monkeypatch, n_units, n_batch, says):
    has = {"CooperativeLaunch": 1, "MultiProcessorCount": 70}
    has |= {"MaxSharedMemoryPerBlockOptin": 166912}
    monkeypatch.setattr(cp.cuda, "Device", lambda: SimpleNamespace(attributes=has))
    assert says in (why := lstm_on_chip.why_not(n_units, n_batch)) and bool(says) == bool(why)
    has["CooperativeLaunch"] = 0
    assert lstm_on_chip.why_not(64, 64) == "this GPU has no cooperative launch"


def test_windows_that_do_not_fit_are_refused():
    model, bad = SineLSTM(64, np.random.default_rng(0), cp), np.zeros((3, 64), "f4")
    x = cp.asarray(bad)
    with pytest.raises(ValueError, match="multiples of 64"):
        lstm_on_chip.load(model, x[:, :63], x[:, :63])
    with pytest.raises(ValueError, match="must be"):
        lstm_on_chip.load(model, x, x[:2])
    for wrong in (x.astype("f8"), bad):
        with pytest.raises(TypeError, match="float32"):
            lstm_on_chip.load(model, wrong, wrong)


@pytest.mark.skipif(not nvrtc.is_installed(), reason="needs nvidia-cuda-nvrtc and -runtime")
@pytest.mark.parametrize("one_number", [False, True])
def test_the_kernels_fit_into_registers(one_number):
    """NVIDIA's compilers take them, and spill nothing, at the size that is measured."""
    import cubins

    options = lstm_on_chip.macros(512, 256, one_number)
    cubins.check(lstm_on_chip.source(), options, "loops")
    cubins.check((lstm_on_chip.FOLDER / "around.cu").read_text(), options, "around")
