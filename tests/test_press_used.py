"""A receipt covers what ran: a change of a module makes stale the chapters that use it, no others.

Which chapters those are is written down here, found by reading them.
"""

import re
import shutil

import nbformat
import pytest
import samples

from helpers.press import notebook, record, used

ALL = {path.stem[:2] for path in notebook.paths()}
USERS = {
    "helpers/timing.py": ALL - {"35", "42", "62", "70"},
    "helpers/timeline.py": {"25"},
    "helpers/rounds.py": {"37", "45", "47"},
    "helpers/crossover.py": ALL - {"35", "37", "39", "42", "47", "57", "62", "65", "70", "85"},
    "helpers/products.py": {"38", "39"},
    "helpers/turns.py": {"38", "39"},
    "helpers/many.py": {"90", "95"},
    "helpers/mail.py": {"95"},
    "helpers/prepared.py": {"39"},
    "helpers/tiles.py": {"39"},
    "helpers/xray/ceilings.py": set(),
    "helpers/programs/first_kernel.py": set(),
    "helpers/chapters/autograd.py": {"70", "75", "80", "85", "90", "95"},
    "helpers/chapters/cnn_mnist.py": {"52", "55", "57", "70", "75", "80", "85", "90", "95"},
    "helpers/chapters/deep_kernels.py": {"60"},
    "helpers/chapters/error_diffusion.py": {"62", "65"},
    "helpers/chapters/lstm_sine.py": {"85", "90", "95"},
    "helpers/chapters/lstm_kernels.py": set(),
    "helpers/chapters/training_kernels.py": set(),
    "helpers/chapters/many_gpus.py": {"95"},
    "helpers/chapters/oja_fast.py": {"47"},
    "helpers/chapters/oja_reservoir.py": {"42", "45", "47"},
    "helpers/programs/cnn_picture.py": {"57"},
    "helpers/programs/cnn_step.py": {"57"},
    "helpers/programs/cub.py": {"36"},
    "helpers/programs/many_networks.py": {"62"},
    "helpers/programs/oja_cluster.py": {"47"},
    "helpers/programs/source_cnn.py": {"55"},
    "helpers/programs/torch_cnn.py": {"57"},
    "helpers/programs/train_lstm.py": {"90"},
    "helpers/programs/lstm_on_chip/__init__.py": set(),
    "helpers/programs/lstm_on_chip/__main__.py": set(),
    "helpers/programs/one_launch/__init__.py": set(),
    "helpers/programs/one_launch/__main__.py": set(),
    "helpers/programs/dask_series/__init__.py": {"90"},
    "helpers/programs/dask_series/__main__.py": {"90"},
}
# No chapter's: evidence is about them, with a receipt of its own.
TOOLS = sorted((notebook.BOOK / "helpers" / "programs" / "tools").glob("*.py"))
USERS |= {path.relative_to(notebook.BOOK).as_posix(): set() for path in TOOLS}
# A page's, which its build runs: of these many one is tried.
WRONG = sorted((notebook.BOOK / "helpers" / "programs" / "wrong").glob("*.py"))
WRONG = [path.relative_to(notebook.BOOK).as_posix() for path in WRONG]
USERS |= {path: set() for path in WRONG[-1:]}
HELD_BY_TESTS = ("checks", "data", "device", "display", "drawn", "guards", "launcher", "report")
HELD_BY_TESTS += ("__init__",)


@pytest.fixture(scope="module")
def chapters():
    """The chapters by their numbers, each as if it had just been recorded."""
    books = {path.stem[:2]: notebook.read(path) for path in notebook.paths()}
    for book in books.values():
        book.metadata.setdefault("receipt", nbformat.NotebookNode(gpu="a GPU")).update(
            record.seal(book)
        )
    return books


@pytest.fixture
def root(tmp_path):
    """A copy of the helpers' Python files, to be changed."""
    for path in (notebook.BOOK / "helpers").rglob("*.py"):
        copy = tmp_path / path.relative_to(notebook.BOOK)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return tmp_path


def stale(chapters, root):
    """Return {number: why} of the chapters that are not fresh with the helpers below `root`."""
    states = {number: record.state(book, root) for number, book in chapters.items()}
    return {number: state for number, state in states.items() if state != "fresh"}


def test_every_counted_module_is_tried_here():
    found = (notebook.BOOK / "helpers").rglob("*.py")
    names = (path.relative_to(notebook.BOOK).as_posix() for path in found)
    assert {name for name in names if used.COUNTED.fullmatch(name)} == {*USERS, *WRONG}


@pytest.mark.parametrize("path", USERS)
def test_what_a_module_does_is_changed(path, chapters, root):
    """One more statement, at the end: exactly those that use the module say so, and name it."""
    with (root / path).open("a") as file:
        file.write("\nanother = 1\n")
    why = f"stale: {path} has changed since it was recorded"
    assert stale(chapters, root) == dict.fromkeys(sorted(USERS[path]), why)


def test_a_number_deep_inside_a_function_is_changed(chapters, root):
    path = root / "helpers/chapters/cnn_mnist.py"
    text = path.read_text()
    assert text.count("eps=1e-8") == 1
    path.write_text(text.replace("eps=1e-8", "eps=1e-7"))
    assert set(stale(chapters, root)) == USERS["helpers/chapters/cnn_mnist.py"]


