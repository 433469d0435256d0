"""The kernels that are held against a GPU's counters, what is read from its tools, and the page."""

import re

import pytest
import xray_truth
from marks import long_but
from xray_cases import CASES, SHARED

from gpuless.xray.machine.build import can_compile
from helpers.press import evidence, notebook, xray_page
from helpers.press.fingerprint import fingerprint

needs_compiler = pytest.mark.skipif(not can_compile(), reason="the x-ray needs g++ on x86-64")


@needs_compiler
@pytest.mark.parametrize("name", long_but(list(CASES)[::3], CASES))
def test_a_case(name):
    case = CASES[name]
    counts, races = xray_truth.xrayed(case)
    assert races == ([case.races] if case.races else [])
    assert counts["global store sectors"] + counts["global atomic sectors"] > 0
    stored = evidence.load("xray")["cases"][name]
    assert counts == stored["x-ray"]
    counters = stored["counters"]
    assert case.why or all(counts[k] == counters[k] for k in counts if k in counters)
    assert case.races != SHARED or stored["racecheck"]
    assert case.races == SHARED or not stored["racecheck"]


WITH_KERNELS, WITHOUT = [], []
for path in notebook.paths():
    told = evidence.load("xray")["chapters"][path.stem]["x-ray"]
    (WITH_KERNELS if told["kernels"] else WITHOUT).append(path)


@pytest.mark.parametrize("path", WITHOUT, ids=lambda path: path.stem)
def test_a_chapter_without_kernels_makes_none(path):
    text = "".join(cell.source for cell in notebook.code_cells(notebook.read(path)))
    assert not re.search(r"\b(?:RawKernel|RawModule|ElementwiseKernel|ReductionKernel)\(", text)


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("path", WITH_KERNELS, ids=lambda path: path.stem)
def test_a_chapter_has_the_races_that_are_stored(path, monkeypatch):
    """And as many kernels; `python tests/xray_truth.py --x-ray` stores those of today."""
    monkeypatch.setattr(xray_truth, "left", lambda: 900)  # seconds, for each chapter
    stored = evidence.load("xray")["chapters"][path.stem]["x-ray"]
    text = xray_truth.chapter_watched(path, *xray_truth.XRAY["x-ray"])
    found = xray_truth.chapter_found(text)
    assert found["done"] and found["failed"] == [], text
    assert found["kernels"] == stored["kernels"]
    racing = [[race.partition(":")[0] for race in told["races"]] for told in (found, stored)]
    assert racing[0] == racing[1]


HEADING = (
    '"ID","Process ID","Process Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name"'
)
ROW = '"{0}","123","python","case_{0:02}","1","7","(256, 1, 1)","(16, 1, 1)","0","9.0","Command"'
METRICS = [metric for several in xray_truth.METRICS.values() for metric in several]


def by_line():
    rows = [
        f'{ROW.format(case)},"{metric}","sector","{1048576 + number:,}"'
        for case in (3, 12)
        for number, metric in enumerate(METRICS)
    ]
    return "\n".join([f'{HEADING},"Metric Name","Metric Unit","Metric Value"', *rows])


def by_column():
    names = ",".join(f'"{metric}"' for metric in METRICS)
    rows = [
        ROW.format(case) + "".join(f',"{1048576 + n}.000000"' for n in range(len(METRICS)))
        for case in (3, 12)
    ]
    units = '"","","","","","","","","","",""' + ',"sector"' * len(METRICS)
    return "\n".join([f"{HEADING},{names}", units, *rows])


@pytest.mark.parametrize("table", [by_line, by_column])
def test_what_ncu_prints_is_read(table):
    noise = "==PROF== Connected to process 123\nlaunched 3\n"
    found = xray_truth.counters(f"{noise}{table()}\n==PROF== Disconnected\n")
    assert sorted(found) == [3, 12]
    for counts in found.values():
        assert counts["global load requests"] == 1048576
        assert counts["shared store passes"] == 1048576 + len(METRICS) - 1
        assert counts["global atomic requests"] == 2 * 1048576 + 4 + 5
        assert "all passes" not in counts


