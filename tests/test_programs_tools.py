"""Which tool, and when: the programs on the stand-in, the counts of lines, the runner, the page."""

import ast
import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import helpers  # noqa: F401  (serves cupy where there is none)
from helpers import device, standin
from helpers.press import evidence, tools_page, tools_picture
from helpers.programs import tools
from helpers.programs.tools import __main__ as runner
from helpers.programs.tools import lines, worker
from helpers.programs.tools.jobs import JOBS, answer, error, inputs, samples, work

FOLDER = Path(tools.__file__).parent
CUPY = [name for name in tools.TOOLS if name.startswith("cupy")]


def small(monkeypatch):
    """Sizes that the stand-in does at once; four numbers a load, several blocks."""
    full = {"add_twice": (20_004,), "stencil": (21, 260), "softmax": (19, 516)}
    full["dense"] = (136, 40, 144)
    few = {
        job: dataclasses.replace(about, full=full[job], odd=about.odd[:2])
        for job, about in JOBS.items()
    }
    for module in (worker, runner):
        monkeypatch.setattr(module, "JOBS", few)
    monkeypatch.setattr(worker, "SECONDS", 1e-4)
    return few


@pytest.mark.parametrize("name", CUPY)
@pytest.mark.parametrize("job", JOBS)
def test_cupys_programs_are_right_at_odd_sizes(name, job):
    tool = tools.load(name)
    if (name, job) == ("cupy_arrays", "stencil") and standin.is_active():
        with pytest.raises(NotImplementedError, match="cupyx.scipy is not covered"):
            worker.odd_sizes(tool, job)
        return
    assert worker.odd_sizes(tool, job) < JOBS[job].tolerance


def test_a_job_is_measured_and_held_against_numpy(monkeypatch):
    few = small(monkeypatch)
    for job in few:
        took = worker.measure("cupy_raw", job)
        assert 0 < took["low"] <= took["median"] <= took["high"] and took["first"] > 0
        assert took["versions"]["NumPy"] == np.__version__
    monkeypatch.setattr(tools.load("cupy_raw"), "softmax", lambda x, out: x)
    with pytest.raises(ValueError, match="cupy_raw, softmax: .* from NumPy's answer"):
        worker.measure("cupy_raw", "softmax")


def test_the_answers_are_loops():
    """The oracle against the definition, an element at a time, and by rows against the whole."""
    (x, w), _, _ = inputs("stencil", (5, 7))
    whole = answer("stencil", (x, w))
    for i, j in np.ndindex(5, 7):
        near = [
            float(w[m, n]) * float(x[i + m - 1, j + n - 1])
            for m in range(3)
            for n in range(3)
            if 0 <= i + m - 1 < 5 and 0 <= j + n - 1 < 7
        ]
        assert whole[i, j] == pytest.approx(sum(near), rel=1e-12)
    (a, b, bias), _, _ = inputs("dense", (4, 3, 5))
    total = float(bias[2]) + sum(float(a[1, k]) * float(b[k, 2]) for k in range(3))
    assert answer("dense", (a, b, bias))[1, 2] == pytest.approx(max(total, 0))
    for job in JOBS:
        size = JOBS[job].odd[1]
        arrays, _, _ = inputs(job, size)
        for rows in (slice(0, 3), slice(2, 9), slice(size[0] - 4, size[0])):
            assert np.allclose(answer(job, arrays, rows), answer(job, arrays)[rows])
    assert error(np.array([np.nan]), np.array([1.0])) == np.inf
    assert error(np.array([2.0]), np.array([1.0])) == 1


@pytest.mark.parametrize("job", JOBS)
def test_work_is_what_must_move_or_be_computed(job):
    size = JOBS[job].odd[1]
    arrays, shape, dtype = inputs(job, size)
    if job == "dense":
        assert work(job, size) == 2 * size[0] * size[1] * size[2]
    else:
        moved = sum(a.nbytes for a in arrays if a.size > 9) + np.empty(shape, dtype).nbytes
        assert work(job, size) == moved
    for rows in samples(job, JOBS[job].full[0]):
        assert 0 <= rows.start < rows.stop <= JOBS[job].full[0]


