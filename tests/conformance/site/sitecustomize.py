"""For the Python that a test starts: the stand-in, as in the test itself."""

import gpuless

gpuless.install()