def test_two_changes_are_both_named(chapters, root):
    for name in ("autograd", "cnn_mnist"):
        path = root / f"helpers/chapters/{name}.py"
        path.write_text(path.read_text() + "\nanother = 1\n")
    found = stale(chapters, root)
    both = "stale: helpers/chapters/autograd.py, helpers/chapters/cnn_mnist.py have changed"
    users = USERS["helpers/chapters/cnn_mnist.py"]
    assert set(found) == users and found["80"].startswith(both)


def test_comments_docstrings_and_layout_change_nothing(chapters, root):
    for name in USERS:
        path = root / name
        text = re.sub(r'^"""', '"""Other words. ', path.read_text(), count=1)
        assert "Other words" in text, name
        text = re.sub(r'^(    +)"""(?=[A-Z])', r'\1"""Other words. ', text, flags=re.M)
        path.write_text(text.replace("\n\n\n", "\n\n\n\n# a comment\n") + "# the end\n")
    assert stale(chapters, root) == {}


@pytest.mark.parametrize("name", HELD_BY_TESTS)
def test_what_tests_hold_makes_nothing_stale(name, chapters, root):
    path = root / f"helpers/{name}.py"
    path.write_text(path.read_text() + "\nanother = 1\n")
    assert stale(chapters, root) == {}


def test_a_module_that_is_gone_or_new_to_a_chapter_makes_it_stale(chapters, root):
    (root / "helpers/chapters/oja_fast.py").unlink()
    assert set(stale(chapters, root)) == {"47"}
    path = root / "helpers/chapters/oja_reservoir.py"
    path.write_text(path.read_text() + "\nfrom helpers.chapters import lstm_sine\n")
    assert "helpers/chapters/lstm_sine.py" in stale(chapters, root)["45"]


def test_a_receipt_without_modules_is_not_taken_for_fresh(chapters):
    book = nbformat.from_dict(chapters["10"])
    del book.metadata.receipt["modules"]
    assert record.state(book) == "stale: the receipt does not tell the book's modules that ran"


LSTM = ["helpers/chapters/autograd.py", "helpers/chapters/cnn_mnist.py"]
LSTM.append("helpers/chapters/lstm_sine.py")


@pytest.mark.parametrize(
    "source, found",
    [
        ("helpers.measure(f)", ["helpers/timing.py"]),
        ("import helpers\nprint(helpers.format_rate(3))", ["helpers/timing.py"]),
        ("from helpers import ceilings", ["helpers/timing.py", "helpers/xray/ceilings.py"]),
        ("from helpers.crossover import last_loss", ["helpers/crossover.py"]),
        ("from helpers.chapters import lstm_sine as ls", LSTM),
        ("def f():\n    import helpers.chapters.lstm_sine", LSTM),
        ("launch(2, 'helpers.programs.train_lstm')", [*LSTM, "helpers/programs/train_lstm.py"]),
        ("run(f'python -m helpers.chapters.cnn_mnist {n}')", ["helpers/chapters/cnn_mnist.py"]),
        ("helpers.check('1', f, g, h)\nhelpers.pick(gpu=1, cpu=2)", []),
        ("# helpers.chapters.autograd", []),
        ("def f():\n    'As in helpers.chapters.autograd.'", []),
        ("import helpers.chapters, helpers.programs", []),
        ("from helpers.chapters.no_such_thing import x\nhelpers.no_such_thing", []),
    ],
)
def test_what_a_cell_uses(source, found):
    assert used.closure([source]) == found


def test_a_package_is_used_whole():
    """`python -m` runs its __main__."""
    folder = "helpers/programs/dask_series"
    wanted = [f"{folder}/__init__.py", f"{folder}/__main__.py"]
    assert used.closure(["launch(1, 'helpers.programs.dask_series')"]) == wanted


def test_commands_to_ipython_are_left_out():
    book = samples.chapter()
    samples.cell_with(book, "print(twice").source = "%matplotlib inline\n!ls\nhelpers.measure(f)"
    assert used.paths(book) == ["helpers/timing.py"]


def test_no_module_that_tests_hold_uses_a_counted_one():
    """Else a chapter could use the second by way of the first, unseen."""
    for path in (notebook.BOOK / "helpers").rglob("*.py"):
        name = path.relative_to(notebook.BOOK).as_posix()
        if not used.COUNTED.fullmatch(name) and "/press/" not in name:
            if name != "helpers/__init__.py":  # a chapter names what it takes from there
                assert used.closure([path.read_text(encoding="utf-8")]) == [], name


SAMPLE = '''
"""A docstring."""
import a.b as c
@d
class E(F, g=1):
    h: int = -2_000

    async def i(self, j, /, *k, l=None, **m) -> str:
        "Another."
        return f"{j!r:>{l}} and {k=}" "more" + "ä\\n", b"\\0"

def n(o): "Only a docstring."
match p:
    case {"q": [1, *_]} if (r := ...): pass
    case _: raise S from None
try: t = [*u, 1e300, 2j, True]
except* V: del t[1:2, ::3]
'''


def test_the_hash_is_the_same_in_every_version_of_python():
    """Computed with Python 3.11, 3.12 and 3.13; ast.dump's text differs between them."""
    found = used.tree_sha256(SAMPLE)
    assert found == "11a1a79375e20adec7582a14c62108996a9db61153271decf4e30591fdaf5173"
