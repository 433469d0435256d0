"""The page "Ten minutes to a first kernel": its code does what the page says, here and on a GPU."""

import re

import numpy as np
import nvrtc
import pytest
from nbclient import NotebookClient

from helpers.press import first_page, notebook, publish

X = np.arange(10, dtype=np.float32)
SHA = "0123456789abcdef0123456789abcdef01234567"


def kernels():
    """Return {part: the source of its kernel}."""
    return {
        name: re.search(r'r"""(.*?)"""', code, re.S)[1] for name, code in first_page.parts().items()
    }


def test_the_page_shows_every_part_once_and_in_order():
    shown = [piece for kind, piece in first_page.pieces() if kind == "code"]
    assert shown == list(first_page.parts()) == ["run", "break", "outside", "mend"]


def test_each_part_prints_what_its_kernel_computes():
    said = first_page.standin()
    assert said["run"] == str(2 * X)
    assert said["break"] == str(np.where(X < 4, 2 * X, 0))  # of each block, threads 0 to 3
    assert said["mend"] == str(X * X + 1)
    assert re.search(r"KernelError: .*thread \(2, 0, 0\).*x\[10\]", said["outside"])


@pytest.mark.parametrize("name", first_page.parts())
def test_nvrtc_takes_the_kernels(name):
    nvrtc.check(kernels()[name])


def test_one_line_is_changed_at_a_time_and_marked():
    run, others = kernels()["run"].splitlines(), ("break", "outside", "mend")
    for name in others:
        assert sum(a != b for a, b in zip(run, kernels()[name].splitlines(), strict=False)) == 1
        marks = re.findall(r":emphasize-lines: (\S+)", first_page.fragments()[name])
        assert len(marks) == 1
        for line in marks[0].split(","):
            assert first_page.parts()[name].splitlines()[int(line) - 1].strip() not in run


def test_it_takes_ten_minutes():
    assert 5 <= first_page.minutes() <= 10


def test_the_notebook_runs_and_has_no_outputs(tmp_path):
    book = first_page.as_notebook()
    cells = notebook.code_cells(book)
    assert notebook.is_setup(cells[0]) and not any(cell.outputs for cell in cells)
    assert [cell.source for cell in cells if "solution" in notebook.tags(cell)] == [
        f"# @title The answer\n{first_page.parts()['mend']}"
    ]
    text = "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    assert "](" not in text and "<" not in text and "Download" not in text
    ran = notebook.read(first_page.write(tmp_path))
    NotebookClient(ran, resources={"metadata": {"path": str(tmp_path)}}).execute()
    ran = notebook.code_cells(ran)
    kinds = [[output.output_type for output in cell.outputs] for cell in ran]
    assert kinds[1:] == [["stream"], ["stream"], ["error"], ["error"], ["stream"]]


def test_a_published_copy_fetches_the_helpers(tmp_path):
    address = publish.archive("https://github.com/someone/a-book", SHA)
    path = first_page.write(tmp_path, lambda book: publish.stamp(book, address))
    assert f'ARCHIVE = "{address}"' in path.read_text(encoding="utf-8").replace("\\", "")
