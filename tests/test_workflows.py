"""What the workflows promise: who may write, what waits for what, which versions are installed."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
LATEST = {  # major versions that run on Node 24, which is all that runners still have
    "actions/checkout": 7,
    "actions/setup-python": 7,
    "actions/upload-artifact": 7,
    "actions/download-artifact": 8,
    "actions/upload-pages-artifact": 5,
    "actions/deploy-pages": 5,
}


def read(name):
    """Return a workflow; YAML takes its key `on` for the word true."""
    book = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in book.items()}


def test_these_are_the_workflows():
    assert set(WORKFLOWS) == {"test", "test-all", "versions", "publish"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_whole_and_may_only_read(name):
    book = read(name)
    assert book["name"] == name and book["permissions"] == {"contents": "read"}
    for job in book["jobs"].values():
        assert set(job.get("needs", "").split()) <= set(book["jobs"])
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()
            continue
        assert job["timeout-minutes"] <= 90 and job["runs-on"] == "ubuntu-latest"
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            if "uses" in step:
                action, commit = step["uses"].split("@")
                assert re.fullmatch("[0-9a-f]{40}", commit)
                named = rf"{action}@{commit}  # v(\d+)\.\d+\.\d+\n"
                (major,) = set(re.findall(named, WORKFLOWS[name].read_text(encoding="utf-8")))
                assert int(major) >= LATEST[action]
            for target in re.findall(r"^make (?:\w+= )?(\S+)", step.get("run", ""), re.M):
                assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_job_that_runs_packages_holds_a_token(name):
    for job in read(name)["jobs"].values():
        steps = job.get("steps", [])
        runs = " ".join(step.get("run", "") for step in steps)
        if re.search(r"\bmake\b|\bpip\b|python", runs):
            assert "permissions" not in job and "secrets" not in str(job)
            checkouts = [s for s in steps if s.get("uses", "").startswith("actions/checkout")]
            assert [c["with"]["persist-credentials"] for c in checkouts] == [False]


def test_what_is_published_was_tested_and_is_published_whole():
    book = read("publish")
    assert book["on"]["push"]["branches"] == ["main"]
    jobs = book["jobs"]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "test": None,
        "build": "test",
        "colab": "build",
        "deploy": "colab",
    }
    assert {name: job.get("permissions") for name, job in jobs.items()} == {
        "test": None,
        "build": None,
        "colab": {"contents": "write"},
        "deploy": {"pages": "write", "id-token": "write"},
    }
    assert book["concurrency"]["cancel-in-progress"] is False
    assert book["concurrency"]["group"] != read("test")["concurrency"]["group"]
    assert "github.repository" in book["env"]["BOOK_REPOSITORY"]


def test_every_push_to_main_and_every_pull_request_is_tested_once():
    assert set(read("test")["on"]) == {"pull_request", "workflow_call", "workflow_dispatch"}
    calls = [name for name in WORKFLOWS if "workflows/test.yml" in str(read(name)["jobs"])]
    assert calls == ["publish"]
    for name in ("test-all", "versions"):
        assert set(read(name)["on"]) == {"schedule", "workflow_dispatch"}
    for name in ("test", "test-all"):
        assert read(name)["jobs"][name]["strategy"]["matrix"] == {"python": ["3.11", "3.13"]}


def test_new_versions_of_the_actions_are_looked_for():
    found = yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text(encoding="utf-8"))
    assert [u["package-ecosystem"] for u in found["updates"]] == ["github-actions"]


def requirements(name):
    """Return the requirements in a file of them, without comments."""
    lines = [line.partition("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
    return [line for line in lines if line]


def wanted():
    """Return what the tests need: requirements.txt, and pyproject.toml with all extras but the
    peers, which only recordings have (a receipt tells their versions)."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [line for line in requirements("requirements.txt") if not line.startswith("-")]
    extras = project["optional-dependencies"]
    found += [*project["dependencies"], *extras["engines"], *extras["test"]]
    return [Requirement(line) for line in found]


@pytest.mark.parametrize("python", ["3.11.7", "3.12.4", "3.13.5"])
def test_what_the_book_asks_for_has_one_version_that_is_tested(python):
    environment = {
        **default_environment(),
        "python_version": python.rpartition(".")[0],
        "python_full_version": python,
        "sys_platform": "linux",
        "os_name": "posix",
    }
    pins = {}
    for line in map(Requirement, requirements("constraints.txt")):
        assert line.url is None and [s.operator for s in line.specifier] == ["=="], line
        if line.marker is None or line.marker.evaluate(environment):
            assert canonicalize_name(line.name) not in pins
            pins[canonicalize_name(line.name)] = next(iter(line.specifier)).version
    asked = [r for r in wanted() if r.marker is None or r.marker.evaluate(environment)]
    assert len(asked) > 30
    for requirement in asked:
        name = canonicalize_name(requirement.name)
        assert requirement.specifier.contains(pins[name]), f"{requirement}: run make constraints"


def test_no_list_of_packages_names_where_they_are_fetched():
    for name in ("constraints.txt", "colab.txt", "requirements.txt", "requirements-gpu.txt"):
        text = "\n".join(requirements(name))
        assert not re.search(r"://|^\s*(--|-i|-f)", text, re.M), name


def test_the_versions_are_installed_and_can_be_left_out():
    def commands(*arguments):
        make = ["make", "--dry-run", "--always-make", *arguments]
        return subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    installs = re.findall(r".*pip install.*", commands(".venv/installed-test"))
    assert len(installs) >= 2 and all("--constraint constraints.txt" in i for i in installs)
    assert "--constraint" not in commands("CONSTRAINTS=", ".venv/installed-test")
    assert "--output-file constraints.txt" in commands("constraints")


def test_a_change_whose_author_has_no_gpu_is_told_and_not_failed():
    (step,) = (s for s in read("test")["jobs"]["test"]["steps"] if s.get("run") == "make test")
    label = re.search(r"'([^']+)'", step["env"]["RECORDING_LATER"])[1]
    assert "labeled" in read("test")["on"]["pull_request"]["types"]
    for page in ("CONTRIBUTING.md", ".github/pull_request_template.md"):
        assert f"`{label}`" in (ROOT / page).read_text(encoding="utf-8")


def test_the_forms_for_issues_ask_for_what_is_needed():
    forms = [p for p in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if p.stem != "config"]
    assert len(forms) == 3
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert form["name"] and form["description"] and form["labels"]
        fields = [field for field in form["body"] if field["type"] != "markdown"]
        assert len({field["id"] for field in fields}) == len(fields) > 0
        assert all(field["attributes"]["label"] for field in fields)
        assert any(field.get("validations", {}).get("required") for field in fields)
