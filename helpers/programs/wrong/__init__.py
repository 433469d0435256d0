"""Programs that go wrong, one a file: what the page "When it goes wrong" shows.

python -m helpers.programs.wrong            run all that the stand-in can run; print it as JSON
python -m helpers.programs.wrong NAME …     only these

A file has lines that all share, then `# %% wrong` with those that make the message and, where the
cure is code, `# %% mended`. say.py runs one of them.
"""

from pathlib import Path

FOLDER = Path(__file__).parent
STANDIN, GPU, NO_DRIVER = "stand-in", "GPU", "no driver"
MEMCHECK, RACECHECK, INITCHECK = "memcheck", "racecheck", "initcheck"
TOOLS = (MEMCHECK, RACECHECK, INITCHECK)  # of compute-sanitizer
BOTH = (STANDIN, GPU)

#: Where each program can be run: the stand-in, a GPU, a machine without a driver but with CuPy;
#: and the tool of compute-sanitizer that it is looked at with, on a GPU.
PROGRAMS = {
    "words": (NO_DRIVER,),
    "no_driver": (NO_DRIVER,),
    "insufficient_driver": (NO_DRIVER,),
    "two_wheels": (NO_DRIVER,),
    "no_nvrtc": (NO_DRIVER,),
    "old_architecture": (GPU,),
    "no_kernel_image": (GPU,),
    "compile_exception": BOTH,
    "named_symbol": BOTH,
    "invalid_value": BOTH,
    "shared_memory": BOTH,
    "out_of_resources": (GPU,),
    "invalid_device": BOTH,
    "illegal_address": (STANDIN, GPU, MEMCHECK),
    "after_illegal_address": BOTH,
    "misaligned": BOTH,
    "endless": BOTH,
    "launch_timeout": (NO_DRIVER,),
    "hang": BOTH,
    "out_of_memory": BOTH,
    "implicit_conversion": BOTH,
    "unsupported_type": BOTH,
    "numpy_to_a_kernel": BOTH,
    "peer_access": (STANDIN,),
    "dlpack": (NO_DRIVER,),
    "dlpack_capsule": (NO_DRIVER,),
    "wrong_dtype": BOTH,
    "all_zeros": BOTH,
    "nan": BOTH,
    "other_digits": BOTH,
    "first_call": (GPU,),
    "clock_too_fast": (GPU,),
    "printf": BOTH,
    "asserted": BOTH,
    "off_by_one": (STANDIN, GPU, MEMCHECK),
    "race": (STANDIN, GPU, RACECHECK),
    "uninitialised": (STANDIN, GPU, INITCHECK),
}


def path(name):
    """Return the path of the program `name`; ValueError for one there is not."""
    if name not in PROGRAMS:
        raise ValueError(f"no program is called {name!r}; there are {', '.join(PROGRAMS)}")
    return FOLDER / f"{name}.py"
