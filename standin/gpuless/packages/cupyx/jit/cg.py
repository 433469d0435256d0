"""Cooperative groups in a kernel of ``cupyx.jit``: the block, the grid, asynchronous copies."""

# ruff: noqa: I001  (imported names in rows)

from __future__ import annotations

from dataclasses import dataclass

from cupy._core._syntax import Constant

from cupyx.jit._builtins import Builtin
from cupyx.jit._values import (
    BOOL, DIM3, UINT32, VOID, Array, Pointer, Scalar, Type, Value, cast, on_device, scalar,
)  # fmt: skip

__all__ = ["memcpy_async", "sync", "this_grid", "this_thread_block", "wait", "wait_prior"]
_UINT64 = scalar("Q")


@dataclass(frozen=True)
class Group(Type):
    name: str
    rank: Scalar

    def __str__(self) -> str:
        return f"cooperative_groups::{self.name}"

    def method(self, name: str, group: Value) -> Builtin:
        """A method of the group; AttributeError where it has none of that name."""
        result = _METHODS[self.name].get(name)
        if result is None:
            raise AttributeError(f"Unknown attribute: {name}")

        def call(function):
            if self.name == "grid_group" and name == "sync":
                function.program.cooperative = True
            return Value(f"{group.code}.{name}()", result)

        return Builtin(call, constants=True)


_METHODS = {
    "thread_block": {
        "sync": VOID, "thread_rank": UINT32, "size": UINT32, "num_threads": UINT32,
        "group_index": DIM3, "thread_index": DIM3, "group_dim": DIM3, "dim_threads": DIM3,
    },
    "grid_group": {
        "sync": VOID, "is_valid": BOOL, "thread_rank": _UINT64, "block_rank": _UINT64,
        "size": _UINT64, "num_threads": _UINT64, "num_blocks": _UINT64, "group_dim": DIM3,
        "dim_blocks": DIM3, "block_index": DIM3,
    },
}  # fmt: skip


def _this(name: str, kind: Group) -> Builtin:
    def this(function):
        function.program.include("cooperative_groups.h")
        return Value(f"cooperative_groups::{name}()", kind)

    this.__doc__ = f"``{kind}``, with the methods {', '.join(_METHODS[kind.name])}."
    return Builtin(this, constants=True)


this_thread_block = _this("this_thread_block", Group("thread_block", UINT32))
this_grid = _this("this_grid", Group("grid_group", _UINT64))


def _on_group(function, name: str, group, *more: str) -> Value:
    if not isinstance(getattr(group, "type", None), Group):
        raise ValueError("group must be a valid cooperative group")
    return Value(f"cooperative_groups::{name}({', '.join([group.code, *more])})", VOID)


@Builtin
def sync(function, group):
    """Wait for the threads of the group. Of a grid, only its own ``sync()`` makes the launch a
    cooperative one."""
    return _on_group(function, "sync", group)


@Builtin
def memcpy_async(function, group, dst, dst_idx, src, src_idx, size, *, aligned_size=None):
    """The group begins to copy ``size`` bytes from ``src[src_idx]`` on to ``dst[dst_idx]`` on,
    addresses that are multiples of ``aligned_size`` bytes."""
    function.program.include("cooperative_groups/memcpy_async.h")
    ends = [on_device(one, function.mode) for one in (dst, src)]
    if not all(isinstance(one.type, Array | Pointer) for one in ends):
        raise TypeError("dst/src must be of array type.")
    to, source = function.index(ends[0], dst_idx).code, function.index(ends[1], src_idx).code
    count = on_device(cast(size, UINT32), function.mode).code
    if aligned_size is not None:
        if not isinstance(aligned_size, Constant):
            raise ValueError("aligned_size must be a compile-time constant")
        where = f"{function.current}, &{to}, &{source}"
        count = f"jit::aligned<{aligned_size.obj}>({where}, {count})"
    return _on_group(function, "memcpy_async", group, f"&{to}", f"&{source}", count)


@Builtin
def wait(function, group):
    """Wait for all copies, and for the threads of the group."""
    function.program.include("cooperative_groups/memcpy_async.h")
    return _on_group(function, "wait", group)


@Builtin
def wait_prior(function, group, step):
    """Wait for all copies but the last ``step``, and for the threads of the group."""
    function.program.include("cooperative_groups/memcpy_async.h")
    if not isinstance(step, Constant):
        raise ValueError("step must be a compile-time constant")
    return _on_group(function, f"wait_prior<{step.obj}>", group)
