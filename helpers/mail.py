"""Chapter 95's all-reduce by letters: its arrays and launches, a check of its sums, and judges."""

import cupy as cp
import numpy as np

from helpers import checks, many

WORDS = """
typedef unsigned long long word;
typedef volatile word* Box;
"""
# For the judge: a Box that takes and gives whole words, and has no address to cast.
STRICT = """
typedef unsigned long long word;
class Cell {
    word* at;
public:
    __device__ explicit Cell(word* p) : at(p) {}
    __device__ void operator=(word x) const { *(volatile word*)at = x; }
    __device__ operator word() const { return *(volatile word*)at; }
};
class Box {
    word* at;
public:
    __device__ explicit Box(word* p) : at(p) {}
    __device__ Cell operator[](long long i) const { return Cell(at + i); }
    __device__ Cell operator*() const { return Cell(at); }
    __device__ Box operator+(long long n) const { return Box(at + n); }
};
"""
PROBE = r"""
extern "C" __global__ void probe(word* box, unsigned step, double* x, int* came) {
    number found = 0;
    came[threadIdx.x] = arrived(Box(box), threadIdx.x, step, &found);
    x[threadIdx.x] = found;
}
extern "C" __global__ void width(int* words) { *words = WORDS; }
extern "C" __global__ void send(word* box, unsigned step, const double* x) {
    post(Box(box), threadIdx.x, x[threadIdx.x], step);
}
"""


