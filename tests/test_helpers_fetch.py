"""Colab's archive is small, the helpers install from it, and MNIST comes when it is asked for."""

import contextlib
import functools
import hashlib
import http.server
import os
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from helpers import data, fetch
from helpers.press import publish

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that notes what it is asked for."""

    def do_GET(self):
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serve(folder):
    """Serve `folder` from this machine; yield the address and the list of what was asked for."""
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", server.asked
        server.shutdown()


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The last commit as the address in the setup cell gives it."""
    path = tmp_path_factory.mktemp("archive") / f"{COMMIT}.zip"
    git = ["git", "archive", "--format=zip", f"--prefix=book-{COMMIT}/", f"--output={path}", "HEAD"]
    subprocess.run(git, cwd=ROOT, check=True)
    return path


def test_the_archive_is_small_and_lacks_only_mnist_and_what_readers_do_not_run(archive):
    assert archive.stat().st_size < 4_500_000  # a reader on Colab waits for it
    with zipfile.ZipFile(archive) as packed:
        names = {n.partition("/")[2] for n in packed.namelist() if not n.endswith("/")}
    git = ["git", "ls-tree", "-r", "--name-only", "HEAD"]
    kept = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kept = set(kept.splitlines())
    elsewhere = (".github/", ".devcontainer/", "binder/", "tests/")  # read from the repository
    lacking = {"helpers/data/mnist.npz", *(n for n in kept if n.startswith(elsewhere))}
    assert names == kept - lacking and lacking <= kept


# What a reader's kernel does after the setup cell.
READER = (
    "import helpers; m = helpers.mnist(); print(helpers.__file__, m.x_train.shape, m.y_test[0])"
)


@pytest.mark.long
def test_helpers_installed_from_the_archive_fetch_mnist_once(archive, tmp_path):
    book = tmp_path / "served" / "someone" / "a-book"
    (book / "archive").mkdir(parents=True)
    (book / "archive" / archive.name).write_bytes(archive.read_bytes())
    raw = book / "raw" / COMMIT / "helpers" / "data"
    raw.mkdir(parents=True)
    (raw / "mnist.npz").write_bytes(data.MNIST_FILE.read_bytes())
    installed, cache = tmp_path / "installed", tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": str(installed), "GPULESS_CACHE": str(cache)}
    environment = {n: v for n, v in environment.items() if not n.lower().endswith("_proxy")}

    def read():
        return subprocess.run(
            [sys.executable, "-c", READER],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )

    with serve(tmp_path / "served") as (address, asked):
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-cache-dir"]
        pip += ["--no-build-isolation", "--target", installed]
        url = publish.archive("https://host/someone/a-book", COMMIT)
        subprocess.run([*pip, url.replace("https://host", address)], env=environment, check=True)
        assert not (installed / "helpers" / "data" / "mnist.npz").exists()
        assert (installed / "helpers" / "data" / "digits.npz").exists()
        first = read()
        assert first.returncode == 0, first.stderr
        assert str(installed) in first.stdout and "(60000, 28, 28) 7" in first.stdout
        assert asked[1:] == [f"/someone/a-book/raw/{COMMIT}/helpers/data/mnist.npz"]
        assert "mnist-" in first.stderr  # a progress bar
        again = read()
        assert again.returncode == 0 and len(asked) == 2
    (kept,) = cache.glob("mnist*")
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == data.MNIST_SHA256
    kept.unlink()
    alone = read()  # the server is gone
    assert alone.returncode == 1
    assert "mnist.npz could not be fetched: " in alone.stderr
    assert f"has a network, or bring the file and save it as {kept}" in alone.stderr
    kept.write_bytes(data.MNIST_FILE.read_bytes())  # as the message says
    assert read().returncode == 0


@pytest.mark.parametrize(
    "note, found",
    [
        (
            f'{{"url": "https://github.com/a/b/archive/{COMMIT}.zip", "archive_info": {{}}}}',
            f"https://github.com/a/b/raw/{COMMIT}/x/y.npz",
        ),
        ('{"url": "file:///home/someone/book", "dir_info": {"editable": true}}', None),
        ('{"url": "https://github.com/a/b/archive/main.zip"}', None),
        (None, None),
    ],
)
def test_the_address_follows_from_what_pip_installed(monkeypatch, note, found):
    class Distribution:
        def read_text(self, name):
            return note

    monkeypatch.setattr(fetch.importlib.metadata, "distribution", lambda name: Distribution())
    assert fetch.address("x/y.npz") == found


def test_without_an_address_the_message_says_where_the_file_is_and_goes(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "MNIST_FILE", tmp_path / "none.npz")
    monkeypatch.setattr(fetch, "address", lambda file: None)
    monkeypatch.setenv("GPULESS_CACHE", str(tmp_path))
    kept = tmp_path / f"mnist-{data.MNIST_SHA256[:8]}.npz"
    with pytest.raises(FileNotFoundError, match="helpers/data/mnist.npz out of") as caught:
        fetch.mnist()
    assert str(caught.value).endswith(str(kept))


RIGHT = hashlib.sha256(b"right").hexdigest()


def test_what_is_not_the_file_is_removed(tmp_path):
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "file").write_bytes(b"wrong")
    with serve(tmp_path / "served") as (address, _):
        with pytest.raises(ValueError, match="was removed") as caught:
            fetch.download(f"{address}/file", tmp_path / "kept.npz", RIGHT)
        assert RIGHT in str(caught.value) and f"{address}/file" in str(caught.value)
        with pytest.raises(ConnectionError, match="absent could not be fetched.*404"):
            fetch.download(f"{address}/absent", tmp_path / "kept.npz", RIGHT)
        assert [path.name for path in tmp_path.iterdir()] == ["served"]
        (tmp_path / "served" / "file").write_bytes(b"right")
        fetch.download(f"{address}/file", tmp_path / "kept.npz", RIGHT)
    assert (tmp_path / "kept.npz").read_bytes() == b"right"


def test_a_damaged_copy_in_the_cache_is_fetched_anew(monkeypatch, tmp_path):
    kept = tmp_path / f"mnist-{data.MNIST_SHA256[:8]}.npz"
    kept.write_bytes(b"half of it")
    whole = data.MNIST_FILE.read_bytes()
    monkeypatch.setattr(data, "MNIST_FILE", tmp_path / "none.npz")
    monkeypatch.setattr(fetch, "address", lambda file: file)
    monkeypatch.setattr(fetch, "download", lambda url, path, sha256: path.write_bytes(whole))
    monkeypatch.setenv("GPULESS_CACHE", str(tmp_path))
    assert fetch.mnist().y_test[0] == 7
    assert kept.read_bytes() == whole


def test_an_interrupted_transfer_leaves_nothing(tmp_path, monkeypatch):
    class Answer(contextlib.nullcontext):
        headers = {"Content-Length": "5"}
        parts = [b"ri", KeyboardInterrupt]

        def __enter__(self):
            return self

        def read(self, size):
            part = self.parts.pop(0)
            if isinstance(part, bytes):
                return part
            raise part

    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: Answer())
    with pytest.raises(KeyboardInterrupt):
        fetch.download("http://host/file", tmp_path / "kept.npz", RIGHT)
    assert list(tmp_path.iterdir()) == []


def test_importing_helpers_imports_neither_pyplot_nor_skimage():
    code = "import sys, helpers; print(sorted({'matplotlib.pyplot', 'skimage'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.splitlines()[-1] == "[]", run.stderr
