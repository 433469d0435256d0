"""The error of a kernel that does not compile."""

from __future__ import annotations


class CompileException(Exception):
    """Raised for a kernel source that is rejected; ``str()`` is the compiler's own text."""

    def __init__(self, msg: str, source: str, name: str, options: tuple, backend: str = "nvrtc"):
        super().__init__(msg)
        self._msg = msg
        self.source = source
        self.name = name
        self.options = options
        self.backend = backend

    def __reduce__(self):
        return type(self), (self._msg, self.source, self.name, self.options, self.backend)

    def __str__(self) -> str:
        return self.get_message()

    def get_message(self) -> str:
        return self._msg

    def dump(self, f) -> None:
        """Write the source with line numbers to the file object ``f``."""
        lines = self.source.split("\n")
        width = len(str(len(lines)))
        f.write(f"{self.backend.upper()} compilation error: {self._msg}\n-----\n")
        f.write(f"Name: {self.name}\nOptions: {' '.join(self.options)}\nCUDA source:\n")
        for number, line in enumerate(lines, 1):
            f.write(f"{number:0{width}d} {line.rstrip()}\n")
        f.write("-----\n")
        f.flush()