class Mail:
    """An all-reduce of n numbers by letters: mail() makes x[rank] of each rank the sum of all.

    source   letters and the kernel all_reduce (x, n, boxes, rank, n_ranks, steps, lost, phases)
    at_once  whether the kernels of all ranks run at the same time; else all post before any adds
    x, lost  an array for each rank: the numbers, and how often it gave up waiting
    """

    def __init__(self, source, places, n, at_once, dtype=np.float32, threads=256):
        self.places, self.at_once = places, at_once
        self.kernel = cp.RawKernel(WORDS + source, "all_reduce")
        most = places[0].device.attributes["MultiProcessorCount"]
        self.shape = min(-(-n // threads), most), threads
        self.x = many.on_each(places, lambda: cp.zeros(n, dtype))
        n_words = np.dtype(dtype).itemsize // 4 * n
        make = lambda size, kind: many.on_each(places, lambda: cp.zeros(size, kind))  # noqa: E731
        self.boxes = make(2 * len(places) * n_words, np.uint64)
        addresses = np.array([boxes.data.ptr for boxes in self.boxes], np.uint64)
        self.known = many.on_each(places, lambda: cp.asarray(addresses))
        self.steps = make(self.shape[0] * threads, np.uint32)
        self.lost = make(1, np.uint32)
        many.wait()
        self.launch(1)  # also loads the kernel: nobody may wait for that
        many.wait()
        self.launch(2)
        many.wait()

    def launch(self, phases):
        blocks, threads = self.shape
        for rank, place in enumerate(self.places):
            size = self.x[rank], np.int32(self.x[rank].size)
            whose = self.known[rank], np.int32(rank), np.int32(len(self.places))
            kept = self.steps[rank], self.lost[rank], np.int32(phases)
            with place:
                self.kernel((blocks,), (threads,), (*size, *whose, *kept))

    def __call__(self):
        if self.at_once:
            self.launch(3)
            return
        self.launch(1)
        events = many.on_each(self.places, lambda: cp.cuda.get_current_stream().record())
        for place in self.places:
            for event in events:
                place.stream.wait_event(event)
        self.launch(2)


def what_is_wrong(mail, n_steps=5):
    """Sum random numbers n_steps times; return the first thing that is wrong in words, or None."""
    rng = np.random.default_rng(5)
    for step in range(1, n_steps + 1):
        data = rng.standard_normal((len(mail.places), mail.x[0].size)).astype(mail.x[0].dtype)
        for x, mine, place in zip(mail.x, data, mail.places, strict=True):
            with place:
                x[...] = cp.asarray(mine)
        many.wait()
        mail()
        many.wait()
        if any(int(lost.get()[0]) for lost in mail.lost):
            return f"step {step}: a rank gave up waiting for a letter"
        right = sum(data[1:], data[0])
        for rank, x in enumerate(x.get() for x in mail.x):
            for i in np.flatnonzero(x != right)[:1]:
                return f"step {step}: rank {rank}, number {i}: {x[i]}, not {right[i]}"
    return None


@checks.judge
def judge_done(done):
    """done(back, sums): when the last sum is finished."""

    def finished(back, sums):  # the latest way: back up to k, then all sums from k on
        return max(sum(back[: k + 1]) + sum(sums[k:]) for k in range(len(back)))

    cases = [([2, 2, 2], [1, 1, 1]), ([1, 1, 1], [3, 2, 1]), ([5], [4]), ([1, 6, 1], [2, 5, 1])]
    cases += [([3, 1, 4, 1], [5, 0, 2, 6]), ([4, 1, 1, 9], [1, 9, 1, 1])]
    cases += [([1, 1, 6, 1, 1], [1, 1, 5, 4, 1])]
    rng = np.random.default_rng(8)
    for length in (5, 6, 7, 8, 8, 8):  # any bucket may be the one that decides
        cases.append(tuple(rng.integers(0, 9, (2, length)).tolist()))
    for first in range(8):
        back, sums = [1] * 8, [1] * 8
        back[first] = sums[first] = 7
        cases.append((back, sums))
    for back, sums in cases:
        answer = done(list(back), list(sums))
        if answer is None:
            return "not done yet"
        if not isinstance(answer, int | float | np.number):
            return f"wrong: {answer!r} is not a number of seconds"
        if not abs(answer - finished(back, sums)) <= 1e-12:
            expected = finished(back, sums)
            return f"wrong for back {back}, sums {sums}: {answer}, expected {expected}"
    return f"correct in {len(cases)} cases"


@checks.judge
def judge_best(best):
    """best(n_layers, back, total, fixed): the number of buckets whose last sum is done first."""

    def finished(m, n_layers, back, total, fixed):
        ready = free = 0.0
        for _ in range(m):
            ready += n_layers / m * back
            free = max(ready, free) + total / m + fixed
        return free

    rng = np.random.default_rng(3)
    cases = [(12, 1.0, 6.0, 0.0), (12, 1.0, 6.0, 50.0), (7, 2.0, 3.0, 0.5), (1, 1.0, 1.0, 1.0)]
    for n_layers in (6, 12, 24, 36, 60):
        cases.append((n_layers, *(float(x) for x in rng.uniform(0.1, 2, 2)), 0.02))
        cases.append((n_layers, 1.0, 1.7 * n_layers, float(rng.uniform(0.3, 3))))
    for case in cases:
        answer = best(*case)
        if answer is None:
            return "not done yet"
        if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
            return f"wrong: {answer!r} is not a number of buckets"
        if answer < 1 or case[0] % answer:
            return f"wrong for {case}: {answer} does not divide {case[0]}"
        ms = [m for m in range(1, case[0] + 1) if case[0] % m == 0]
        times = {m: finished(m, *case) for m in ms}
        least = min(times.values())
        if times[answer] > least * (1 + 1e-9):
            right = min(ms, key=times.get)
            return (
                f"wrong for {case}: {answer} buckets take {times[answer]:.4g}, {right} {least:.4g}"
            )
    return f"correct in {len(cases)} cases"


@checks.judge
def judge_meets(meets):
    """meets(n, nccl, ours, link): the bytes at which letters take as long as a ring."""
    for n, nccl, ours, link in (
        (2, 7e-6, 3e-6, 4e11),
        (3, 9e-6, 2e-6, 3e11),
        (8, 2.1e-5, 4e-6, 2.5e10),
        (5, 1e-5, 9e-6, 1e11),
    ):
        answer = meets(n, nccl, ours, link)
        if answer is None:
            return "not done yet"
        if isinstance(answer, bool) or not isinstance(answer, int | float | np.number):
            return f"wrong: {answer!r} is not a number of bytes"
        by_letters = ours + 2 * (n - 1) * answer / link
        by_ring = nccl + 2 * (n - 1) / n * answer / link
        if not abs(by_letters - by_ring) <= 1e-3 * nccl:
            said = f"letters take {1e6 * by_letters:.2f} µs, a ring {1e6 * by_ring:.2f}"
            return f"wrong for {n} ranks: with {answer:,.0f} bytes {said}"
    return "correct in 4 cases"


def judge_letters(letters, try_them):
    """What letters for `double` are worth; try_them(letters) says what is wrong with their sums.

    They are compiled with a Box that takes whole words only: two halves written one after the
    other are right wherever kernels run in turn, and wrong on two GPUs.
    """

    @checks.judge
    def look(letters):
        if letters is None:
            return "not done yet"
        if not isinstance(letters, str):
            return f"wrong: {type(letters).__name__} is not a text of CUDA"
        module = cp.RawModule(code=STRICT + letters + PROBE)
        try:
            send, probe = module.get_function("send"), module.get_function("probe")
        except cp.cuda.compiler.CompileException as error:
            first = next((x for x in str(error).splitlines() if "error" in x), "")
            if any(word in first for word in ("Box", "Cell", "temporary", "lvalue", "rvalue")):
                return f"wrong: a Box takes and gives whole words, by box[i] only: {first}"
            raise
        return _probed(module, send, probe) or _summed(try_them(letters))

    return look(letters)


def _summed(wrong):
    return f"wrong: {wrong}" if wrong else "correct, to the bit"


def _probed(module, send, probe):
    width = cp.zeros(1, np.int32)
    module.get_function("width")((1,), (1,), (width,))
    if (n_words := int(width.get()[0])) != 2:
        return f"wrong: WORDS is {n_words}, but a number takes two words"
    x = np.random.default_rng(4).standard_normal(7)
    new, old, found = (cp.zeros(20, np.uint64) for _ in range(3))
    send((1,), (7,), (old, np.uint32(8), cp.asarray(x + 1)))
    send((1,), (7,), (new, np.uint32(9), cp.asarray(x)))
    for stale, comes in ((None, True), (0, False), (1, False), ("all", False)):
        found[:] = old if stale == "all" else new
        if stale in (0, 1):
            found[stale:14:2] = old[stale:14:2]
        y, came = cp.zeros(7), cp.zeros(7, np.int32)
        probe((1,), (7,), (found, np.uint32(9), y, came))
        if (came.get() != comes).any():
            word = f"word {1 - (stale or 0)} alone" if stale in (0, 1) else "no word"
            what = "both words" if stale is None else word
            return f"wrong: {what} of a number came, and arrived() says {not comes}"
        if comes and (y.get() != x).any():
            return f"wrong: {x[0]} was sent, {y.get()[0]} came"
    return None
