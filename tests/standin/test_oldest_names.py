"""The names that the stand-in serves are those of the newest CuPy; here, what the oldest lacks.

The oldest is Colab's: what a chapter uses must be there, and what it has the stand-in must know.
"""

import json
import re
from pathlib import Path

import cupy_oldest
import pytest

import gpuless

pytestmark = pytest.mark.skipif(
    not cupy_oldest.is_there(), reason="run python tests/cupy_oldest.py"
)
ROOT = Path(__file__).resolve().parents[2]
# Names of modules that CuPy writes in Python; the sources of the others are not in its wheel.
LATER = {
    "cupy": {
        "cumulative_prod",
        "cumulative_sum",
        "isdtype",
        "make_aligned_dtype",
        "matrix_transpose",
    },
    "cupy.cuda": set(),
    "cupy.exceptions": set(),
    "cupy.fft": set(),
    "cupy.lib": set(),
    "cupy.lib.stride_tricks": set(),
    "cupy.linalg": {"matmul", "matrix_transpose"},
    "cupy.polynomial": set(),
    "cupy.random": set(),
    "cupy.testing": set(),
    "cupyx": set(),
    "cupyx.distributed": set(),
    "cupyx.jit": set(),
    "cupyx.profiler": set(),
}
# What modules import or need for themselves; their users do not.
OWN = set("annotations contextlib cupy cupyx importlib np numpy pathfinder warnings".split())
OWN |= set("Generator GPUTimeitMagics default_float_dtype loader mod module name spec".split())
LIBRARIES = set("cublas curand cusolver cusparse".split())  # cupy.cuda imports them when asked for


@pytest.mark.parametrize("module", LATER)
def test_the_oldest_cupy_lacks_these_names_and_has_no_other(module):
    known = gpuless.public(module)
    there = {name for name in cupy_oldest.names(module) if not name.startswith("_")}
    below = {full.split(".")[-1] for full in gpuless.public("modules") if module + "." in full}
    assert known and known - there - below - LIBRARIES == LATER[module]
    assert there - known - OWN == set()


def test_every_module_that_is_listed_is_in_the_oldest_cupy():
    stems = [cupy_oldest.FOLDER.joinpath(*m.split(".")) for m in gpuless.public("modules")]
    folders = [stem for stem in stems if stem.is_dir()]
    assert len(folders) > 30
    assert all((folder / "__init__.py").is_file() for folder in folders)


def later(source):
    """The names in `source` that the oldest CuPy lacks, as attributes of cp or of its modules."""
    found = set()
    for module, names in LATER.items():
        base = r"\b" + module.replace("cupy", r"c(?:p|upy)", 1).replace(".", r"\.")
        found |= {f"{module}.{name}" for name in names if re.search(rf"{base}\.{name}\b", source)}
    return found


def test_a_later_name_is_found():
    assert later("y = cp.cumulative_sum(x)") == {"cupy.cumulative_sum"}
    assert later("cupy.linalg.matmul(x, y); cp.matmul(x, y)") == {"cupy.linalg.matmul"}
    assert later("np.cumulative_sum(x); cp.cumsum(x)") == set()


def test_no_chapter_uses_a_name_that_the_oldest_cupy_lacks():
    sources = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        sources[path.name] = "\n".join(code)
    for path in (ROOT / "helpers").rglob("*.py"):
        if "standin" not in path.parts:
            sources[path.name] = path.read_text(encoding="utf-8")
    assert len(sources) > 30
    assert {name: found for name, text in sources.items() if (found := later(text))} == {}
