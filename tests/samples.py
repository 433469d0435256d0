"""A small chapter in good form, for the tests of what handles chapters."""

import nbformat

from helpers.press import notebook

OPENING = """# A sample

**You will** add. **You need** nothing. **Time** one minute."""

CLOSING = """## When the GPU loses

Below this size.

## What the original measured

It said "12 times faster"; see [the first part](10_first.ipynb) and [above](#a-sample).

### In detail

More."""

KEY_POINTS = """## Key points

- One.

## Exercises
"""


def exercise(number):
    return f"""### Exercise 99.{number}: one

Do it.

<details><summary>Hint</summary>

Think.

</details>"""


def chapter():
    """Return a notebook with no problems, not run, no receipt."""
    new = nbformat.v4
    cells = [
        new.new_markdown_cell(OPENING),
        new.new_code_cell(notebook.SETUP_CELL, metadata={"tags": ["nbval-ignore-output"]}),
        new.new_code_cell("import numpy as np\nimport cupy as cp"),
        new.new_code_cell("def twice(x):\n    return 2 * x", metadata={"tags": ["export"]}),
        new.new_code_cell("print(twice(21))"),
        new.new_markdown_cell(CLOSING),
        new.new_markdown_cell(KEY_POINTS),
    ]
    for number in range(1, 5):
        cells.append(new.new_markdown_cell(exercise(number)))
        source = f"# @title Solution 99.{number}\nprint('Solution {number}')"
        cells.append(new.new_code_cell(source, metadata={"tags": ["solution"]}))
    cells.append(new.new_markdown_cell("## Further reading\n\n- A book."))
    cells.append(new.new_code_cell("helpers.receipt()", metadata={"tags": ["nbval-ignore-output"]}))
    book = new.new_notebook()
    for cell in cells:
        cell.id = notebook.cell_id(cell, [other.id for other in book.cells])
        book.cells.append(cell)
    return notebook.canonical(book)


def output(text):
    """Return a stored line of text."""
    return nbformat.v4.new_output("stream", name="stdout", text=text)


def cell_with(book, text):
    """Return the first cell of `book` that contains `text`."""
    return next(cell for cell in book.cells if text in cell.source)
