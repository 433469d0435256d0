"""A Python lexer that reads the CUDA C in a notebook's strings as CUDA C.

Three kinds of string are CUDA C: one that contains `__global__` or `__device__`; one with a line
that ends in a semicolon, as a kernel's body or a part of one does; and inside a call of
ElementwiseKernel or ReductionKernel, one with any sign that a list of parameters has not.
"""

import re

from ipython_pygments_lexers import IPython3Lexer
from pygments.lexers.c_like import CudaLexer
from pygments.token import Error, Name, Punctuation, String, Text

QUOTES = {'"', "'", '"""', "'''"}
FACTORIES = {"ElementwiseKernel", "ReductionKernel"}


def is_cuda(text, in_call):
    """Say whether `text`, the inside of a string, is CUDA C."""
    sign = r"\b__(global|device)__\b|\w.*;[ \t]*(//.*)?$" + (r"|[^\w\s,]" if in_call else "")
    return re.search(sign, text, re.M) is not None


class KernelLexer(IPython3Lexer):
    """Python as in a notebook's cells, with the CUDA C in its strings."""

    name = "Python with CUDA C"
    aliases = []

    def get_tokens_unprocessed(self, text):
        """Yield (index, token, value) as Pygments' lexers do."""
        cuda = CudaLexer()
        inside = []  # the tokens of the string that is being read, its first quote included
        factory, depth = False, 0  # was the last name a factory's? brackets open since its call
        for index, token, value in super().get_tokens_unprocessed(text):
            if inside:
                inside.append((index, token, value))
                quote = inside[0][2]
                if value != quote or token not in String:
                    continue
                start = inside[0][0] + len(quote)
                body = text[start:index]
                escaped = any(kind is String.Escape for _, kind, _ in inside)
                if not escaped and is_cuda(body, depth > 0):
                    yield inside[0]
                    for offset, kind, part in cuda.get_tokens_unprocessed(body):
                        # A part of a kernel may end in the middle of anything.
                        yield start + offset, Text if kind is Error else kind, part
                    yield inside[-1]
                else:
                    yield from inside
                inside = []
                continue
            if token in String and token is not String.Doc and value in QUOTES:
                inside = [(index, token, value)]
                continue
            yield index, token, value
            if token in Name:
                factory = value in FACTORIES
            elif token is Punctuation:
                depth += (depth > 0 or factory) * value.count("(") - (depth > 0) * value.count(")")
                factory = False
        yield from inside
