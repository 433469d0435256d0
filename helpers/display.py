"""Tables, figures and progress bars that look alike in every chapter and wherever it is read."""

import base64
import io
import sys
from pathlib import Path

import tabulate
import tqdm
from IPython import get_ipython
from IPython.display import display
from PIL import Image

STYLE = Path(__file__).with_name("book.mplstyle")


def emit(data, metadata=None):
    """Display `data`, which maps MIME types to contents; outside a notebook print its text."""
    if get_ipython() is None:
        print(data["text/plain"])
    else:
        display(data, metadata=metadata, raw=True)


def table(rows, headers, *, floatfmt=".4g", **options):
    """Show `rows` under `headers`: a table where HTML is shown, plain text elsewhere.

    Numbers have four significant digits (`floatfmt`); other `options` go to tabulate.tabulate.
    """
    rows = [list(row) for row in rows]
    for row in rows:
        if len(row) != len(headers):
            raise ValueError(f"a row of {len(row)} entries under {len(headers)} headers: {row}")

    def text(form):
        return tabulate.tabulate(rows, headers, tablefmt=form, floatfmt=floatfmt, **options)

    emit({"text/html": str(text("html")), "text/plain": text("simple")})


def attempt(what, function):
    """Call `function()`; where it raises, print `what` and the error below it: "TypeError: …"."""
    try:
        function()
    except Exception as error:  # any: the reader is to see which
        print(f"{what}\n    {type(error).__name__}: {error}")


def figure(nrows=1, ncols=1, **options):
    """Return (figure, axes) like matplotlib.pyplot.subplots, in the book's style.

    Every new line of a plot has its own colour, marker and line style; give marker="" for a line
    of many points.
    """
    import matplotlib.pyplot as plt  # half a second, which most cells and programs need not wait

    plt.style.use(STYLE)
    return plt.subplots(nrows, ncols, **options)


def show(fig, *, alt):
    """Display the figure as a PNG image with the text alternative `alt`, and close it.

    `alt` is one sentence that says what the figure shows, with numbers computed from the data:
    all that readers have who do not see it. ValueError if it is empty or has several lines.
    """
    import matplotlib.pyplot as plt

    if not isinstance(alt, str) or not alt.strip() or "\n" in alt.strip():
        raise ValueError("show() needs alt=, one sentence that says what the figure shows")
    alt = " ".join(alt.split())
    drawn, image = io.BytesIO(), io.BytesIO()
    fig.savefig(drawn, format="png")
    plt.close(fig)
    # 256 colours do for a plot and make a much smaller file; no version of matplotlib is kept in
    # it, so that the same figure is the same file.
    Image.open(drawn).convert("RGB").quantize(256).save(image, format="png", optimize=True)
    data = {"image/png": base64.b64encode(image.getvalue()).decode(), "text/plain": alt}
    emit(data, {"image/png": {"alt": alt}})


def progress(iterable, description, *, total=None, unit="step"):
    """Yield from `iterable` under a progress bar that leaves one line: "description: 500 steps".

    The bar shows times while it runs; the line it leaves has none, so it is the same in every run.
    """
    bar = tqdm.tqdm(
        iterable,
        description,
        total=total,
        unit=f" {unit}",
        file=sys.stdout,
        leave=False,
        mininterval=0.5,
    )
    yield from bar
    print(f"{description}: {bar.n:,} {unit}{'' if bar.n == 1 else 's'}")
