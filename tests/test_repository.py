"""What the files of the repository promise about each other."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
TEXT = {
    ".bib",
    ".cff",
    ".css",
    ".h",
    ".ipynb",
    ".js",
    ".json",
    ".jsonl",
    ".md",
    ".mplstyle",
    ".py",
    ".svg",
}
TEXT |= {".toml", ".txt", ".yml", ".yaml", ""}

CITED = {  # other people's projects
    "cupy/cupy",
    "nvidia",  # Warp's documents
    "googlecolab/backend-info",
    "NVIDIA/nccl-tests",
    "NVIDIA/TensorRT-LLM",
    "reservoirpy/reservoirpy",
    "srush/GPU-Puzzles",
    "vllm-project/vllm",
    "0Akise/edla-rs",
    "karpathy/micrograd",
    "oreilly-japan/deep-learning-from-scratch-3",
    "KazuhisaFujita/EDLA",
    "pocokhc/ErrorDiffusionMethod",
}
INVENTED = ("OWNER", "someone", "a")  # owners in usage lines and in tests
FORGE = re.compile(
    r"(?:(?:github|gitlab|bitbucket|codeberg)\.(?:com|org)|raw\.githubusercontent\.com"
    r"|colab\.research\.google\.com/github)/([\w.-]+/[\w.-]*\w)"
    r"|([\w-]+)\.(?:github|gitlab)\.io"
)


def tracked():
    """Return the text files that git knows or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.splitlines() if Path(name).suffix in TEXT]


def addresses(text):
    """Return the repositories, as owner/name, whose addresses are in `text`."""
    return {match[1] or match[2] for match in FORGE.finditer(text)}


@pytest.mark.parametrize(
    "text, found",
    [
        ("https://github.com/a/b.", {"a/b"}),
        ("git@github.com/a/b-c.git", {"a/b-c.git"}),
        ("https://colab.research.google.com/github/a/b/blob/main/x.ipynb", {"a/b"}),
        ("https://raw.githubusercontent.com/a/b/main/x", {"a/b"}),
        ("https://a.github.io/b", {"a"}),
        ("https://colab.research.google.com/", set()),
    ],
)
def test_an_address_is_recognised(text, found):
    assert addresses(text) == found


def test_the_repository_is_named_in_one_place():
    """Only _config.yml may hold the book's own address; everything else takes it from there."""
    strays = {
        f"{path.relative_to(ROOT)}: {address}"
        for path in tracked()
        if path.is_file() and path.name not in ("_config.yml", Path(__file__).name)
        for address in addresses(path.read_text(encoding="utf-8")) - CITED
        if address.split("/")[0] not in INVENTED
    }
    assert strays == set()


def toc():
    """Return the files named in _toc.yml, without suffix."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [c["file"] for part in contents["parts"] for c in part["chapters"]]


def test_every_chapter_is_in_the_table_of_contents_in_order():
    chapters = [Path(file).name for file in toc() if file.startswith("notebooks/")]
    assert chapters == sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def test_readme_links_every_chapter_and_every_link_leads_somewhere():
    links = re.findall(r"\]\(([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    chapters = [f"{file}.ipynb" for file in toc() if file.startswith("notebooks/")]
    assert [link for link in links if link.startswith("notebooks/")] == chapters
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_every_page_is_in_the_table_of_contents():
    pages = {f"book/{path.stem}" for path in (ROOT / "book").glob("*.md")}
    assert pages - set(toc()) == {"book/index"}


@pytest.mark.parametrize("target", ["book", "test", "test-all", "check", "lab", "record", "clean"])
def test_make_knows_its_targets(target):
    run = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def imported(source):
    """Return the names of the modules that `source` imports, `from a import b` as a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            stem = "." * node.level + (node.module or "")
            found |= {stem, *(f"{stem}.{name.name}" for name in node.names)}
    return found


def enters_the_press(source):
    return any(re.match(r"(helpers|\.+)\.?press\b", name) for name in imported(source))


@pytest.mark.parametrize(
    "source, expected",
    [
        ("import helpers.press.record", True),
        ("from helpers import on_gpu, press", True),
        ("def f():\n    from helpers.press import results", True),
        ("from . import press", True),
        ("from .press.record import state", True),
        ("from helpers import expression\nimport press", False),
    ],
)
def test_an_import_of_the_press_is_recognised(source, expected):
    assert enters_the_press(source) is expected


def test_no_chapter_and_no_plumbing_imports_the_press():
    """Commands that make the book are not what chapters run on."""
    strays = []
    for path in (ROOT / "helpers").rglob("*.py"):
        if path.parent.name != "press" and enters_the_press(path.read_text(encoding="utf-8")):
            strays.append(str(path.relative_to(ROOT)))
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            source = re.sub(r"^(\s*)%.*", r"\1pass", "".join(cell["source"]), flags=re.M)
            if cell["cell_type"] == "code" and enters_the_press(source):
                strays.append(f"{path.name}: {cell['id']}")
    assert strays == []
    code = "import sys, helpers; print([m for m in sys.modules if m.startswith('helpers.press')])"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_the_press_is_installed_with_the_helpers():
    from setuptools import find_namespace_packages

    assert {"helpers", "helpers.press"} <= set(find_namespace_packages(ROOT, include=["helpers*"]))
