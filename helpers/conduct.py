"""How an answer works: the kernels it launches, and what it moves between host and device.

On the stand-in both are noted as they happen. CuPy's own classes cannot be taught to tell, so on a
GPU the answer is run in a stream capture: CuPy refuses every transfer there, and the graph that
comes out names each kernel.
"""

import contextlib
import re
from typing import NamedTuple

from helpers import standin

KINDS = ("RawKernel", "ElementwiseKernel", "ReductionKernel")
NODE = re.compile(r"\| ([^|\n]+?)\\<\\<\\<")  # of a kernel, in a graph's description
# Kernels that are not the reader's: CuPy's own, and those of CUB and Thrust.
LIBRARY = re.compile(r"cupy_|_ZN\d*(?:cub|thrust)|\b(?:cub|thrust)::")


class Conduct(NamedTuple):
    """What was seen: the names of the reader's kernels, one a launch; transfers, in words."""

    launched: list[str]
    moved: list[str]


def look(function):
    """Call `function()`; return its Conduct, or None where that cannot be told.

    It cannot on a GPU, if the function fails in a stream capture for another reason than a
    transfer: CuPy refuses cuBLAS and cuFFT there, and CUDA a wait for the device.
    """
    return (_on_standin if standin.is_active() else _on_gpu)(function)


def _on_standin(function):
    import cupy
    from cupy.cuda import stream

    seen = Conduct([], [])
    with contextlib.ExitStack() as stack:
        for name in KINDS:
            kind = getattr(cupy, name)
            stack.callback(setattr, kind, "__call__", kind.__call__)
            kind.__call__ = _telling(kind.__call__, seen.launched)
        stack.enter_context(stream.transfers_told(seen.moved))
        function()
    return seen


def _telling(call, names):
    def launch(self, *args, **keywords):
        names.append(self.name)
        return call(self, *args, **keywords)

    return launch


def _on_gpu(function):
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    graph, moved, failed = None, [], False
    with stream:
        stream.begin_capture()
        try:
            function()
        except RuntimeError as error:
            found = re.search(r"is capturing, so (\w+ transfers)", str(error))
            moved, failed = ([found[1]], False) if found else ([], True)
        except Exception:
            failed = True
        finally:
            with contextlib.suppress(Exception):  # a capture that failed has no graph
                graph = stream.end_capture()
    if failed or (graph is None and not moved):
        return None
    told = graph.debug_dot_str(1) if graph is not None else ""
    names = [name.replace("\\", "") for name in NODE.findall(told)]
    # A reduction of many numbers is two launches of one kernel of the reader's.
    names = [name.removesuffix("_pass1") for name in names if not name.endswith("_pass2")]
    return Conduct([name for name in names if not LIBRARY.search(name)], moved)


def complaint(seen, kernels, stays):
    """Return what is wrong with the Conduct `seen`, a sentence, or None.

    kernels   how often the answer may launch kernels of its own: a number, or (least, most); None
              is any number
    stays     True: nothing may go to the host or come from there
    """
    if stays and seen.moved:
        return (
            f"the values are right, but data leave the device or come to it ({seen.moved[0]}): "
            "the work is to stay there"
        )
    if kernels is None:
        return None
    least, most = (kernels, kernels) if isinstance(kernels, int) else kernels
    count = len(seen.launched)
    if least <= count <= most:
        return None
    if not count:
        return "the values are right, but no kernel of yours was launched: write one"
    wanted = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"the values are right, but {count} kernel{'s were' if count > 1 else ' was'} launched "
        f"({', '.join(dict.fromkeys(seen.launched))}), and {wanted} will do"
    )
