"""What NVRTC refuses because only a host could have it: a function or a variable without a word
such as ``__device__``."""

from __future__ import annotations

import re

from gpuless.engine.declarations import Declaration, is_constant
from gpuless.engine.errors import CompileError
from gpuless.engine.preprocess import Preprocessed

_ANNOTATED = ("__device__", "__global__")
_MEMORY = ("__device__", "__constant__", "__shared__", "__managed__")
FUNCTION = (
    "A function without execution space annotations (__host__/__device__/__global__) is considered "
    "a host function, and host functions are not allowed in JIT mode. Write __device__ before '{}'"
)
MARKED = (
    "A function explicitly marked as a __host__ function is not allowed in JIT mode. Write "
    "__device__ before '{}'"
)
VARIABLE = (
    "A namespace scope variable without memory space annotations "
    "(__device__/__constant__/__shared__/__managed__) is considered a host variable, and host "
    "variables are not allowed in JIT mode. Write __device__, __constant__ or const before '{}'"
)
RETURNS = "a __global__ function must have a void return type"
IN_CLASS = "A __global__ function or function template cannot be a member function: '{}'"
ELLIPSIS = "a __global__ function cannot have ellipsis"
QUALIFIERS = "illegal combination of memory qualifiers: '{}'"
BOUNDS = "__launch_bounds__ is only allowed on a __global__ function: '{}'"
LINKAGE = "this declaration may not have extern \"C\" linkage: '{}'"
COMPUTED = "dynamic initialization is not supported for a __device__ variable: '{}'"
MAIN = "function main cannot be marked __device__ or __global__"
OVERLOADED = 'more than one instance of overloaded function "{}" has "C" linkage'
AUTOMATIC = 'an automatic "{}" variable declaration is not allowed inside a device function body'
# Functions that g++ works out where CUDA has no code that would: what a variable begins with.
_FOLDED = re.compile(
    r"[={,(]\s*(?:[-+*/\w.\s()]*[-+*/\s()])?(?:::)?(?:a?(?:sin|cos|tan)h?|sqrt|cbrt|exp(?:2|m1)?|log(?:2|10|1p|b)?"
    r"|fabs|floor|ceil|round|rint|trunc|nearbyint|pow|hypot|atan2|fmod|fmax|fmin|fma|fdim|copysign|erfc?"
    r"|[lt]gamma)f?\s*\("
)
# CUDA's functions with C linkage: no kernel has such a name. Most have an `f` as well.
_WITH_FLOATS = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0 "
    "cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma "
    "fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 "
    "logb lrint lround modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow "
    "rcbrt remainder remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt scalbln scalbn sin "
    "sincos sincospi sinh sinpi sqrt tan tanh tgamma trunc y0 y1 yn"
).split()
OF_CUDA = {name + end for name in _WITH_FLOATS for end in ("", "f")} | set(
    "abs clock64 free labs llabs llmax llmin malloc max min printf ullmax ullmin umax umin".split()
)
_WORDS = set(
    "alignas alignof and asm auto bool break case catch char class const constexpr continue "
    "decltype default delete do double else enum explicit export extern false float for "
    "friend goto if inline int long mutable namespace new noexcept not nullptr operator or private "
    "protected public register return short signed sizeof static struct switch template this "
    "throw true try typedef typename union unsigned using virtual void volatile while xor".split()
)
_AUTOMATIC = re.compile(
    r"[;{}]\s*((?:(?:const|volatile|unsigned|signed)\s+)*(?:\w+[\s*]+)?"
    r"(__device__|__constant__|__managed__)\b[^;(){}]*[;={])"
)
MEMBER = (
    "A class static data member with non-const type is considered a host variable, and host "
    "variables are not allowed in JIT mode: '{}'"
)


def check(source: Preprocessed, found: list[Declaration], name: str) -> None:
    """CompileError for what a kernel cannot use, as NVRTC words it; ``name`` is the source's."""
    errors, annotated = [], set()
    for one in found:
        wrong = _wrong(one, annotated) or _misplaced(one, source)
        if wrong:
            errors.append(f"{source.where(one.start)}: error: {wrong.format(one.name)}")
        if one.kind == "function" and one.body:
            for match in _AUTOMATIC.finditer(source.bare, *one.body):
                if not re.search(r"\b(?:static|operator)\b", match[1]):
                    where = source.where(match.start(2))
                    errors.append(f"{where}: error: {AUTOMATIC.format(match[2])}")
    if errors:
        plural = "error" if len(errors) == 1 else "errors"
        last = f'{len(errors)} {plural} detected in the compilation of "{name}.cu".'
        raise CompileError("\n\n".join([*errors, last]) + "\n")


def misnamed(name: str) -> str | None:
    """The message for a kernel that CuPy writes, if there is none of this name."""
    if not name.isidentifier() or name in _WORDS:
        return f"error: expected an identifier in 'void {name}'"
    return f"error: {OVERLOADED.format(name)}" if name in OF_CUDA else None


def marked(source: Preprocessed, found: list[Declaration]) -> Preprocessed:
    """``source`` with another word of that length for ``__constant__`` before variables that are
    not const besides: they are kept where no kernel can write (shim/constants.h)."""
    text, headers = source.text, source.headers
    for one in found:
        if one.kind != "function" and one.has("__constant__") and not is_constant(one):
            at = source.bare.index("__constant__", one.start)
            text = f"{text[:at]}__constvar__{text[at + len('__constant__') :]}"
            headers = [*headers, "constants.h"]
    return Preprocessed(text, headers)


def _wrong(one: Declaration, annotated: set[str]) -> str | None:
    """The message for a declaration, if any; names of functions for a device are remembered."""
    if one.kind == "function":
        if one.has(*_ANNOTATED):
            annotated.add(one.name)
            if one.name == "main" and not (one.in_class or one.scope):
                return MAIN
            if one.has("__global__") and one.c_linkage and one.name in OF_CUDA:
                return OVERLOADED
            if one.has("__global__") and one.in_class and not one.has("friend"):
                return IN_CLASS
            if one.has("__global__") and not one.has("void", "auto"):
                return RETURNS
        elif one.has("__host__"):
            return MARKED
        elif one.name not in annotated and not (one.in_class and _made_by_itself(one.head)):
            return FUNCTION
    elif not (one.has(*_MEMORY) or one.template or is_constant(one)):
        return MEMBER if one.in_class else VARIABLE
    return None


def _misplaced(one: Declaration, source: Preprocessed) -> str | None:
    """The message for words that do not go together, or for a value that would be computed."""
    if one.kind != "function":
        text = source.bare[one.start : one.end]
        return COMPUTED if not one.in_class and _FOLDED.search(text) else None
    kernel = one.has("__global__")
    if one.c_linkage and one.template:
        return LINKAGE
    if kernel and one.has("__device__", "__host__"):
        return QUALIFIERS
    if kernel and re.search(r"\.\.\.\s*\)$", source.bare[one.arguments[0] : one.arguments[1] + 1]):
        return ELLIPSIS
    before = source.bare[one.start : one.arguments[0]]
    return BOUNDS if not kernel and "__launch_bounds__" in before else None


def _made_by_itself(head: str) -> bool:
    return head.rstrip().endswith(("default", "delete"))
