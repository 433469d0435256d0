"""For the Python that a test starts: the stand-in, as in the test itself."""

from helpers import standin

standin.install()
