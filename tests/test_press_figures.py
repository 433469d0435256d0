"""What the figures one can touch are made from; where a published chapter finds its pictures."""

import json
import shutil

import pytest

from helpers.press import figures, notebook, publish

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Return a folder with the two chapters that the ceilings are read from, to be changed."""
    for stem in ("10_matmul_kernel", "30_elementwise_kernel"):
        shutil.copy(notebook.NOTEBOOKS / f"{stem}.ipynb", tmp_path)
    monkeypatch.setattr(notebook, "NOTEBOOKS", tmp_path)
    return tmp_path


def change(path, change):
    """Put the text of the file at `path` through the function `change`."""
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def line_of(path, start):
    """Return the one stored line that begins with `start`."""
    lines = [
        line.rstrip("\n")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", [])
        for line in output.get("text", []) + output.get("data", {}).get("text/plain", [])
        if line.startswith(start)
    ]
    assert len(lines) == 1
    return lines[0]


def test_ceilings_are_those_that_the_chapters_store(recorded):
    copy = line_of(recorded / "30_elementwise_kernel.ipynb", "copy: ")
    for found in figures.ceilings():
        product = line_of(recorded / "10_matmul_kernel.ipynb", f"cuBLAS, {found['type']} ")
        rate, unit = copy.split()[1:3]
        assert (float(rate), unit) == (pytest.approx(found["bandwidth"] / 1e12), "TB/s")
        assert copy.endswith(f" on {found['gpu']}")
        rate, unit = product.split()[-2:]
        assert (float(rate), unit) == (pytest.approx(found["peak"] / 1e12), "TFLOP/s")
    assert [found["type"] for found in figures.ceilings()] == ["float32", "float64"]


def test_ceilings_follow_a_new_recording(recorded):
    path = recorded / "30_elementwise_kernel.ipynb"
    copy = line_of(path, "copy: ")
    change(path, lambda text: text.replace(copy, "copy: 876.5 GB/s on Some GPU"))
    assert {found["bandwidth"] for found in figures.ceilings()} == {876.5e9}


def test_ceilings_that_are_gone_or_of_two_machines_are_an_error(recorded):
    path = recorded / "30_elementwise_kernel.ipynb"
    gpu = notebook.read(path).metadata.receipt["gpu"]
    change(path, lambda text: text.replace(f'"gpu": "{gpu}"', '"gpu": "Another GPU"'))
    with pytest.raises(ValueError, match="recorded on Another GPU, but 10_matmul_kernel on"):
        figures.ceilings()
    change(path, lambda text: text.replace("copy: ", "copied: "))
    with pytest.raises(ValueError, match="30_elementwise_kernel stores no line of a copy"):
        figures.ceilings()


def test_a_product_that_is_gone_is_an_error(recorded):
    change(recorded / "10_matmul_kernel.ipynb", lambda text: text.replace("cuBLAS, float64", "x"))
    with pytest.raises(ValueError, match="10_matmul_kernel has no row of cuBLAS, float64"):
        figures.ceilings()


def test_published_chapters_find_their_pictures_at_the_same_commit(tmp_path):
    address = publish.archive("https://github.com/someone/a-book", SHA)
    (copy,) = publish.publish(address, tmp_path, [notebook.NOTEBOOKS / "35_indexing.ipynb"])
    picture = "/book/figures/touch-raw.svg)"
    assert f"](https://github.com/someone/a-book/raw/{SHA}{picture}" in copy.read_text("utf-8")
    assert f"..{picture}" not in copy.read_text("utf-8")
    (again,) = publish.publish(address.replace("someone", "a"), tmp_path / "again", [copy])
    assert f"](https://github.com/a/a-book/raw/{SHA}{picture}" in again.read_text("utf-8")
    assert "someone" not in again.read_text("utf-8")