SOURCE = '''"""A tool."""
import cupy as cp

# of both
HEAD = r"""
// a comment

int head;
"""


def helper(n):
    """A docstring
    of two lines."""
    return n  # counted


def add(x):

    return helper(x) + len(HEAD)


@cp.fuse()
def other(x):
    # a comment
    return x
'''


def test_lines_are_those_that_a_job_needs(tmp_path):
    file = tmp_path / "tool.py"
    file.write_text(SOURCE)
    assert lines.count(file, "add") == 2 + 2 + 3  # itself, its helper, the text
    assert lines.count(file, "other") == 3
    with pytest.raises(KeyError):
        lines.count(file, "nothing")


@pytest.mark.parametrize("name", tools.TOOLS)
def test_every_tool_has_all_jobs(name):
    """Also where its packages are not installed: read as Python."""
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    arguments = {n.name: [a.arg for a in n.args.args] for n in tree.body if hasattr(n, "args")}
    assert arguments["add_twice"] == ["x", "y", "out"]
    assert arguments["stencil"] == ["x", "weights", "out"]
    assert arguments["softmax"] == ["x", "out"]
    assert arguments["dense"] == ["a", "b", "bias", "out"]
    given = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and "Store" in str(n.ctx)}
    given |= set(arguments)
    assert {"put", "get", "wait", "versions", "CANNOT"} <= given


def test_there_are_no_other_tools():
    others = "__init__ __main__ jobs lines worker gate torch_gate gate_measured".split()
    assert {path.stem for path in FOLDER.glob("*.py")} == {*tools.TOOLS, *others}


def test_an_unknown_tool_is_named():
    with pytest.raises(ValueError, match="no tool is called 'cupyraw'; there are cupy_arrays, "):
        tools.load("cupyraw")
    assert tools.known(["jax_jit"]) == ["jax_jit"] and tools.known([]) == list(tools.TOOLS)


def run(*arguments):
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_the_command_lines_say_what_is_wrong():
    done = run("helpers.programs.tools", "cupyraw")
    assert done.returncode == 2 and "no tool is called 'cupyraw'" in done.stderr
    done = run("helpers.programs.tools.worker", "cupy_raw", "sort")
    assert done.returncode == 1 and "helpers.programs.tools.worker" in done.stderr
    if not device.on_gpu:
        for module in ("helpers.programs.tools", "helpers.press.tools_page"):
            done = run(module, *["--measure"] * module.endswith("page"))
            assert done.returncode == 1 and "here is none" in done.stderr.lower()


def test_processes_begin_ahead_and_work_one_by_one(monkeypatch):
    told, begun = [], []

    class Fake:
        def __init__(self, *arguments, numpy_for_numba=None):
            begun.append(arguments)
            self.arguments = arguments

        def finish(self):
            told.append((self.arguments, len(begun)))
            return {"said": self.arguments}

    monkeypatch.setattr(runner, "Process", Fake)
    tasks = [("a",), ("b", "c"), ("d",)]
    found = list(runner.one_by_one(tasks, say=lambda *words: None))
    assert [row["said"] for row in found] == tasks
    assert told == [(("a",), 2), (("b", "c"), 3), (("d",), 3)]


def test_a_process_that_fails_is_a_row_that_says_why():
    found = runner.Process("cupy_raw", "nothing").finish()
    assert list(found) == ["failed"]


@pytest.mark.skipif(device.on_gpu, reason="it is about a machine without a GPU")
def test_a_process_checks_a_tool_and_has_a_numpy_of_its_own(tmp_path):
    found = runner.Process("cupy_kernels", "check").finish()
    assert runner.wrong({"cupy_kernels": found}) == []
    found["dense"] = "RuntimeError: no"
    found["softmax"] = 0.5
    assert len(runner.wrong({"cupy_kernels": found, "x": {"failed": "no"}})) == 3
    (tmp_path / "numba.py").write_text("raise ImportError('the NumPy of ' + __file__)")
    failed = runner.Process("numba_kernels", "check", numpy_for_numba=tmp_path).finish()["failed"]
    assert str(tmp_path) in failed


