"""Random kernels, run on the stand-in and compared with NumPy, or broken on purpose.

``python -m tests.fuzz --cases 10000`` is the long run; ``make test`` has a short one.
"""

import os

os.environ["CUPY_STANDIN"] = "always"

import gpuless  # noqa: E402

gpuless.install()
