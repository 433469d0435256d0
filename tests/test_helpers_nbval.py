"""The settings under which nbval compares notebooks are strict where they should be."""

import subprocess
import sys

import samples

from helpers.press import execute, notebook

FIGURE = """\
fig, ax = helpers.figure(figsize=(2, 1))
helpers.show(fig, alt="Nothing is drawn.")
helpers.table([[1, 0.5]], ["a", "b"])
for step in helpers.progress(range(3), "Steps"):
    pass
helpers.headline("sample.one", 2, "ratio")"""


def test_texts_tables_and_alternatives_are_compared_and_pictures_are_not(tmp_path):
    good = tmp_path / "good.ipynb"
    book = samples.chapter()
    book.cells[4].source += "\n" + FIGURE
    notebook.write(book, good)
    run = "from nbclient import execute; import nbformat, sys; from helpers.press import notebook\n"
    run += "book = notebook.read(sys.argv[1]); execute(book)\n"
    run += "notebook.write(notebook.canonical(book), sys.argv[1])"
    subprocess.run(
        [sys.executable, "-c", run, str(good)],
        check=True,
        capture_output=True,
        env=execute.environment(),
    )

    def variant(name, change):
        book = notebook.read(good)
        change(book.cells[4].outputs)
        notebook.write(book, tmp_path / f"{name}.ipynb")

    def find(outputs, mime):
        return next(out["data"] for out in outputs if mime in out.get("data", {}))

    def picture(outputs):
        find(outputs, "image/png")["image/png"] = "AAAA"

    def alternative(outputs):
        find(outputs, "image/png")["text/plain"] = "Something is drawn."

    def table(outputs):
        data = find(outputs, "text/html")
        data["text/html"] = data["text/html"].replace("0.5", "0.6")

    def text(outputs):
        outputs[0].text = outputs[0].text.replace("42", "43")

    for change in (picture, alternative, table, text):
        variant(change.__name__, change)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval",
        "-rf",
        "-p",
        "no:cacheprovider",
        ".",
    ]
    done = subprocess.run(
        command, cwd=tmp_path, env=execute.environment(), capture_output=True, text=True
    )
    failed = {
        line.split()[1].split("::")[0] for line in done.stdout.splitlines() if "FAILED" in line
    }
    assert failed == {"alternative.ipynb", "table.ipynb", "text.ipynb"}, done.stdout[-3000:]
