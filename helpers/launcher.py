"""Start one program several times, as the ranks of a group, and end all when one of them fails."""

import contextlib
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time

GRACE = 5  # seconds from the request to end until a process is killed
LAST = 15  # lines of a rank that failed, in the error


def launch(ranks, module, *arguments, mpi=False, seconds=120):
    """Run `python -m module arguments` in `ranks` processes of this machine; wait for their end.

    Without mpi, each process has RANK, LOCAL_RANK (0 to ranks - 1) and WORLD_SIZE in its
    environment, and one free port for all in CUPYX_DISTRIBUTED_PORT. With mpi, `mpirun -n ranks`
    starts them, under mpi4py's care; all that is known of them then has the one name "mpirun".

    What they write is printed as it comes, each line with its rank, and returned: {name: text}. A
    program should flush what it prints, and write a line at once. The first process that fails
    ends all: RuntimeError with its last lines. TimeoutError when they are not done within
    `seconds`. Nothing that was started is left running in any case.

    With HELPERS_LAUNCH=no in the environment nothing is started: RuntimeError. The memory check
    sets it, which looks at the notebook's own process only.
    """
    if isinstance(ranks, bool) or not isinstance(ranks, int) or ranks < 1:
        raise ValueError(f"ranks must be a whole number of processes, 1 or more, not {ranks!r}")
    if os.environ.get("HELPERS_LAUNCH") == "no":
        raise RuntimeError("HELPERS_LAUNCH=no: in this run no processes are started")
    program = ["-m", module, *map(str, arguments)]
    if mpi:
        commands = {"mpirun": mpirun(ranks) + [sys.executable, "-m", "mpi4py", *program]}
    else:
        commands = {f"rank {rank}": [sys.executable, *program] for rank in range(ranks)}
    common = os.environ | {"WORLD_SIZE": str(ranks)}
    common |= {"CUPYX_DISTRIBUTED_HOST": "127.0.0.1", "CUPYX_DISTRIBUTED_PORT": str(free_port())}
    environments = [common | {"RANK": str(k), "LOCAL_RANK": str(k)} for k in range(len(commands))]
    return run_together(commands, environments, seconds)


def mpirun(ranks):
    """Return the command that starts MPI's ranks: the mpirun beside this Python, else in the PATH.

    RuntimeError with what to install where there is none.
    """
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])
    found = shutil.which("mpirun", path=path)
    if found is None:
        raise RuntimeError("There is no mpirun here: `pip install mpi4py mpich` brings one")
    said = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if "Open MPI" in said:
        return [found, "--oversubscribe", "--tag-output", "-n", str(ranks)]
    return [found, "-prepend-rank", "-n", str(ranks)]  # MPICH, and those that come from it


def free_port():
    """Return a TCP port of this machine that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def run_together(commands, environments, seconds):
    """Run commands, {name: list}, at once, each in its environment; see `launch`."""
    news = queue.SimpleQueue()  # (name, line of text or exit code), as it happens
    lines = {name: [] for name in commands}
    processes, threads, failed = {}, [], None
    deadline = time.monotonic() + seconds

    def tell(name, what):
        if isinstance(what, str):
            lines[name].append(what)
        if isinstance(what, str) and failed is None:  # of what comes of a failure, the error tells
            print(what if name == "mpirun" else f"{name}| {what}", flush=True)

    try:
        for (name, command), environment in zip(commands.items(), environments, strict=True):
            processes[name] = subprocess.Popen(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,  # so that what it starts in its turn ends with it
            )
            for work in (_read, _await):
                threads.append(threading.Thread(target=work, args=(name, processes[name], news)))
                threads[-1].start()
        running = set(processes)
        while running and failed is None:
            try:
                name, what = news.get(timeout=max(0, deadline - time.monotonic()))
            except queue.Empty:
                failed = ", ".join(sorted(running)), "timeout"
                break
            tell(name, what)
            if isinstance(what, int):
                running.discard(name)
                if what != 0:
                    failed = name, what
    finally:
        _end(processes.values())
        for thread in threads:
            thread.join()
    while not news.empty():
        tell(*news.get())
    texts = {name: "\n".join(said) for name, said in lines.items()}
    if failed is None:
        return texts
    name, what = failed
    if what == "timeout":
        last = [f"{name}| {said[-1]}" for name, said in lines.items() if said]
        raise TimeoutError(
            f"not done after {seconds:g} s, and stopped: {name}. Allow more `seconds`, or find out "
            "what they wait for." + "".join(f"\n{line}" for line in last)
        )
    others = "; the others were stopped" if len(commands) > 1 else ""
    last = (
        "Its last lines:\n" + "\n".join(lines[name][-LAST:]) if lines[name] else "It said nothing."
    )
    raise RuntimeError(f"{name} {_how(what)}{others}. {last}")


def _read(name, process, news):
    for line in process.stdout:
        news.put((name, line.rstrip("\n")))


def _await(name, process, news):
    news.put((name, process.wait()))


def _how(code):
    """Say how a process ended, by its exit code."""
    with contextlib.suppress(ValueError):
        if code < 0:
            return f"was killed by {signal.Signals(-code).name}"
    return f"failed with exit status {code}"


def _end(processes):
    """End processes and all that they started; those that do not listen are killed."""
    stop = time.monotonic() + GRACE
    _signal(processes, signal.SIGTERM)
    for process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0, stop - time.monotonic()))
    _signal(processes, getattr(signal, "SIGKILL", signal.SIGTERM))


def _signal(processes, number):
    for process in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(process.pid, number)  # of the session, even where its first has ended
            elif process.poll() is None:
                process.terminate()
