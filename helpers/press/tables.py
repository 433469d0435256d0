"""Tables in Markdown, for the pages that are made from data."""


def table(headers, rows):
    """Return a Markdown table; None becomes a dash."""
    lines = [headers, ["---"] * len(headers), *rows]
    cells = [["–" if x is None else str(x).replace("|", "\\|") for x in line] for line in lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)