def test_what_ncu_could_not_count_is_left_out():
    text = by_line().replace('"1,048,576"', '"n/a"')
    assert "global load requests" not in xray_truth.counters(text)[3]
    assert "global load sectors" in xray_truth.counters(text)[3]
    assert xray_truth.counters("==ERROR== no permission") == {}


def test_what_racecheck_prints_is_read():
    text = """========= COMPUTE-SANITIZER
launched 4
========= Error: Race reported between Write access at case_49+0x1a0
=========     and Read access at case_49+0x220 [7936 hazards]
=========
========= Warning: Race reported between Read access at case_58+0x10
=========     and Write access at case_58+0x20 [16 hazards]
=========
========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 warning)
"""
    found = xray_truth.reported(text)
    assert sorted(found) == [49, 58]
    assert found[49] == [
        "Error: Race reported between Write access at case_49+0x1a0 "
        "and Read access at case_49+0x220 [7936 hazards]"
    ]
    assert xray_truth.reported("========= RACECHECK SUMMARY: 0 hazards displayed") == {}


def results():
    equal = {"global load requests": 1_234, "global load sectors": 5_678}
    zeros = dict.fromkeys(xray_truth.METRICS, 0)
    found = {
        "stride 4": {
            "planted": "",
            "x-ray": zeros | equal,
            "counters": zeros | equal,
            "races": [],
            "racecheck": [],
        },
        "product by tiles, unrolled": {
            "planted": "",
            "x-ray": zeros | {"shared load passes": 4_000},
            "counters": zeros | {"shared load passes": 3_000},
            "races": [],
            "racecheck": [],
        },
        "sum without the first barrier": {
            "planted": "shared",
            "races": ["shared"],
            "racecheck": ["Error: Race reported"],
        },
        "sum without the second barrier": {
            "planted": "shared",
            "races": ["shared"],
            "racecheck": [],
        },
        "float4": {"planted": "", "error": "RuntimeError"},
    }
    on = dict.fromkeys(("driver", "cuda", "cupy", "ncu", "compute-sanitizer"), "1.2")
    made = {"made by": "x", "on": {"gpu": "NVIDIA Test"} | on, "date": "2026-11-20", "about": {}}
    quiet = {"done": True, "reports": [], "kernels": 0}
    racing = {"done": True, "races": ["a race"], "kernels": 7}
    chapters = {
        "10_a": {"racecheck": quiet},
        "20_b": {"x-ray": {"done": False, "races": [], "kernels": None}},
        "35_indexing": {"x-ray": racing, "racecheck": quiet},
        "47_oja_on_chip": {"racecheck": quiet | {"reports": ["Error: Race reported"]}},
    }
    return {"receipt": made, "cases": found, "chapters": chapters}


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Store this as the evidence on the x-ray, in a folder of its own."""
    monkeypatch.setattr(evidence, "FOLDER", tmp_path)

    def keep(results):
        evidence.store("xray", results, results["receipt"])

    return keep


def test_differences_are_found_and_explained():
    all_of_it = results()
    xray_truth.finish(all_of_it)
    cases = all_of_it["cases"]
    assert cases["stride 4"]["differs"] == {} and "differs" not in cases["float4"]
    unrolled = cases["product by tiles, unrolled"]
    assert unrolled["differs"] == {"shared load passes": [4000, 3000]}
    assert "four neighbouring words" in unrolled["explained"]
    assert all_of_it["worst difference"]["share"] == 0.25
    assert all_of_it["not explained"] == []
    cases["stride 4"]["counters"] = cases["stride 4"]["counters"] | {"global load sectors": 1}
    xray_truth.finish(all_of_it)
    assert all_of_it["not explained"] == ["stride 4"]
    assert all_of_it["worst difference"]["where"].startswith("stride 4: global load sectors")


def test_it_is_explained_anew(kept, capsys):
    kept(results())
    xray_truth.explain()
    stored = evidence.load("xray")
    cases = stored["cases"]
    assert stored["receipt"] == results()["receipt"]
    assert "four neighbouring words" in cases["product by tiles, unrolled"]["explained"]
    assert "shared load passes 4000 / 3000" in capsys.readouterr().out


def test_the_page_takes_its_table_from_what_is_stored(kept):
    all_of_it = results()
    xray_truth.finish(all_of_it)
    assert xray_page._truth() == []
    kept(all_of_it)
    text = "\n".join(xray_page._truth())
    assert "NVIDIA Test (driver 1.2, CUDA 1.2)" in text and "Of 2 kernels 1 have equal" in text
    rows = [[cell.strip() for cell in line.split("|")] for line in text.split("\n") if "|" in line]
    assert ["", "stride 4", "1,234 / 5,678", "", "", "", "", ""] in rows
    assert ["", "product by tiles, unrolled", "", "", "", "4,000 ≠ 3,000", "", ""] in rows
    assert "*product by tiles, unrolled*: the compiler unrolls" in text
    assert "The largest difference is 25.0% of the larger number: product by tiles" in text
    assert "Of 2 races planted there the x-ray finds 2 and racecheck 1." in text
    assert "They differ on: sum without the second barrier." in text
    assert "1 chapters with 7 kernels. It reports chapter 35 (it x-rays a blur" in text
    assert "Not to the end, and so not counted: 20." in text
    assert "To the end through racecheck went 3 chapters. It reports chapter 47 (its" in text
    assert "L1" not in text
    stride = all_of_it["cases"]["stride 4"]
    stride["x-ray"] |= {"L1 load passes": 9_900, "global store requests": 100}
    stride["counters"] |= {"all passes": 10_000}
    kept(all_of_it)
    text = "\n".join(xray_page._truth())
    assert "| stride 4 | 9,900 | 10,000 | 99.0% |" in text


def test_it_goes_on_with_chapters_that_are_not_done_or_not_as_they_were(kept, monkeypatch):
    asked, all_of_it = [], results()
    done = {"done": True, "kernels": 3, "races": [], "failed": [], "reports": []}
    chapters = {
        path.stem: {"x-ray": dict(done), "racecheck": dict(done)}
        for path in (xray_truth.ROOT / "notebooks").glob("*.ipynb")
    }
    chapters["35_indexing"]["x-ray"]["done"] = False
    chapters["40_oja_reservoir"]["racecheck"]["done"] = False  # that takes a GPU
    about = {(name := xray_truth.kernels_of(stem)): fingerprint(name) for stem in chapters}
    about[xray_truth.kernels_of("60_error_diffusion")] = "of other kernels"
    all_of_it["receipt"]["about"] = about
    kept(all_of_it | {"chapters": chapters})

    def watched(book, tool, choice, gpu):
        asked.append((book.stem, tool, choice, gpu))
        return "kernels: 7\nchapter done\n"

    monkeypatch.setattr(xray_truth, "chapter_watched", watched)
    monkeypatch.setattr(xray_truth.cp.cuda.runtime, "getDeviceCount", lambda: 2)
    xray_truth.go_on()
    again = ["35_indexing", "60_error_diffusion"]
    assert sorted(asked) == [(stem, [], "always", gpu) for gpu, stem in enumerate(again)]
    stored = evidence.load("xray")
    assert [stored["chapters"][stem]["x-ray"]["kernels"] for stem in again] == [7, 7]
    assert not stored["chapters"]["40_oja_reservoir"]["racecheck"]["done"]
    assert stored["receipt"]["about"] == about  # racecheck has not seen the other kernels
    monkeypatch.setattr(xray_truth.gpuless, "is_active", lambda: False)  # as on a GPU
    asked.clear()
    xray_truth.go_on()
    assert {stem for stem, *_ in asked} == {"40_oja_reservoir", "60_error_diffusion"}
    stored = evidence.load("xray")
    assert stored["chapters"]["40_oja_reservoir"]["racecheck"]["done"]
    assert evidence.changed(stored["receipt"]) == []


def test_the_script_goes_on_where_a_tool_is_missing(monkeypatch):
    monkeypatch.setattr(xray_truth.shutil, "which", lambda tool: None)
    assert xray_truth.watched(["ncu"], ["--run", "0"], 5) == "failed: there is no ncu\n"


@pytest.mark.long
def test_a_process_that_takes_too_long_is_cut_off(monkeypatch):
    words = ["-c", "import time; print('begun', flush=True); time.sleep(60)"]
    monkeypatch.setattr(xray_truth, "command", lambda *_: [xray_truth.sys.executable, *words])
    assert xray_truth.watched([], [], 2).startswith("begun\n\ncut off")
