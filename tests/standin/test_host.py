"""The host while a kernel runs: its memory, out of a kernel's reach, its signals, its threads."""

import os
import signal
import subprocess
import sys
import threading
import time

import cupy as cp
import cupyx
import numpy as np
import pytest
from marks import long_but

import gpuless
from gpuless.engine import KernelError, compiler

exact = pytest.mark.skipif(not compiler.has_shadow(), reason="no shadow memory on this system")
LOOP = """extern "C" __global__ void loop(volatile float *x, long long n) {
    for (long long i = 0; i != n; ++i) x[0] += i;
}"""

# Ctrl-C once the loop runs, also where the tests themselves were started without it.
PRESS = """
signal.signal(signal.SIGINT, signal.default_int_handler)

def press():
    seen = ctypes.c_float.from_address(x.data.ptr)
    while not seen.value:
        time.sleep(0.01)
    signal.pthread_kill(MAIN, signal.SIGINT)
"""


def run(program):
    """Run a program in a process of its own; what it printed."""
    start = "import ctypes, signal, sys, threading, time\nimport gpuless\n"
    start += "gpuless.install()\n"
    start += f"import cupy as cp\nloop = cp.RawKernel({LOOP!r}, 'loop')\nx = cp.zeros(1, 'f4')\n"
    start += "loop((1,), (1,), (x, 1))\nMAIN = threading.main_thread().ident\nprint('begins')\n"
    start += PRESS
    environment = {**os.environ, "CUPY_STANDIN": "always"}
    command = [sys.executable, "-c", start + program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("begins\n")[2]


# ---- memory ----------------------------------------------------------------------------------


@exact
@pytest.mark.parametrize("count", [3, 1000, 5_000_000])
@pytest.mark.parametrize(
    "body", ["y[0] = x[1];", "x[1] = 5;", "memcpy(x, y, 4);", "y[0] = atomicAdd(x, 1.f);"]
)
def test_a_numpy_array_by_its_address(count, body):
    """On a GPU an illegal address; read in silence it would give the right numbers."""
    k = cp.RawKernel(
        f"""extern "C" __global__ void k(unsigned long long address, float *y) {{
            float *x = (float *)address;
            {body}
        }}""",
        "k",
    )
    x, y = np.arange(count, dtype=np.float32), cp.ones(4, np.float32)
    for _ in range(3):
        with pytest.raises(
            KernelError, match="line 3: .* none of its arrays. Host memory, such as"
        ):
            k((1,), (1,), (x.ctypes.data, y))
    assert x[:3].tolist() == [0, 1, 2] and y.tolist() == [1, 1, 1, 1]
    on_device = cp.asarray(x)
    k((1,), (1,), (on_device.data.ptr, y))


@exact
def test_a_numpy_array_by_its_address_in_an_elementwise_kernel():
    k = cp.ElementwiseKernel(
        "uint64 p, int32 j", "float32 y", "const float *x = (float *)p; y = x[j];"
    )
    x = np.arange(9, dtype=np.float32)
    index = cp.arange(9, dtype=np.int32)
    on_device = cp.asarray(x)
    assert k(on_device.data.ptr, index).tolist() == x.tolist()
    with pytest.raises(KernelError, match="none of its arrays. Host memory"):
        k(x.ctypes.data, index)


def test_pinned_memory_is_within_reach():
    k = cp.RawKernel(
        """extern "C" __global__ void k(unsigned long long address, int n) {
            if (threadIdx.x < n) ((float *)address)[threadIdx.x] *= 3;
        }""",
        "k",
    )
    x = cupyx.empty_pinned((2, 3), np.float32)
    x[...] = np.arange(6).reshape(2, 3)
    k((1,), (8,), (x.ctypes.data, 6))
    assert x.tolist() == [[0, 3, 6], [9, 12, 15]]
    pinned = cp.cuda.alloc_pinned_memory(20)
    seen = np.frombuffer(pinned, np.int32, 5)
    seen[:] = 7
    assert (pinned.ptr, pinned.size()) == (seen.ctypes.data, 20)


# ---- signals and threads ---------------------------------------------------------------------


def test_the_time_of_other_threads_is_not_counted():
    """Only what the launch itself takes of the processor."""
    loop, x = cp.RawKernel(LOOP, "loop"), cp.zeros(1, np.float32)
    n, taken = 1000, 0.0
    while taken < 0.1:
        n *= 2
        before = time.thread_time()
        loop((1,), (1,), (x, n))
        taken = time.thread_time() - before
    stop = threading.Event()
    a = np.ones((400, 400))
    others = [
        threading.Thread(target=lambda: [a @ a for _ in iter(stop.is_set, True)]) for _ in range(3)
    ]
    for thread in others:
        thread.start()
    try:
        with gpuless.time_limit(2.5 * taken):
            loop((1,), (1,), (x, n))
    finally:
        stop.set()
        for thread in others:
            thread.join()
    with gpuless.time_limit(taken), pytest.raises(KernelError, match="time_limit"):
        loop((1,), (1,), (x, 5 * n))


@pytest.mark.parametrize("where", ["main", "thread"])
def test_an_interrupt_ends_the_launch_and_reaches_the_program(where):
    """KeyboardInterrupt belongs to the main thread, whichever one has launched."""
    printed = run(f"""
def work():
    try:
        loop((1,), (1,), (x, -1))
    except RuntimeError as error:
        sys.stdout.write(f"{{error}}\\n")  # at once: print() writes the end of the line apart

threading.Thread(target=press, daemon=True).start()
thread = threading.Thread(target=work)
try:
    if {where!r} == "main":
        work()
    else:
        thread.start()
        while True:
            time.sleep(0.01)
except KeyboardInterrupt:
    sys.stdout.write("caught\\n")
if thread.ident:
    thread.join()
loop((1,), (1,), (x, 1))
""")
    expected = ["caught"] if where == "main" else ["caught", "kernel 'loop': interrupted"]
    assert sorted(printed.splitlines()) == expected


def test_a_handler_of_the_program_hears_of_the_interrupt():
    printed = run("""
signal.signal(signal.SIGINT, lambda *_: print("heard"))
threading.Thread(target=press, daemon=True).start()
try:
    loop((1,), (1,), (x, -1))
except RuntimeError as error:
    print(error)
""")
    assert printed.splitlines() == ["heard", "kernel 'loop': interrupted"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize(
    "name", long_but(["SIGALRM"], ["SIGALRM", "SIGPROF", "SIGUSR1", "SIGCHLD"])
)
def test_signals_of_the_program_wait_for_the_launch(name):
    printed = run(f"""
heard = []
signal.signal(signal.{name}, lambda *_: heard.append(1))
timer = threading.Timer(0.1, signal.pthread_kill, [MAIN, signal.{name}])
timer.start()
end = time.monotonic() + 0.5
while time.monotonic() < end:
    loop((1,), (1,), (x, 3_000_000))
timer.join()
print(len(heard))
""")
    assert printed == "1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_fork_waits_for_the_launch_of_another_thread_and_has_no_gpu():
    """A child that began in the middle of one would wait for it for ever."""
    printed = run("""
import os
thread = threading.Thread(target=loop, args=((1,), (1,), (x, 200_000_000)))
thread.start()
time.sleep(0.1)
child = os.fork()
if child == 0:
    signal.alarm(20)
    for call in (lambda: loop((1,), (1,), (x, 3)), lambda: cp.zeros(3), lambda: x.get()):
        try:
            call()
        except cp.cuda.runtime.CUDARuntimeError as error:
            assert "initialization error" in str(error) and "'spawn'" in error.__notes__[0]
        else:
            os._exit(1)
    os._exit(0)
thread.join()
print(os.waitpid(child, 0)[1])
""")
    assert printed == "0\n"


def test_from_dlpack_takes_what_lies_on_the_device():
    """Every message is that of an H200."""
    x, n = cp.arange(6, dtype="f4"), np.arange(4.0)
    shared = cp.from_dlpack(x)
    shared[1] = 70
    assert x[1] == 70 and shared.data.ptr == x.data.ptr
    view = cp.from_dlpack(x[1:5:2])
    assert view.get().tolist() == [70, 3] and view.strides == (8,)
    with pytest.raises(TypeError, match="^CPU arrays cannot be directly imported to CuPy"):
        cp.from_dlpack(n)
    with pytest.raises(NotImplementedError, match=r"^from_dlpack\(\) does not support device yet"):
        cp.from_dlpack(x, device=cp.cuda.Device(0))
    with pytest.raises(BufferError, match="^copy=True only supported for copy to CPU"):
        cp.from_dlpack(x, copy=True)
    with pytest.raises(BufferError, match="only supported for copy to CPU"):
        x.__dlpack__(copy=True)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        copied = np.from_dlpack(x, device="cpu")
        copied[...] = 9
        assert not (x == 9).any()
    with pytest.warns(np.exceptions.VisibleDeprecationWarning, match="from_dlpack"):
        x.toDlpack()
    with pytest.raises(ValueError, match=r"consumed multiple times .* Got: \[1\]$"):
        cp.from_dlpack([1])
