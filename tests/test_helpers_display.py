"""Tables, figures and progress bars store what every reader can read."""

import base64
import io
import subprocess
import sys

import matplotlib.pyplot as plt
import pytest
from jupyter_client.manager import start_new_kernel
from PIL import Image

import helpers
from helpers import display


@pytest.fixture
def shown(monkeypatch):
    bundles = []
    monkeypatch.setattr(
        display, "emit", lambda data, metadata=None: bundles.append((data, metadata))
    )
    return bundles


def plot():
    fig, ax = helpers.figure(figsize=(3, 2))
    for slope in range(7):
        ax.plot([0, 1], [0, slope])
    return fig, ax


def test_a_figure_is_a_png_with_its_text_alternative(shown):
    fig, _ = plot()
    helpers.show(fig, alt="Seven lines rise, the last to 6.")
    ((data, metadata),) = shown
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == metadata["image/png"]["alt"] == "Seven lines rise, the last to 6."
    assert not plt.fignum_exists(fig.number)


@pytest.mark.parametrize("inches", [(3, 2), (2.905, 1.507)])  # the latter: an odd number of pixels
def test_a_figure_has_twice_the_pixels_it_is_shown_at(shown, inches):
    fig, ax = helpers.figure(figsize=inches)
    ax.imshow([[0, 1], [2, 3]])
    helpers.show(fig, alt="Four squares.")
    ((data, metadata),) = shown
    image = Image.open(io.BytesIO(base64.b64decode(data["image/png"])))
    shown_at = metadata["image/png"]["width"], metadata["image/png"]["height"]
    assert shown_at == tuple(int(120 * side) for side in inches)  # 120 pixels an inch, as ever
    assert image.size == (2 * shown_at[0], 2 * shown_at[1])
    assert image.mode == "P" and len(image.getcolors()) <= 256


def test_the_same_figure_is_the_same_file(shown):
    for _ in range(2):
        helpers.show(plot()[0], alt="Seven lines.")
    assert shown[0][0] == shown[1][0]


@pytest.mark.parametrize("alt", ["", "  ", None, "two\nlines"])
def test_a_figure_without_text_is_refused(alt):
    fig, _ = plot()
    with pytest.raises(ValueError, match="alt="):
        helpers.show(fig, alt=alt)
    plt.close(fig)


def test_lines_differ_in_grey_too():
    fig, ax = plot()
    marks = {(line.get_marker(), line.get_linestyle()) for line in ax.lines}
    assert len(marks) == len({line.get_color() for line in ax.lines}) == 7
    assert fig.get_facecolor() == (1, 1, 1, 1)
    plt.close(fig)


def test_a_table_is_html_and_text(shown):
    helpers.table([["naive", 33.7512345], ["a < b", 2]], ["kernel", "ms"])
    data = shown[0][0]
    assert "<table>" in data["text/html"] and "a &lt; b" in data["text/html"]
    assert "33.75" in data["text/plain"] and "33.7512" not in data["text/plain"]


def test_a_ragged_table_is_refused():
    with pytest.raises(ValueError, match="a row of 1 entries under 2 headers"):
        helpers.table([[1]], ["a", "b"])


def test_progress_yields_everything_and_leaves_one_line(capsys):
    assert list(helpers.progress(iter(range(5)), "Epochs", total=5, unit="epoch")) == [
        0,
        1,
        2,
        3,
        4,
    ]
    assert capsys.readouterr().out.split("\r")[-1] == "Epochs: 5 epochs\n"


@pytest.mark.parametrize("isatty", [False, True])
def test_a_loop_that_is_abandoned_leaves_nothing(capsys, monkeypatch, isatty):
    """At a terminal too, where the bar would not have been drawn yet."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: isatty)
    with pytest.raises(ZeroDivisionError):
        for step in helpers.progress(range(3), "Steps"):
            _ = 1 / (1 - step)
    assert capsys.readouterr().out == ""


SLOW = """\
import time
import helpers
try:
    for step in helpers.progress(range(3), "Steps"):
        time.sleep(0.6)
        assert step < 2
except AssertionError:
    pass"""


def test_a_bar_is_seen_where_somebody_looks_and_nowhere_else():
    """nbclient and nbval run a cell that may ask nobody; Jupyter one that may."""
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        client.execute_interactive("import helpers", timeout=60, output_hook=lambda message: None)
        for asks in (False, True):
            told = []
            reply = client.execute_interactive(
                SLOW, allow_stdin=asks, timeout=60, output_hook=told.append
            )
            assert reply["content"]["status"] == "ok"
            text = "".join(m["content"]["text"] for m in told if m["msg_type"] == "stream")
            assert ("Steps:  33%" in text) is asks and (text == "") is not asks
            assert "2 steps" not in text
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def test_the_helpers_do_not_load_what_a_program_may_not_need():
    """So that `import helpers` is quick: each of these takes as long as all the rest."""
    heavy = ["matplotlib", "IPython", "PIL", "tabulate", "tqdm", "scipy", "skimage"]
    code = f"import sys, helpers; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_outside_a_notebook_the_text_is_printed(capsys):
    display.emit({"text/plain": "hello", "text/html": "<b>hello</b>"})
    assert capsys.readouterr().out == "hello\n"


def test_an_attempt_tells_the_error_or_nothing(capsys):
    helpers.attempt("five", lambda: 5)
    assert capsys.readouterr().out == ""
    assert helpers.attempt("int('x')", lambda: int("x")) is None  # shows nothing more in a cell
    assert capsys.readouterr().out.startswith("int('x')\n    ValueError: invalid")
