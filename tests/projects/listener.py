"""The stand-in's listener in such a run: a file for each source that was compiled, named by its
hash, in the folder ``$PROJECT_KERNELS``.
"""

import hashlib
import os
from pathlib import Path


def check(source, options, name, expressions):
    """Keep the source: what counts is how many there are."""
    digest = hashlib.sha256(source.encode()).hexdigest()
    Path(os.environ["PROJECT_KERNELS"], f"{digest}.cu").write_text(source, encoding="utf-8")
