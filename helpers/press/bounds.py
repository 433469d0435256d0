"""The bounds of a chapter that is cut into sittings.

python -m helpers.press.bounds [notebooks…]     say what passes a bound; status 1 if anything does

They are for an author's eye: a chapter that passes them reads too long without a rest. Those not
yet cut into sittings stand on the list `not_in_sittings` in book/chapters.toml.
"""

import ast
import sys

from helpers.press import labels, notebook, sittings

SITTING_MINUTES = 35
FIRST_ACT_MINUTES, FIRST_EXERCISE_MINUTES = 5, 12
STRETCH_WORDS, STRETCH_MINUTES = 900, 8
CELLS_IN_A_ROW, CELL_LINES, KERNEL_LINES, LINE_WIDTH = 3, 25, 50, 80


def problems(book, number):
    """Return what passes a bound in `book`, chapter `number` ("36"), in sentences."""
    if not notebook.is_in_sittings(book):
        return ["is not cut into sittings yet"]
    found = list(_time_problems(book, number))
    found += _rhythm_problems(book)
    found += _cell_problems(book)
    found += _exercise_problems(book)
    if cell := sittings.with_minutes(book):
        command = "`python -m helpers.press.sittings --write`"
        found.append(f"cell {cell}: says other minutes than are counted: {command}")
    return found


def _time_problems(book, number):
    counted = sittings.minutes(book)
    for sitting, value in counted.items():
        if sitting and value > SITTING_MINUTES:
            yield f"sitting {sitting} takes {value} minutes, more than {SITTING_MINUTES}"
    limit = labels.plan()["chapters"].get(number, {}).get("minutes")
    if limit is None:
        yield f"book/chapters.toml does not say how many minutes chapter {number} may take"
    elif counted[None] > limit:
        yield f"the chapter takes {counted[None]} minutes, more than its {limit}"


def _rhythm_problems(book):
    """Yield where a reader waits too long for something to do."""
    passed, read, spent = 0.0, 0, 0.0  # since the start; words and minutes since the last act
    first_act, first_exercise = None, None
    told = False
    for piece in sittings.pieces(book):
        if piece.sitting is None:
            break
        if piece.what in ("predict", "exercise"):
            first_act = passed if first_act is None else first_act
            if piece.what == "exercise" and first_exercise is None:
                first_exercise = passed
            read, spent, told = 0, 0.0, False
        passed += piece.minutes
        if piece.what not in ("predict", "exercise"):
            read, spent = read + piece.words, spent + piece.minutes
        if not told and (read > STRETCH_WORDS or spent > STRETCH_MINUTES):
            yield f"cell {piece.cell}: {read} words, {spent:.1f} minutes with nothing to do"
            told = True
    for what, when, limit in (
        ("exercise or Predict", first_act, FIRST_ACT_MINUTES),
        ("exercise", first_exercise, FIRST_EXERCISE_MINUTES),
    ):
        if when is None or when > limit:
            came = "does not come" if when is None else f"comes after {when:.1f} minutes"
            yield f"the first {what} {came}; {limit} is the limit"


def _cell_problems(book):
    """Yield cells that are too long, too wide, too many in a row, or folded but needed."""
    row, folded, visible, hidden_names = 0, 0, 0, {}
    for cell in book.cells:
        if cell.cell_type == "markdown":
            row = 0
            continue
        tags = notebook.tags(cell)
        if notebook.is_setup(cell) or "remove-cell" in tags:
            continue
        python, cuda = sittings.count_lines(cell.source)
        wide = [x for x in cell.source.splitlines() if len(x) > LINE_WIDTH]
        if wide:
            yield f"cell {cell.id}: a line is wider than {LINE_WIDTH}: {wide[0].strip()[:40]!r}"
        if tags & {"hide-input", "solution"}:
            if not cell.source.startswith("# @title "):
                yield f"cell {cell.id}: is folded and has no title (`# @title …`)"
            if "solution" not in tags:
                folded += python + cuda
                hidden_names |= dict.fromkeys(_defined(cell.source), cell.id)
            continue
        row += 1
        if row == CELLS_IN_A_ROW + 1:
            yield f"cell {cell.id}: more than {CELLS_IN_A_ROW} code cells in a row"
        visible += python + cuda
        limit = KERNEL_LINES if cuda > CELL_LINES / 2 else CELL_LINES
        if python + cuda > limit:
            yield f"cell {cell.id}: {python + cuda} lines; {limit} is the limit"
        for name in sorted(_called(cell.source) & hidden_names.keys()):
            if not name.startswith("judge"):
                yield f"cell {cell.id}: calls {name}, which folded {hidden_names[name]} defines"
    if folded > visible / 2:
        yield f"{folded} lines are folded, more than half of the {visible} that are shown"


def _defined(source):
    """Return the names that a cell binds at its top: functions, classes, variables, imports."""
    names = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        for target in filter(None, targets):
            names |= {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
    return names


def _called(source):
    """Return the names that a cell calls, less those of its functions' arguments."""
    tree = list(ast.walk(ast.parse(source)))
    calls = {n.func.id for n in tree if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return calls - {n.arg for n in tree if isinstance(n, ast.arg)}


def _exercise_problems(book):
    """Yield exercises that state no minutes, or fewer than their solutions ask for."""
    heading, before = None, ""
    for cell in book.cells:
        if cell.cell_type == "markdown":
            for line in cell.source.splitlines():
                heading = sittings.EXERCISE.match(line) or heading
            continue
        if "solution" in notebook.tags(cell) and heading is not None:
            least = sittings.least_minutes(before, cell.source)
            if heading[3] is None:
                yield f"{heading[1]} {heading[2]} states no minutes: at least ({least} min)"
            elif int(heading[3]) < least:
                yield f"{heading[1]} {heading[2]} states {heading[3]} min, its lines take {least}"
            heading = None
        elif not notebook.tags(cell) & {"remove-cell", "hide-input"}:
            before = cell.source


def main(arguments):
    """Run the command line; return the exit status."""
    found = [
        f"{path.name}: {problem}"
        for path in notebook.paths(arguments)
        if path.stem[:2] not in labels.plan()["not_in_sittings"]
        for problem in problems(notebook.read(path), path.stem[:2])
    ]
    print("\n".join(found) or "nothing passes a bound")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
