"""These tests are of the stand-in itself, so it answers to ``cupy`` even where there is a GPU."""

import os

os.environ["CUPY_STANDIN"] = "always"

import helpers.standin  # noqa: E402

helpers.standin.install()
