"""The page "When it goes wrong": its headings are what CuPy, CUDA and the stand-in really say."""

import re
import subprocess
import sys
from pathlib import Path

import nvrtc
import pytest

import helpers
from helpers.press import evidence, wrong_page
from helpers.programs import wrong
from helpers.programs.wrong import say

PAGE = Path(__file__).parents[1] / "book" / "when-it-goes-wrong.md"
NAMES = [name for name in wrong.PROGRAMS if name != "words"]
RECORDED = evidence.load("messages")
SILENT = {  # programs that say nothing is wrong: what they print on the stand-in instead
    "all_zeros": "[0. 0. 0.] zeros: 232",
    "nan": "nan",
    "uninitialised": "",
}


def headings():
    """Return [(heading, its level, the programs under it)] of the page, in order."""
    found = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if title := re.fullmatch("(##+) (.*)", line):
            found.append((title[2], len(title[1]), []))
        if program := re.fullmatch(r"```\{include\} generated/wrong/(\w+)\.md", line):
            found[-1][2].append(program[1])
    return found


MESSAGES = {
    title.strip("`"): programs
    for title, level, programs in headings()
    if level == 3 and title.startswith("`") and title != "`printf`"
}


def said(name):
    """Return all that was said by a program, on the stand-in now and where it was recorded."""
    texts = []
    if wrong.STANDIN in wrong.PROGRAMS[name]:
        texts.append(wrong_page.text(wrong_page.standin()[name]["wrong"]))
    for stored in map(evidence.load, wrong_page.NAMES.values()):
        if stored and name in stored["said"]:
            texts.append(wrong_page.text(stored["said"][name]["wrong"]))
    return " ".join("\n".join(texts).split())  # a message may be broken into lines


def one_spelling(text):
    """Return `text` with the driver's and the runtime's names of an error in one spelling."""
    name = re.compile(r"CUDA_ERROR_([A-Z_]+)|cudaError([A-Z]\w+)")
    return name.sub(lambda m: "error " + (m[1] or m[2]).replace("_", "").lower(), text)


def words():
    """Return CUDA's words for its errors, as they are recorded."""
    return evidence.load("messages_no_driver")["said"]["words"]["wrong"]["printed"]


def test_every_program_is_shown_once_and_every_one_shown_exists():
    shown = [name for *_, programs in headings() for name in programs]
    assert sorted(shown) == sorted(NAMES)
    files = {path.stem for path in wrong.FOLDER.glob("*.py")} - {"__init__", "__main__", "say"}
    assert files == set(wrong.PROGRAMS)


def test_twenty_messages_at_least_have_a_heading():
    assert sum(level == 3 and title != "`printf`" for title, level, _ in headings()) >= 25


@pytest.mark.parametrize("message", MESSAGES)
def test_a_heading_is_the_message_itself(message):
    programs = MESSAGES[message]
    if message == "No GPU was found":
        assert programs == [] and message in Path(helpers.device.__file__).read_text("utf-8")
        return
    heard = " ".join(map(said, programs))
    for piece in message.removeprefix("TypeError: ").split("…"):
        if one_spelling(piece.strip()) in one_spelling(heard):
            continue
        # What only a GPU says, until it is recorded: CUDA's own words for it, from elsewhere.
        assert RECORDED is None and "messages" in evidence.WAITS, (piece, heard)
        assert piece.strip() == ARCHITECTURE or piece.split(": ")[-1].strip() in words()


ARCHITECTURE = "nvrtc: error: invalid value for --gpu-architecture (-arch)"


def test_the_compiler_refuses_an_old_architecture_in_these_words():
    if not nvrtc.is_installed():
        pytest.skip("NVRTC is not installed")
    result = nvrtc.compile('extern "C" __global__ void k() {}', ("--gpu-architecture=sm_30",))
    assert ARCHITECTURE in result.log


def test_what_waits_for_a_gpu_is_said_to_wait():
    assert (RECORDED is None) <= ("messages" in evidence.WAITS)
    for name in NAMES:
        text = wrong_page.fragment(name)
        waits = wrong.GPU in wrong.PROGRAMS[name] and RECORDED is None
        assert (wrong_page.NOT_YET in text) == waits, name


@pytest.mark.parametrize("name", wrong_page.standin())
def test_the_stand_in_says_what_is_wrong_and_nothing_of_what_is_mended(name):
    found = wrong_page.standin()[name]
    wrongly = found["wrong"]
    if name in SILENT:
        assert wrong_page.text(wrongly) == SILENT[name]
    else:
        assert wrong_page.text(wrongly)
    if "mended" in found:
        assert found["mended"]["error"] == found["mended"]["warned"] == ""
        assert found["mended"]["printed"] != wrongly["printed"] or wrongly["warned"]


def test_an_error_ends_a_program_and_is_the_last_that_is_said(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        '"""A title."""\nx = 3\n# %% wrong\nprint(x)\nx / 0\n# %% mended\nprint(5)\n'
    )
    assert say.parts(program)["setup"] == "x = 3"
    wrongly = say.run(program)
    assert wrongly == {
        "printed": "3",
        "warned": "",
        "error": "ZeroDivisionError: division by zero",
    }
    assert say.run(program, "mended")["printed"] == "5"
    done = subprocess.run(
        [sys.executable, wrong_page.SAY, program], capture_output=True, text=True, check=True
    )
    assert '"error": "ZeroDivisionError' in done.stdout.splitlines()[-1]
    program.write_text("x = 3\n# %% wrongly\nprint(x)\n")
    with pytest.raises(ValueError, match="has the parts setup, wrongly"):
        say.parts(program)


def test_an_unknown_program_is_refused():
    with pytest.raises(ValueError, match="no program is called 'nothing'; there are"):
        wrong.path("nothing")


def test_a_machine_with_neither_a_gpu_nor_cupy_records_nothing(capsys, monkeypatch):
    monkeypatch.setattr(wrong_page.device, "on_gpu", False)
    monkeypatch.setattr(wrong_page, "_wheels", list)
    assert wrong_page.main(["--record"]) == 1
    assert "neither a GPU nor CuPy" in capsys.readouterr().err


@pytest.mark.skipif(RECORDED is None, reason="no GPU has run them yet")
def test_what_a_gpu_said_is_what_the_page_says_of_it():
    for name, told in RECORDED["said"].items():
        assert "mended" not in told or told["mended"]["error"] == "", name
    checked = {name: found["said"] for name, found in RECORDED["checked"].items()}
    assert "Invalid __global__ write" in checked["off_by_one"]
    assert "Race reported" in checked["race"]
    assert "Uninitialized __global__ memory read" in checked["uninitialised"]
    first, second = RECORDED["said"]["first_call"]["wrong"]["printed"].splitlines()
    assert float(first.split()[1]) > 10 * float(second.split()[1])
    clock = RECORDED["said"]["clock_too_fast"]
    fast, right = (float(clock[part]["printed"].split()[0]) for part in ("wrong", "mended"))
    assert right > 2 * fast
