"""Data that is too large for the archive which Colab fetches before every chapter.

It is fetched on first use, from the repository and the commit that the helpers were installed from,
and kept in the cache.
"""

import hashlib
import importlib.metadata
import json
import os
import re

from gpuless.engine.compiler import cache_folder
from helpers import data

DISTRIBUTION = "from-kernel-to-network"  # the name in pyproject.toml
CHUNK = 1 << 16  # bytes
SECONDS = 30  # without an answer


def mnist(path=None):
    """Return MNIST as NumPy arrays, a data.Mnist.

    path: a file to read. By default it is the one in the book's repository or, where the helpers
    were installed without it, a copy that is fetched once and kept in the cache: 11.5 MB.
    Y. LeCun, C. Cortes, C. J. C. Burges, "The MNIST database of handwritten digits", CC BY-SA 3.0.

    FileNotFoundError without the file, or when it is not known where to fetch it; ConnectionError
    when that fails; ValueError when the SHA-256 is not the right one.
    """
    return data.mnist(_mnist_file() if path is None else path)


def _mnist_file():
    """The file in the repository, or else one in the cache, fetched where it is not there yet."""
    if data.MNIST_FILE.exists():
        return data.MNIST_FILE
    path = cache_folder() / f"mnist-{data.MNIST_SHA256[:8]}.npz"
    if not path.exists() or _sha256(path) != data.MNIST_SHA256:
        download(address("helpers/data/mnist.npz"), path, data.MNIST_SHA256)
    return path


def address(file):
    """Return where a `file` of the repository is, at the commit that the helpers come from.

    pip notes which archive it installed, `press.publish` wrote its address. None where the helpers
    came otherwise.
    """
    try:
        text = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"
    except importlib.metadata.PackageNotFoundError:
        return None
    found = re.fullmatch(r"(.+)/archive/([0-9a-f]{40})\.zip", json.loads(text).get("url", ""))
    return found and f"{found[1]}/raw/{found[2]}/{file}"


def download(url, path, sha256):
    """Fetch `url` to `path` under a progress bar; nothing is there unless its SHA-256 is right."""
    import http.client
    import urllib.request

    import tqdm

    if url is None:
        raise FileNotFoundError(
            f"{path.name} did not come with these helpers, and it is not known from which address "
            "they were installed. Take helpers/data/mnist.npz out of the book's repository and "
            f"save it as {path}"
        )
    scratch = path.with_suffix(f".{os.getpid()}")
    try:
        with urllib.request.urlopen(url, timeout=SECONDS) as answer, scratch.open("wb") as file:
            size = int(answer.headers.get("Content-Length", 0)) or None
            with tqdm.tqdm(
                desc=path.name, total=size, unit="B", unit_scale=True, leave=False
            ) as bar:
                while part := answer.read(CHUNK):
                    file.write(part)
                    bar.update(len(part))
        if (found := _sha256(scratch)) != sha256:
            raise ValueError(
                f"what came from {url} is not the file that was asked for: its SHA-256 is {found}, "
                f"and should be {sha256}. It was removed. Try again; if it stays so, fetch the "
                "book again."
            )
        scratch.replace(path)
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(
            f"{url} could not be fetched: {error}. It is needed once: call again when this machine "
            f"has a network, or bring the file and save it as {path}"
        ) from error
    finally:
        scratch.unlink(missing_ok=True)


def _sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
