"""What the stand-in says of the programs: see __init__.py."""

import json
import sys

import gpuless
import helpers  # noqa: F401  first: it decides who answers to `import cupy`
from helpers import device
from helpers.programs import wrong
from helpers.programs.wrong import say

WAIT = 2  # seconds that the stand-in gives a kernel which goes round in a loop
DEVICES = 2  # logical ones


def main(names):
    """Print {name: {"wrong": …, "mended": …}} as say.run() has them."""
    if not gpuless.is_active():
        raise SystemExit("these programs would stop a GPU's process: set CUPY_STANDIN=always")
    names = names or [name for name, where in wrong.PROGRAMS.items() if wrong.STANDIN in where]
    device.logical_devices(DEVICES)
    found = {}
    with gpuless.time_limit(WAIT):
        for name in names:
            path = wrong.path(name)
            there = [part for part in say.parts(path) if part != "setup"]
            found[name] = {part: say.run(path, part) for part in there}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
