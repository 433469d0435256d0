"""Tables, figures and progress bars store what every reader can read."""

import base64

import matplotlib.pyplot as plt
import pytest

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


def test_outside_a_notebook_the_text_is_printed(capsys):
    display.emit({"text/plain": "hello", "text/html": "<b>hello</b>"})
    assert capsys.readouterr().out == "hello\n"


def test_an_attempt_tells_the_error_or_nothing(capsys):
    helpers.attempt("five", lambda: 5)
    assert capsys.readouterr().out == ""
    assert helpers.attempt("int('x')", lambda: int("x")) is None  # shows nothing more in a cell
    assert capsys.readouterr().out.startswith("int('x')\n    ValueError: invalid")
