"""Chapter 80's exercises refuse wrong and lazy answers, and take right ones that look unusual."""

import pytest
from chapter_cells import Chapter

chapter = Chapter.fixture("80_lstm_sine")


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_solutions_pass_and_stubs_do_not(chapter, number):
    assert "correct" in chapter.judged(number, chapter.answer(number))
    assert "correct" not in chapter.judged(number, chapter.stub(number))


CELL = """def cell(z, c):
    xp, n = cp.get_array_module(z), c.shape[1]
    gate = lambda v: {gate}
    {order} = (z[:, k * n : (k + 1) * n] for k in range(4))
    new = {new}
    return {h}, new
"""
GOOD = {
    "gate": "0.5 + 0.5 * xp.tanh(0.5 * v)",
    "order": "i, f, g, o",
    "new": "gate(f) * c + gate(i) * xp.tanh(g)",
    "h": "gate(o) * xp.tanh(new)",
}
BACK = """cell_backward = cp.ElementwiseKernel(
    "T c_before, T c, T dh, int32 n_units", "T dc, raw T gates",
    \"\"\"
    const int u = i % n_units;
    const ptrdiff_t at = (i - u) * 4 + u;
    T in = gates[at], forget = gates[at + n_units];
    T fresh = gates[at + 2 * n_units], out = gates[at + 3 * n_units];
    T bent = tanh(c), now = dc + dh * out * (1 - bent * bent);
    gates[at] = now * fresh * in * (1 - in);
    gates[at + n_units] = now * c_before * forget * (1 - forget);
    gates[at + 2 * n_units] = now * in * (1 - fresh * fresh);
    gates[at + 3 * n_units] = dh * bent * out * (1 - out);
    dc = now * forget;
    \"\"\", "cell_backward")
"""
GO_ON = """def go_on(read, n_free):
    columns = np.stack([read[1:-1], read[:-2]], axis=1)
    w = {w}
    x = list(read[-2:])
    for _ in range(n_free):
        x.append(w[0] * x[-1] + w[1] * x[-2])
    return {out}
"""
FIT = {"w": "np.linalg.lstsq(columns, read[2:], rcond=None)[0]", "out": "np.array(x[2:])"}
PEEP = """peep = cp.ElementwiseKernel(
    "T c_before, T z_i, T z_f, T z_g, T z_o, T p_i, T p_f, T p_o", "T h, T c",
    \"\"\"
    T in = 1 / (1 + exp(-(z_i + p_i * c_before)));
    T forget = 1 / (1 + exp(-(z_f + p_f * c_before)));
    c = forget * c_before + in * tanh(z_g);
    h = tanh(c) / (1 + exp(-(z_o + p_o * c)));
    \"\"\", "peep")
def peephole(z, c, p):
    n = c.shape[1]
    return peep(c, *(z[:, k * n : (k + 1) * n] for k in range(4)), *p)
"""


def cell(**changed):
    return CELL.format(**GOOD | changed)


def go_on(**changed):
    return GO_ON.format(**FIT | changed)


def back(old, new):
    assert old in BACK
    return BACK.replace(old, new)


def peep(old, new):
    assert old in PEEP
    return PEEP.replace(old, new)


WRONG = [
    (1, cell(gate="xp.exp(v) / (1 + xp.exp(v))")),  # NaN above 709
    (1, cell(order="i, f, o, g")),
    (1, cell(order="f, i, g, o")),
    (1, cell(h="gate(o) * xp.tanh(c)")),  # the old memory
    (1, cell(h="gate(o) * new")),
    (1, cell(new="gate(f) * c + gate(i) * gate(g)")),
    (1, cell(new="gate(f) * c + (1 - gate(f)) * xp.tanh(g)")),
    (1, cell(gate="xp.clip(0.25 * v + 0.5, 0, 1)")),
    (1, cell(h="new")),
    (1, "def cell(z, c):\n    return tuple(map(cp.asarray, cell_in_numpy(z.get(), c.get())))\n"),
    (
        1,
        cell().replace("def cell", "def one") + "def cell(z, c):\n    xp = cp.get_array_module(z)\n"
        "    rows = [one(z[k : k + 1], c[k : k + 1]) for k in range(len(z))]\n"
        "    return tuple(xp.concatenate(part) for part in zip(*rows))\n",
    ),
    (2, back("T bent = tanh(c), now = dc +", "T bent = tanh(c), now =")),
    (2, back("1 - bent * bent", "1 - bent")),
    (2, back("now * c_before * forget", "now * c * forget")),
    (2, back("1 - fresh * fresh", "1 - fresh")),
    (2, back("dc = now * forget", "dc = dc * forget")),
    (2, back("    dc = now * forget;\n", "")),
    (2, back("dh * bent * out", "now * bent * out")),
    (2, back("gates[at] = now * fresh * in", "gates[at] = now * in")),
    (2, back("const ptrdiff_t at", "const short at")),
    (2, back("at + 3 * n_units] = dh", "at + 2 * n_units] = dh")),
    (2, back("at + n_units] = now", "at + u] = now")),
    (3, go_on(w="[np.linalg.lstsq(columns[:, :1], read[2:] + read[:-2], rcond=None)[0][0], -1]")),
    (3, go_on(w="[2 * np.cos(2 * np.pi / 50), -1]")),
    (3, go_on(w="np.linalg.solve(columns[:2], read[2:4])")),
    (3, go_on(w="np.linalg.lstsq(columns[-20:], read[-20:], rcond=None)[0]")),
    (3, go_on(out="np.array(x[:-2])")),
    (3, go_on(out="np.array(x)")),
    (3, go_on(w="np.linalg.lstsq(columns[:, ::-1], read[2:], rcond=None)[0]")),
    (4, peep("p_o * c)", "p_o * c_before)")),
    (4, peep("z_f + p_f * c_before", "z_f")),
    (4, peep("p_i * c_before", "p_f * c_before")),
    (
        4,
        peep(
            "def peephole",
            "twice = cp.ElementwiseKernel('T x', 'T y', 'y = x', 'twice')\ndef peephole",
        ).replace("return peep(", "h, c = peep(")
        + "    return twice(h), c\n",
    ),  # fmt: skip
    (
        4,
        "def peephole(z, c, p):\n"
        "    return tuple(map(cp.asarray, peephole_in_numpy(z.get(), c.get(), p.get())))\n",
    ),
]


@pytest.mark.parametrize(("number", "answer"), WRONG)
def test_wrong_answers_are_refused(chapter, number, answer):
    said = chapter.judged(number, answer)
    assert "correct" not in said and said.strip()


RIGHT = [
    (1, cell(gate="1 / (1 + xp.exp(-xp.clip(v, -700, 700)))")),
    (2, back("T bent = tanh(c), now", "T bent = 1 - 2 / (1 + exp(2 * c)), now")),
    (3, go_on(w="np.linalg.pinv(columns) @ read[2:]")),
    (4, peep("tanh(c) /", "(1 - 2 / (1 + exp(2 * c))) /")),
]


@pytest.mark.parametrize(("number", "answer"), RIGHT)
def test_right_answers_of_another_form_are_taken(chapter, number, answer):
    assert "correct" in chapter.judged(number, answer)