def test_the_measurement_is_put_together(monkeypatch):
    monkeypatch.setattr(runner, "one_by_one", fake_workers)
    found = runner.measure(["cupy_raw", "jax_jit"])
    assert found["rates"] == {"copy": 4e12, "cublas": 8e14}
    row = found["tools"]["cupy_raw"]["add_twice"]
    assert row["share"] == pytest.approx(12 * 2**28 / 1e-3 / 4e12)
    assert found["tools"]["jax_jit"]["dense"] == {"failed": "no", "lines": 4}
    assert found["gate"] == {"gradcheck": True}


def fake_workers(tasks, numpy_for_numba, say):
    copies = iter((1.0, 0.5))
    for task in tasks:
        if task == ("ceilings",):
            took = next(copies)
            yield {
                "copy": {"median": took, "work": 2e12},
                "cublas": {"median": 2 * took, "work": 8e14},
            }
        elif task == ("gate",):
            yield {"gradcheck": True}
        elif task == ("jax_jit", "dense"):
            yield {"failed": "no"}
        else:
            yield {"median": 1e-3}


def numbers(n, dtype, seed=5):
    import cupy as cp

    rng = np.random.default_rng(seed)
    return [cp.asarray(rng.standard_normal(n).astype(dtype)) for _ in range(3)]


@pytest.mark.parametrize("n, begin", [(1, 0), (1000, 0), (1003, 0), (1004, 1)])
def test_the_gates_gradient_is_its_difference(n, begin):
    """In float64 against central differences, packed and not, at addresses that are odd."""
    import cupy as cp

    from helpers.programs.tools import gate

    x, y, dz = (v[begin:] for v in numbers(n, np.float64))
    z, dx, dy, other = (cp.full_like(x, np.nan) for _ in range(4))
    gate.launch("forward", x, y, z)
    a, b = x.get(), y.get()
    assert np.allclose(z.get(), a / (1 + np.exp(-a)) * b, rtol=1e-12)
    gate.launch("backward", x, y, dz, dx, dy)
    for gradient, step in ((dx, (1e-5, 0)), (dy, (0, 1e-5))):
        gate.launch("forward", x + step[0], y + step[1], z)
        gate.launch("forward", x - step[0], y - step[1], other)
        assert np.allclose(gradient.get(), ((z - other) * dz / 2e-5).get(), rtol=1e-6, atol=1e-8)


def test_the_gate_in_float32_and_far_out():
    import cupy as cp

    from helpers.programs.tools import gate

    x = cp.asarray(np.array([-200, -90, 0, 90, 200, 1, -1, 3, 7], np.float32))
    y, z, dx, dy = cp.ones_like(x), *(cp.full_like(x, np.nan) for _ in range(3))
    gate.launch("forward", x, y, z)
    gate.launch("backward", x, y, y, dx, dy)
    assert np.allclose(z.get()[:5], [0, 0, 0, 90, 200]) and np.allclose(dy.get(), z.get())
    assert np.allclose(dx.get()[:5], [0, 0, 0.5, 1, 1])
    gate.launch("forward", x[:0], y[:0], z[:0])


