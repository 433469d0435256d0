"""What the tests of programs with several processes share."""

import contextlib
import threading
import time

import psutil


def children():
    """The processes that this one has started, and theirs, that still run; without the one that
    Python keeps for itself as long as it lives."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            own = "resource_tracker" in " ".join(process.cmdline())
            if not own and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@contextlib.contextmanager
def none_left():
    """Nothing that the block starts runs a second after it."""
    before = set(children())
    yield
    end = time.monotonic() + 1
    while (left := set(children()) - before) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left


@contextlib.contextmanager
def kill_when(ready, is_victim):
    """Kill the first child that `is_victim`, as soon as `ready()`, while the block runs; yield a
    list that then has the time of it."""
    times, done = [], threading.Event()

    def hunt():
        while not times and not done.wait(0.05):
            if not ready():
                continue
            for process in children():
                with contextlib.suppress(psutil.Error):
                    if is_victim(process):
                        process.kill()
                        times.append(time.monotonic())
                        return

    hunter = threading.Thread(target=hunt)
    hunter.start()
    try:
        yield times
    finally:
        done.set()
        hunter.join()
