"""How an answer works: what it launches, and what it moves between host and device.

On the stand-in both are noted as they happen. CuPy's own classes cannot be taught to tell, so on a
GPU the answer is run in a stream capture: CuPy refuses every transfer there, and the graph that
comes out names each kernel.
"""

import contextlib
import re
from typing import NamedTuple

import gpuless

KINDS = ("RawKernel", "ElementwiseKernel", "ReductionKernel")
NODE = re.compile(r"\| ([^|\n]+?)\\<\\<\\<")  # of a kernel, in a graph's description
# Kernels that are not the reader's: CuPy's own, and those of CUB and Thrust.
LIBRARY = re.compile(r"cupy_|_ZN\d*(?:cub|thrust)|\b(?:cub|thrust)::")


class Conduct(NamedTuple):
    """What was seen: the names of the reader's kernels, one a launch; transfers, in words; and how
    many launches there were in all, CuPy's own included."""

    launched: list[str]
    moved: list[str]
    launches: int


def look(function):
    """Call `function()`; return its Conduct, or None where that cannot be told.

    It cannot on a GPU, if the function fails in a stream capture for another reason than a
    transfer: CuPy refuses cuBLAS and cuFFT there, and CUDA a wait for the device.
    """
    return (_on_standin if gpuless.is_active() else _on_gpu)(function)


@contextlib.contextmanager
def no_kernels():
    """Within the `with` block, on the stand-in, the reader's kernels do nothing when launched."""
    import cupy

    with contextlib.ExitStack() as stack:
        for name in KINDS:
            owner = getattr(cupy, name)
            stack.callback(setattr, owner, "__call__", owner.__call__)
            owner.__call__ = lambda *_, **__: None
        yield


def _on_standin(function):
    import cupy
    from cupy._core import _launch, _run
    from cupy.cuda import stream

    launched, moved, asked = [], [], []
    with contextlib.ExitStack() as stack:

        def notice(owner, name, notes, note):
            call = getattr(owner, name)
            stack.callback(setattr, owner, name, call)
            setattr(owner, name, _telling(call, notes, note))

        for name in KINDS:
            notice(getattr(cupy, name), "__call__", launched, lambda self: self.name)
        # Work on arrays that are there ends in `submit`, a new array of NumPy's making in `place`.
        for module in (stream, _launch):
            notice(module, "submit", asked, lambda work: work)
        notice(_run, "place", asked, lambda array: array)
        stack.enter_context(stream.transfers_told(moved))
        function()
    return Conduct(launched, moved, len(asked))


def _telling(call, notes, note):
    def told(first, *args, **keywords):
        notes.append(note(first))
        return call(first, *args, **keywords)

    return told


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
    launches = len(names)
    # A reduction of many numbers is two launches of one kernel of the reader's.
    names = [name.removesuffix("_pass1") for name in names if not name.endswith("_pass2")]
    return Conduct([name for name in names if not LIBRARY.search(name)], moved, launches)


def complaint(seen, kernels, stays, most_launches=None):
    """Return what is wrong with the Conduct `seen`, a sentence, or None.

    kernels   how often the answer may launch kernels of its own: a number, or (least, most); None
              is any number
    stays     True: nothing may go to the host or come from there
    most_launches  how many launches there may be in all, CuPy's own included; None is any number
    """
    if stays and seen.moved:
        return (
            f"the values are right, but data leave the device or come to it ({seen.moved[0]}): "
            "the work is to stay there"
        )
    if most_launches is not None and seen.launches > most_launches:
        return (
            f"the values are right, but the device is asked {seen.launches} times where "
            f"{most_launches} will do: is there a Python loop, or a step too many?"
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
