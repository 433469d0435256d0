"""Evidence: each file has a receipt, and what it is about is as it was when the file was made."""

import ast
import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
import samples

from helpers.press import evidence, notebook
from helpers.press.fingerprint import c, files, fingerprint

PRESS = Path(evidence.__file__).parent


@pytest.mark.parametrize("name", evidence.names())
def test_what_is_stored_is_about_what_is_here(name):
    if name in evidence.WAITS:  # a list that only shrinks
        assert evidence.state(name) != "fresh", "it waits no longer: take it off WAITS"
        return
    by = evidence.load(name)["receipt"]["made by"]
    assert evidence.state(name) == "fresh", f"run `{by}` again, as CONTRIBUTING.md says"


def test_the_evidence_there_is():
    assert evidence.names() == [
        *("conformance", "fuzz", "lstm_on_chip", "matmul_counters"),
        *(["messages"] if "messages" not in evidence.WAITS else []),
        *(
            "messages_no_driver",
            "one_launch",
            "page_weights",
            "projects",
            "tools",
            "torch_gate",
            "xray",
            "xray_fresh",
        ),
    ]


def test_the_press_reads_no_tests_and_no_numbers_out_of_sentences():
    """It has no path to the tests, and no pattern that catches digits where pages are made."""
    for path in PRESS.glob("*.py"):
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert [text for text in texts if text == "tests" or "tests/" in text] == [], path.name
    for name in ("figures", "front", "hero", "labels", "pages", "results", "xray_page"):
        assert r"([\d" not in (text := (PRESS / f"{name}.py").read_text(encoding="utf-8"))
        assert r"(\d+" not in text and "([0-9" not in text and "(-?" not in text


HEADER = 'int f() { // one\n\n  /* a\n  b */ return "// no";\n}\n'


@pytest.mark.parametrize(
    "other, same",
    [
        (HEADER.replace("one", "two"), True),
        (HEADER.replace("\n\n", "\n"), True),
        (HEADER.replace("  b", "b, c"), True),
        (HEADER.replace("/* a\n  b */", "/**/"), True),
        (HEADER.replace("// no", "// yes"), False),
        (HEADER.replace("return", "return 1 +"), False),
    ],
)
def test_c_is_the_same_without_its_comments(other, same):
    assert (c(other) == c(HEADER)) is same


@pytest.fixture
def root(tmp_path):
    """A little repository: two modules, a page for readers, and a chapter with a kernel."""
    (tmp_path / "room" / "deep").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "room" / "a.py").write_text("a = 1\n")
    (tmp_path / "room" / "deep" / "b.py").write_text("b = 2\n")
    (tmp_path / "room" / "README.md").write_text("For readers.\n")
    book = samples.chapter()
    code = "__global__ void k(int *x) {\n*x = 1;\n}"
    book.cells.insert(5, nbformat.v4.new_code_cell(f'kernel = """{code}"""', id="kernel"))
    notebook.write(book, tmp_path / "notebooks" / "99_sample.ipynb")
    return tmp_path


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


ROOM, CHAPTER = "room/**/*", "notebooks/99_sample.ipynb"


@pytest.mark.parametrize(
    "file, old, new, stale",
    [
        ("room/a.py", "a = 1", "a = 1  # one", []),
        ("room/README.md", "readers", "all", []),
        ("room/deep/b.py", "2", "3", [ROOM]),
        (CHAPTER, "You will** add", "You will** double", []),
        (CHAPTER, "print(twice(21))", "print(twice(22))", []),
        (CHAPTER, "*x = 1;", "*x = 1; // one", []),
        (CHAPTER, "*x = 1;", "*x = 2;", [f"{CHAPTER}#kernels"]),
        (CHAPTER, "return 2 * x", "return x + x", [f"{CHAPTER}#export"]),
    ],
)
def test_a_change_is_seen_where_it_says_something_else(root, file, old, new, stale):
    subjects = [ROOM, f"{CHAPTER}#kernels", f"{CHAPTER}#export"]
    before = {subject: fingerprint(subject, root) for subject in subjects}
    change(root / file, old, new)
    assert [s for s in subjects if fingerprint(s, root) != before[s]] == stale


def test_a_file_that_comes_goes_or_moves_is_a_change(root):
    seen = [fingerprint(ROOM, root)]
    (root / "room" / "c.h").write_text("int c;\n")
    seen.append(fingerprint(ROOM, root))
    (root / "room" / "c.h").rename(root / "room" / "d.h")
    seen.append(fingerprint(ROOM, root))
    (root / "room" / "d.h").unlink()
    assert len(set(seen)) == 3 and fingerprint(ROOM, root) == seen[0]
    shutil.rmtree(root / "room")
    assert fingerprint(ROOM, root) is None


@pytest.mark.parametrize("subject", [CHAPTER, f"{CHAPTER}#prose", "room/a.py#export"])
def test_a_subject_that_says_nothing_is_refused(root, subject):
    with pytest.raises(ValueError, match="of a notebook name a part, one of export, kernels"):
        files(subject, root)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of evidence."""
    monkeypatch.setattr(evidence, "FOLDER", tmp_path / "evidence")
    return tmp_path / "evidence"


def test_evidence_is_stored_with_its_receipt_and_grows_stale(folder, capsys):
    assert evidence.load("count") is None and evidence.state("count") == "not there"
    made = evidence.receipt("python count.py", {"gpu": "G"}, ["_toc.yml", "helpers/xray/*.py"])
    path = evidence.store("count", {"cases": 7}, made)
    assert path == folder / "count.json" and list(folder.iterdir()) == [path]
    assert evidence.load("count") == {"receipt": made, "cases": 7}
    assert evidence.state("count") == "fresh" and evidence.main(["--check"]) == 0
    made["about"]["_toc.yml"] = "another"
    evidence.store("count", {"cases": 7}, made)
    said = f"stale: since {made['date']} (commit {made['commit']}), changed: _toc.yml"
    assert evidence.state("count") == said
    assert evidence.main([]) == 0 and evidence.main(["--check"]) == 1
    printed = capsys.readouterr().out
    assert f"count: {said}" in printed and "on gpu G" in printed and "python count.py" in printed


def test_evidence_without_a_receipt_is_no_evidence(folder):
    folder.mkdir()
    (folder / "count.json").write_text(json.dumps({"cases": 7}))
    assert evidence.state("count") == "without a receipt" and evidence.main(["--check"]) == 1
    made = evidence.receipt("x", {}, ["_toc.yml"])
    evidence.store("count", {}, made | {"about": {}})  # about nothing: never stale
    assert evidence.state("count") == "without a receipt"


def test_a_receipt_about_nothing_that_exists_is_refused():
    with pytest.raises(ValueError, match="there is nothing at no/such, helpers/nothing/[*]"):
        evidence.receipt("x", {}, ["_toc.yml", "no/such", "helpers/nothing/*"])


def test_a_commit_is_marked_where_its_files_differ(root):
    assert evidence.commit(["room/*"], root) == "unknown"
    for command in ("init -q", "add room", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    head = evidence.commit([ROOM], root)
    assert re.fullmatch("[0-9a-f]{10}", head)
    (root / "notebooks" / "new.txt").write_text("not of the room")
    assert evidence.commit([ROOM], root) == head
    change(root / "room" / "a.py", "1", "3")
    assert evidence.commit([ROOM], root) == f"{head}+"
    assert evidence.commit(["room/deep/*"], root) == head
