"""Tables, figures and progress bars that look alike in every chapter and wherever it is read."""

import base64
import io
import sys
from pathlib import Path

# Matplotlib, IPython, Pillow, tabulate and tqdm are imported where they are used: a quarter of a
# second, which a program that needs none of them does not wait.
STYLE = Path(__file__).with_name("book.mplstyle")


def _shell():
    """Return the IPython that runs this, or None: where it is not imported, none runs."""
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() or None


def emit(data, metadata=None):
    """Display `data`, which maps MIME types to contents; outside a notebook print its text."""
    if _shell() is None:
        print(data["text/plain"])
    else:
        from IPython.display import display

        display(data, metadata=metadata, raw=True)


def table(rows, headers, *, floatfmt=".4g", **options):
    """Show `rows` under `headers`: a table where HTML is shown, plain text elsewhere.

    Numbers have four significant digits (`floatfmt`); other `options` go to tabulate.tabulate.
    """
    import tabulate

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
    import matplotlib.pyplot as plt

    plt.style.use(STYLE)
    return plt.subplots(nrows, ncols, **options)


def drawn(fig, colours=256):
    """Close the figure and return it as (PNG file, {"width": …, "height": … to show it at}).

    The file has twice as many pixels as it is shown at, in each direction, for screens that have
    them and for readers who enlarge it. 256 colours do for a plot and make a much smaller file; no
    version of matplotlib is kept in it, so that the same figure is the same file.
    """
    import matplotlib.pyplot as plt
    from PIL import Image

    full, small = io.BytesIO(), io.BytesIO()
    fig.savefig(full, format="png", dpi=2 * fig.dpi)
    plt.close(fig)
    image = Image.open(full).convert("RGB")
    width, height = image.width // 2, image.height // 2
    image = image.crop((0, 0, 2 * width, 2 * height)).quantize(colours)
    image.save(small, format="png", optimize=True)
    return small.getvalue(), {"width": width, "height": height}


def show(fig, *, alt):
    """Display the figure as a PNG image with the text alternative `alt`, and close it.

    `alt` is one sentence that says what the figure shows, with numbers computed from the data:
    all that readers have who do not see it. ValueError if it is empty or has several lines.
    """
    if not isinstance(alt, str) or not alt.strip() or "\n" in alt.strip():
        raise ValueError("show() needs alt=, one sentence that says what the figure shows")
    alt = " ".join(alt.split())
    image, size = drawn(fig)
    data = {"image/png": base64.b64encode(image).decode(), "text/plain": alt}
    emit(data, {"image/png": {"alt": alt, **size}})


def _watched():
    """Say whether somebody may be looking: at a terminal, or at a notebook that could ask them.

    Programs that run a notebook (nbclient, nbval) tell the kernel that its cells may ask nobody.
    """
    kernel = getattr(_shell(), "kernel", None)
    if kernel is None:
        return sys.stdout.isatty()
    return kernel.get_parent().get("content", {}).get("allow_stdin", True)


def progress(iterable, description, *, total=None, unit="step"):
    """Yield from `iterable` under a progress bar that leaves one line: "description: 500 steps".

    The bar shows times, where somebody is there to see it; the line has none, so it is the same in
    every run. A loop that is abandoned leaves no line.
    """
    import tqdm

    bar = tqdm.tqdm(
        iterable,
        description,
        total=total,
        unit=f" {unit}",
        file=sys.stdout,
        leave=False,
        mininterval=0.5,
        delay=0.5,  # a loop that is over by then needs no bar
        disable=not _watched(),
    )
    count = 0
    for item in bar:
        yield item
        count += 1
    print(f"{description}: {count:,} {unit}{'' if count == 1 else 's'}")
