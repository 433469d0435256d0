"""All headline results that are stored in the notebooks.

python -m helpers.results [notebooks…]      print them, one JSON object a line
"""

import json
import sys

from helpers import notebook
from helpers.report import MIME


def stored(notebooks=()):
    """Return all headlines stored in the `notebooks` (paths; default: all chapters).

    Each is a dictionary of name, value, unit, against, device and date (from the notebook's
    receipt, None without one) and notebook, the file's name without its ending. ValueError when
    one name is stored twice.
    """
    found = {}
    for path in notebook.paths(notebooks):
        book = notebook.read(path)
        recorded = book.metadata.get("receipt", {})
        for cell in notebook.code_cells(book):
            for output in cell.outputs:
                entry = output.get("data", {}).get(MIME)
                if entry is None:
                    continue
                if entry["name"] in found:
                    raise ValueError(f"{path.name}: the headline {entry['name']} is stored twice")
                found[entry["name"]] = {
                    **{key: entry[key] for key in ("name", "value", "unit", "against")},
                    "device": recorded.get("gpu"),
                    "date": recorded.get("date"),
                    "notebook": path.stem,
                }
    return list(found.values())


if __name__ == "__main__":
    for entry in stored(sys.argv[1:]):
        print(json.dumps(entry, ensure_ascii=False))
