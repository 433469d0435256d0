"""A listener is told of every source that is compiled."""

import json
import sys

import cupy as cp
import pytest

from gpuless.engine import sources

LISTENER = """
import json
from pathlib import Path
from sibling_of_the_listener import ANSWER

def check(*told):
    with Path(__file__).with_name("heard").open("a") as file:
        print(json.dumps([*told, ANSWER]), file=file)
    if "refuse me" in told[0]:
        raise ValueError("refused: " + told[2])
"""


@pytest.fixture
def heard(tmp_path, monkeypatch):
    """A function that returns what the listener has been told, and what it imports."""
    (tmp_path / "sibling_of_the_listener.py").write_text("ANSWER = 7")
    path = tmp_path / "listener.py"
    path.write_text(LISTENER)
    monkeypatch.setenv(sources.VARIABLE, str(path))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "sibling_of_the_listener", raising=False)
    return lambda: [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]


def test_kernels_and_modules(heard):
    one = 'extern "C" __global__ void one(int *x) { x[0] = N; }'
    cp.RawKernel(one, "one", options=("-DN=3",)).compile()
    many = "template <class T> __global__ void many(T *x) { x[0] = 1; }"
    cp.RawModule(code=many, name_expressions=["many<int>"]).get_function("many<int>")
    told = heard()
    assert told[0] == [one, ["-DN=3"], "one", [], 7]
    assert (told[1][0], told[1][3]) == (many, ["many<int>"])
    assert len(told) == 2


def test_generated_kernels_once_for_each_set_of_types(heard):
    double = cp.ElementwiseKernel("T x", "T y", "y = 2 * x", "double_it")
    for dtype in ("float32", "int64", "float32"):
        double(cp.arange(3, dtype=dtype))
    cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "add_up")(cp.arange(5.0))
    told = heard()
    assert [name for _, _, name, _, _ in told] == ["double_it", "double_it", "add_up"]
    assert "y = 2 * x" in told[0][0] and "CArray<float" in told[0][0]
    assert "CArray<long long" in told[1][0] and "__global__ void add_up" in told[2][0]


def test_a_listener_may_refuse(heard):
    source = '// refuse me\nextern "C" __global__ void no(int *x) { x[0] = 1; }'
    with pytest.raises(ValueError, match="refused: no"):
        cp.RawKernel(source, "no").compile()


def test_a_source_that_does_not_compile_is_not_told(heard, tmp_path):
    with pytest.raises(cp.cuda.compiler.CompileException):
        cp.RawKernel('extern "C" __global__ void k(int *x) { missing(); }', "k").compile()
    assert not (tmp_path / "heard").exists()


def test_what_is_wrong_with_a_listener(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    for text, message in ((None, "there is no such file"), ("x = 1", "no function `check`")):
        path = tmp_path / f"wrong_{text is None}.py"
        if text:
            path.write_text(text)
        monkeypatch.setenv(sources.VARIABLE, str(path))
        with pytest.raises(RuntimeError, match=message):
            sources.tell("")
