"""What is made from chapters: headlines, exported code, stamped copies, pages of the site."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
import samples

import gpuless
from helpers import report
from helpers.press import evidence, export, notebook, pages, publish, results

SHA = "0123456789abcdef0123456789abcdef01234567"

RECEIPT = {"gpu": "NVIDIA Test GPU", "driver": "1.2", "date": "2026-11-21"}
RECEIPT |= {"cuda": "13.0", "cupy": "14", "numpy": "2.5", "python": "3.12"}


def headline_output(name, value, unit="ratio", against="NumPy"):
    data = {"name": name, "value": value, "unit": unit, "against": against}
    return nbformat.v4.new_output("display_data", {report.MIME: data, "text/plain": name})


def measured():
    """Return a cell of the section on the sources: it prints a line and shows a figure."""
    data = {"image/png": "AAAA", "text/plain": "A figure in words."}
    outputs = [samples.output("12 times, measured\n"), nbformat.v4.new_output("display_data", data)]
    return nbformat.v4.new_code_cell("measure()", outputs=outputs)


def hidden():
    tags = {"tags": ["remove-cell"]}
    return nbformat.v4.new_code_cell("1", outputs=[samples.output("hidden")], metadata=tags)


@pytest.fixture
def path(tmp_path):
    book = samples.chapter()
    book.cells[4].outputs = [
        headline_output("sample.one", 12.5),
        headline_output("sample.two", 3, "s"),
    ]
    book.cells[6:6] = [measured(), hidden()]
    book.metadata.receipt = RECEIPT | {
        "duration_seconds": 1.5,
        "sanitizer": {"verdict": "0 errors"},
    }
    path = tmp_path / "notebooks" / "99_sample.ipynb"
    path.parent.mkdir()
    notebook.write(book, path)
    return path


def test_headlines_are_printed_as_json_lines(path):
    command = [sys.executable, "-m", "helpers.press.results", str(path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    first, second = [json.loads(line) for line in done.stdout.splitlines()]
    assert first == {
        "name": "sample.one",
        "value": 12.5,
        "unit": "ratio",
        "against": "NumPy",
        "label": None,
        "device": "NVIDIA Test GPU",
        "date": "2026-11-21",
        "notebook": "99_sample",
    }
    assert second["name"] == "sample.two"


def test_a_headline_stored_twice_is_refused(path):
    book = notebook.read(path)
    notebook.code_cells(book)[-1].outputs = [headline_output("sample.one", 1)]
    notebook.write(book, path)
    with pytest.raises(ValueError, match="sample.one is stored twice"):
        results.stored([path])


def test_headline_stores_its_data(monkeypatch):
    shown = []
    monkeypatch.setattr(report, "emit", lambda data: shown.append(data))
    report.headline("matmul.naive_vs_cublas", 0.0681234, "ratio", against="cuBLAS, same run")
    assert shown[0][report.MIME]["value"] == 0.0681234
    text = "matmul.naive_vs_cublas = 0.06812 ratio (against cuBLAS, same run)"
    assert shown[0]["text/plain"] == text and shown[0][report.MIME]["label"] is None
    report.headline("a.b", 2, "s", label="The time")
    assert shown[1]["text/plain"] == "The time: a.b = 2 s"
    assert shown[1][report.MIME]["label"] == "The time"


@pytest.mark.parametrize(
    "bad",
    [("Matmul", 1, "s"), ("a.b", float("nan"), "s"), ("a.b", float("inf"), "s"), ("a.b", 1, "")],
)
def test_bad_headlines_are_refused(bad):
    with pytest.raises(ValueError):
        report.headline(*bad)


def test_receipt_names_everything(capsys):
    report.receipt()
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == ["Device", "Driver", "CUDA", "NVRTC", "CuPy", "NumPy", "Python", "Date"]


def use(path, line):
    """Give the chapter at `path` a cell with the line of code."""
    book = notebook.read(path)
    book.cells.insert(5, nbformat.v4.new_code_cell(line))
    notebook.write(book, path)


def test_export_writes_checks_and_removes(path, tmp_path):
    folder = tmp_path / "chapters"
    folder.mkdir()
    (folder / "gone.py").write_text("old")
    use(path, "from helpers.chapters.sample import twice")
    assert export.differences(folder, [path]) == ["gone.py", "sample.py"]
    assert export.write(folder, [path]) == ["gone.py", "sample.py"]
    text = (folder / "sample.py").read_text()
    assert "99_sample.ipynb" in text.splitlines()[0] and "do not edit" in text.splitlines()[0]
    space = {}
    exec(text, space)
    assert space["twice"](4) == 8 and sorted(os.listdir(folder)) == ["sample.py"]
    assert export.differences(folder, [path]) == []
    (folder / "sample.py").write_text(text.replace("2 * x", "3 * x"))
    assert export.differences(folder, [path]) == ["sample.py"]


def test_what_nothing_imports_is_not_exported(path, tmp_path, monkeypatch):
    assert list(export.modules([path])) == ["sample.py"] and export.imported([path]) == {}
    assert export.differences(tmp_path, [path]) == []
    program = tmp_path / "programs" / "first" / "__main__.py"
    program.parent.mkdir(parents=True)
    program.write_text("def f():\n    from helpers.chapters import sample")
    monkeypatch.setattr(export, "PROGRAMS", tmp_path / "programs")
    assert list(export.imported([path])) == ["sample.py"]


def test_what_only_an_export_imports_is_exported_with_it(path, tmp_path):
    second, third = path.with_name("98_second.ipynb"), path.with_name("97_third.ipynb")
    for other in (second, third):
        other.write_bytes(path.read_bytes())
    use(third, "import helpers.chapters.second")
    assert set(export.imported([path, second, third])) == {"second.py"}
    book = notebook.read(second)
    samples.cell_with(book, "def twice").source += "\n\n\nfrom helpers.chapters import sample"
    notebook.write(book, second)
    assert set(export.imported([path, second, third])) == {"second.py", "sample.py"}


def test_any_chapters_export_can_be_loaded(path, monkeypatch):
    monkeypatch.setattr(notebook, "NOTEBOOKS", path.parent)
    assert export.load("sample").twice(4) == 8
    with pytest.raises(ValueError, match="no chapter nothing has cells"):
        export.load("nothing")


def test_export_refuses_what_is_not_python(path):
    book = notebook.read(path)
    book.cells[3].source = "%timeit 1"
    notebook.write(book, path)
    with pytest.raises(SyntaxError):
        export.modules([path])


def test_published_copies_fetch_one_commit_and_are_otherwise_the_same(path, tmp_path):
    address = publish.archive("https://github.com/someone/a-book.git", SHA)
    assert address == f"https://github.com/someone/a-book/archive/{SHA}.zip"
    (copy,) = publish.publish(address, tmp_path / "out", [path])
    assert copy == tmp_path / "out" / "notebooks" / path.name
    assert copy.read_text().replace(address, "") == path.read_text()
    setup = notebook.code_cells(notebook.read(copy))[0]
    assert f'ARCHIVE = "{address}"' in setup.source and notebook.is_setup(setup)


def test_publishing_a_stamped_copy_again_stamps_it_anew(path, tmp_path):
    (copy,) = publish.publish("https://example.org/first.zip", tmp_path / "one", [path])
    (again,) = publish.publish("https://example.org/second.zip", tmp_path / "two", [copy])
    assert "first.zip" not in again.read_text() and "second.zip" in again.read_text()


@pytest.mark.parametrize(
    "repository, revision, says",
    [
        ("https://github.com/someone/a-book", "main", "not a whole commit id"),
        ("https://github.com/someone/a-book", SHA[:7], "not a whole commit id"),
        ("", SHA, "not the address"),
        ("someone/a-book", SHA, "not the address"),
        ('https://github.com/a/b";import os"', SHA, "not the address"),
    ],
)
def test_what_would_move_or_is_no_address_is_refused(repository, revision, says, tmp_path, capsys):
    command = [
        "--repository",
        repository,
        "--revision",
        revision,
        "--output",
        str(tmp_path / "out"),
    ]
    assert publish.main(command) == 1
    assert says in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_a_notebook_without_setup_cell_cannot_be_published(path, tmp_path):
    book = notebook.read(path)
    del book.cells[1]
    with pytest.raises(ValueError, match="no setup cell"):
        publish.stamp(book, "https://example.org/a.zip")


def test_pages(path, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    results.merge(results.file("B"), RECEIPT | {"gpu": "B"}, [], "99_sample")
    folder = tmp_path / "book" / "generated"
    written = {file.name: file.read_text() for file in pages.write(folder, [path])}
    link = "../../notebooks/99_sample.ipynb"
    assert f"## [A sample]({link})" in written["measured.md"]
    row = '| <span title="sample.one">sample.one</span> | NumPy |  | – | – |'
    assert row in written["measured.md"]
    assert "12 times faster" in written["sources.md"] and "### In detail" in written["sources.md"]
    assert "](../../notebooks/10_first.ipynb)" in written["sources.md"]
    assert f"]({link}#a-sample)" in written["sources.md"]
    assert "Key points" not in written["sources.md"]
    assert "```text\n12 times, measured\n```\n\n*A figure in words.*" in written["sources.md"]
    assert "hidden" not in written["sources.md"]
    assert f"| [A sample]({link}) | stale" in written["status.md"]
    row = "GPU NVIDIA Test GPU, driver 1.2, CUDA 13.0, CuPy 14, NumPy 2.5, Python 3.12"
    assert f"| 2026-11-21, 1.5 s | 0 errors | – | {row} |" in written["status.md"]
    for name in ("measured.md", "sources.md", "status.md"):
        assert written[name].startswith("# ") and written[name].endswith("\n")
    fragment = written["coverage.md"]
    assert fragment.index("## Covered") < fragment.index("## Not covered")
    for name, what in (*gpuless.COVERED.items(), *gpuless.NOT_COVERED.items()):
        assert f"- **{name}**: {what}." in fragment


@pytest.mark.long
def test_the_page_of_cupys_own_tests(tmp_path, monkeypatch):
    files = {
        "cupy_tests/math_tests/test_a.py": {"passed": 5, "differs: a sign": 2},
        "cupy_tests/math_tests/test_b.py": {"passed": 30, "differs: a sign": 1, "differs: x": 4},
        "cupyx_tests/x_tests/y_tests/test_c.py": {
            "passed": 1100,
            "not run: a | b": 1,
            "skipped by CuPy": 8,
        },
    }
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "evidence")
    made = {"on": {"cupy": "1.2", "numpy": "3.4"}, "date": "2026-11-20"}
    evidence.store("conformance", {"files": files}, made)
    (page,) = (file for file in pages.write(tmp_path, []) if file.stem == "conformance")
    text = page.read_text()
    assert "CuPy 1.2's own tests, run with NumPy 3.4 on 2026-11-20." in text
    assert "| Folder | Passed | Fail by design | Not covered | Differ | Not run | Skipped" in text
    assert "| `cupy/math` | 35 | – | – | 7 | – | – |" in text
    assert "| `cupyx/x` | 1,100 | – | – | – | 1 | 8 |" in text
    assert "| `together` | 1,135 | – | – | 7 | 1 | 8 |" in text
    assert "Differ: why, and how many</summary>\n\n- x: 4\n- a sign: 3\n" in text
    assert "- a | b: 1\n" in text


@pytest.mark.long
def test_the_page_of_random_programs(tmp_path, monkeypatch):
    stored = {"cases": 12345, "seconds": 6789, "failures": 2}
    stored |= {"by kind": {"fuse": 12000, "outside an array": 345}}
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "evidence")
    (page,) = (file for file in pages.write(tmp_path, []) if file.stem == "fuzz")
    assert "No long run is stored" in page.read_text()
    evidence.store("fuzz", stored, {"on": {"numpy": "3.4"}, "date": "2026-11-20"})
    pages.write(tmp_path, [])
    text = page.read_text()
    assert "12,345 random programs, run on 2026-11-20 in 6,789 s with NumPy 3.4: 2 had" in text
    for row in ("| Kind | Programs |", "| fuse | 12,000 |", "| outside an array | 345 |"):
        assert row in text
    assert "| together | 12,345 |" in text


def test_the_status_page_tells_what_ran(path, tmp_path, monkeypatch):
    book = notebook.read(path)
    more = {"modules": {"helpers/timing.py": "1f", "helpers/chapters/cnn_mnist.py": "2e"}}
    more["libraries"] = {"torch": "2.11.0", "cuDNN": "unknown"}
    more["host"] = {"cpu": "A CPU", "cores": 12, "blas": "openblas 1.2"}
    more["switches"] = {"in the code": ["--use_fast_math"], "at the end": {"CUPY_TF32": "1"}}
    book.metadata.receipt |= more
    notebook.write(book, path)
    monkeypatch.setattr(pages.record, "waits", lambda path: "two GPUs | in one machine")
    text = pages.write(tmp_path, [path])[2].read_text(encoding="utf-8")
    row = "| `chapters/cnn_mnist.py`, `timing.py` | cuDNN unknown, torch 2.11.0 | A CPU, 12 cores, "
    assert f"{row}openblas 1.2 | `--use_fast_math`; at the end: CUPY_TF32 1 |" in text
    assert "waits for two GPUs \\| in one machine |" in text
    book.metadata.receipt |= {"host": "unknown", "switches": {"in the code": [], "at the end": {}}}
    notebook.write(book, path)
    text = pages.write(tmp_path, [path])[2].read_text(encoding="utf-8")
    assert "torch 2.11.0 | unknown | – |" in text


def test_the_status_page_has_the_evidence(path, tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "evidence")
    made = evidence.receipt("python a.py", {"gpu": "G", "ncu": "1.2"}, ["_toc.yml"])
    evidence.store("one", {}, made)
    evidence.store("two", {}, made | {"about": {"_*.yml": "another"}})
    text = pages.write(tmp_path, [path])[2].read_text(encoding="utf-8")
    assert f"| one | fresh | `python a.py` | gpu G, ncu 1.2 | {made['date']} |" in text
    assert "| two | stale: since" in text and r"changed: _\*.yml | `python a.py`" in text


def test_the_status_page_names_a_disturbed_host(path, tmp_path):
    book = notebook.read(path)
    times = {"median": 8.2, "low": 7.9, "high": 8.4}
    book.metadata.receipt.host_us = {"before": times, "after": times | {"median": 19.04}}
    book.metadata.receipt.disturbed = True
    book.metadata.receipt.sanitizer = {"verdict": "not run", "version": None}
    notebook.write(book, path)
    text = pages.write(tmp_path, [path])[2].read_text(encoding="utf-8")
    said = "the host was disturbed: 8.2 (7.9 to 8.4) µs before, 19 (7.9 to 8.4) µs after"
    assert f"| not run | {said} |" in text


def test_pages_without_chapters(tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "NOTEBOOKS", tmp_path / "none")
    written = [file.read_text() for file in pages.write(tmp_path)]
    assert len(written) == 17 and all(written)


@pytest.mark.long
def test_unchanged_pages_keep_their_time(path, tmp_path):
    (first, *_) = pages.write(tmp_path, [path])
    os.utime(first, (1, 1))
    pages.write(tmp_path, [path])
    assert first.stat().st_mtime == 1
