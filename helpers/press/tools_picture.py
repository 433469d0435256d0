"""The picture that ends the page "Which tool, and when": four questions, and where they lead."""

from html import escape

from helpers.programs import tools

WIDTH, TALL, GAP = 602, 92, 34
LEFT, RIGHT, BOX = 8, 332, 262  # where the questions and the answers stand, and how wide
# A question, in lines; then the tools that answer it, with the job whose measurement says how well.
STEPS = [
    (
        ["Is there a function", "for it in a library?"],
        {"torch_eager": "dense", "cupy_arrays": "dense"},
    ),
    (
        ["Is it a chain of operations,", "element by element?"],
        {"cupy_kernels": "add_twice", "torch_compile": "add_twice", "jax_jit": "add_twice"},
    ),
    (
        ["Can you say it with tiles:", "rows, or blocks of a matrix?"],
        {"triton_kernels": "softmax"},
    ),
    (
        ["Must threads talk, or", "a place in memory be", "yours to choose?"],
        {"cupy_raw": "softmax", "numba_kernels": "softmax"},
    ),
]
SHORT = {"cupy_kernels": "ElementwiseKernel"}  # where the name is too long for a box


def name(tool):
    """Return what the picture calls `tool`."""
    return SHORT.get(tool, tools.TOOLS[tool])


def answers(stored, step):
    """Return the lines of an answer: each tool with its share, as the evidence `stored` has it."""
    shares = ((tool, stored["tools"][tool][job].get("share")) for tool, job in step.items())
    return [name(tool) + ("" if share is None else f" · {share:.2f}") for tool, share in shares]


def alternative(stored):
    """Return the picture in words."""
    told = (
        f"{' '.join(question)} Yes: {', '.join(answers(stored, step))}." for question, step in STEPS
    )
    return "Four questions, asked in this order until one is answered with yes. " + " No: ".join(
        told
    )


def draw(stored):
    """Return the picture as SVG in the colours of the page that it stands in.

    `stored` is the evidence "tools": an answer shows the share of the ceiling that was measured.
    """
    parts, text, line = [], "var(--pst-color-text-base)", "var(--pst-color-text-muted)"

    def box(x, y, stroke):
        parts.append(
            f'<rect x="{x}" y="{y}" width="{BOX}" height="{TALL}" rx="10"'
            f' fill="var(--pst-color-surface)" stroke="{stroke}" stroke-width="2"/>'
        )

    def words(x, y, lines, bold=False):
        weight = ' font-weight="700"' if bold else ""
        for k, words in enumerate(lines):
            at = y + TALL / 2 + 6 + 23 * (k - (len(lines) - 1) / 2)
            parts.append(
                f'<text x="{x + BOX / 2}" y="{at:.1f}" text-anchor="middle" font-size="17"{weight}'
                f' fill="{text}">{escape(words)}</text>'
            )

    def arrow(x, y, dx, dy, word):
        tip, wide = (x + dx, y + dy), (5 * (dy > 0), 5 * (dx > 0))
        back = (tip[0] - 9 * (dx > 0), tip[1] - 9 * (dy > 0))
        parts.append(
            f'<path d="M {x} {y} L {back[0]} {back[1]}" stroke="{line}" stroke-width="2"/>'
        )
        corners = (
            f"{back[0] - wide[0]} {back[1] - wide[1]} L {back[0] + wide[0]} {back[1] + wide[1]}"
        )
        parts.append(f'<path d="M {tip[0]} {tip[1]} L {corners} Z" fill="{line}"/>')
        at = (x + dx / 2, y - 8) if dx else (x + 22, y + dy / 2 + 5)
        parts.append(
            f'<text x="{at[0]}" y="{at[1]:.1f}" text-anchor="middle" font-size="16"'
            f' fill="{text}">{word}</text>'
        )

    for k, (question, step) in enumerate(STEPS):
        y = 8 + k * (TALL + GAP)
        box(LEFT, y, line)
        words(LEFT, y, question)
        box(RIGHT, y, "var(--pst-color-primary)")
        words(RIGHT, y, answers(stored, step), bold=True)
        arrow(LEFT + BOX, y + TALL / 2, RIGHT - LEFT - BOX, 0, "yes")
        if k < len(STEPS) - 1:
            arrow(LEFT + BOX / 2, y + TALL, 0, GAP, "no")
    height = len(STEPS) * (TALL + GAP) - GAP + 16
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
        ' style="max-width: 42rem; width: 100%" font-family="system-ui, sans-serif">'
    )
    title = f"<title>{escape(alternative(stored))}</title>"
    return "\n".join([head, title, *parts, "</svg>"])


def picture(stored):
    """Return the picture as a piece of Markdown."""
    return f"<div>\n{draw(stored)}\n</div>"