def test_the_page_is_made_from_the_evidence(monkeypatch):
    stored = evidence.load("tools")
    assert list(stored["tools"]) == list(tools.TOOLS)
    for name, rows in stored["tools"].items():
        for job, row in rows.items():
            assert row["lines"] == lines.count(FOLDER / f"{name}.py", job)
    text = "\n\n".join(tools_page.tables({}))
    for job, about in JOBS.items():
        section = text.partition(f"<summary>{about.title}: ")[2].partition("</details>")[0]
        for name, title in tools.TOOLS.items():
            share = stored["tools"][name][job]["share"]
            assert f"| {title} | {share:.2f} |" in section
        shares = [
            float(line.split("|")[2])
            for line in section.splitlines()
            if " | 0." in line or " | 1." in line
        ]
        assert shares == sorted(shares, reverse=True)
        best = max(rows[job]["share"] for rows in stored["tools"].values())
        assert f" **{best:.2f}** " in text.partition("<details>")[0]
    assert "not measured" not in text and "(Numba-CUDA with " in text
    broken = json.loads(json.dumps(stored))
    broken["tools"]["jax_jit"]["dense"] = {"failed": "no JAX", "lines": 4}
    monkeypatch.setattr(evidence, "load", lambda name: broken)
    assert "| JAX: jit | – | not measured: no JAX |" in "\n".join(tools_page.tables({}))
    monkeypatch.setattr(evidence, "load", lambda name: None)
    nothing = ["Nothing is measured yet."]
    assert tools_page.tables({}) == tools_page.gate({}) == tools_page.picture({}) == nothing


def test_what_the_page_says_of_the_table_holds():
    found = evidence.load("tools")["tools"]
    best = {job: max(found, key=lambda name: found[name][job]["share"]) for job in JOBS}
    assert set(list(best.values())[:3]) == {"cupy_raw"} and best["dense"] != "cupy_raw"
    assert found["cupy_raw"]["dense"]["share"] < 0.5
    for job, rows in found["triton_kernels"].items():
        assert rows["share"] > 0.8 * found[best[job]][job]["share"]
        assert rows["lines"] <= found["cupy_raw"][job]["lines"] / 2
    for name, job in (("torch_eager", "add_twice"), ("torch_eager", "dense")):
        assert found[name][job]["share"] > 0.9 and found[name][job]["lines"] <= 3
    numpys = {rows["dense"]["versions"]["NumPy"] for rows in found.values()}
    assert found["numba_kernels"]["dense"]["versions"]["NumPy"] == min(numpys) < max(numpys)
    for rows in found.values():
        for job, row in rows.items():
            assert max(row["error"], row["odd"]) < JOBS[job].tolerance


def test_the_operation_inside_pytorch_is_told_as_it_was_measured():
    stored = evidence.load("torch_gate")
    assert stored["gradcheck"] is True and stored["error"] < 1e-6
    assert stored["refuses"] == ["ValueError", "TypeError"]
    gain = stored["large"]["eager"]["median"] / stored["large"]["kernels"]["median"]
    assert gain > 1.5  # what the page promises: faster than eager PyTorch
    text = "\n".join(tools_page.gate({}))
    assert f"{gain:.2f} times as fast as eager" in text and "`gradcheck` accepts" in text


def test_what_a_tool_cannot_do_is_what_its_file_says():
    [text] = tools_page.cannot({})
    assert len(text.splitlines()) == len(tools.TOOLS)
    for name in CUPY:
        assert f"- **{tools.TOOLS[name]}**. {tools.load(name).CANNOT}" in text


def test_the_picture_names_tools_that_were_measured():
    stored = evidence.load("tools")
    named = [tool for _, step in tools_picture.STEPS for tool in step]
    assert sorted(named) == sorted(stored["tools"])  # each once
    [text] = tools_page.picture({})
    shown = text.partition("</title>")[2]
    for _, step in tools_picture.STEPS:
        for tool, job in step.items():
            share = stored["tools"][tool][job]["share"]
            words = f"{tools_picture.name(tool)} · {share:.2f}"
            assert f">{words}<" in shown and words in tools_picture.alternative(stored)
            assert tools_picture.name(tool) in tools.TOOLS[tool]
    assert "\n\n" not in text  # else Markdown would go on after a blank line
    missing = json.loads(json.dumps(stored))
    del missing["tools"]["jax_jit"]["add_twice"]["share"]
    assert ">JAX: jit<" in tools_picture.draw(missing)
