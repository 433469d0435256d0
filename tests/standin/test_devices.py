"""Several logical devices: their number, whose memory it is, peer access, copies, streams."""

import gc
import re
import threading

import cupy as cp
import numpy as np
import pytest
from cupy.cuda import runtime
from cupy.cuda.runtime import CUDARuntimeError

import helpers
from helpers.device import logical_devices

SCALE = r"""
extern "C" __global__ void scale(float *x, const float *factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor[0];
}
"""


@pytest.fixture
def scale():
    return cp.RawKernel(SCALE, "scale")


def on(device, values, dtype=np.float32):
    with cp.cuda.Device(device):
        return cp.asarray(np.asarray(values, dtype))


# How many


def test_one_call_gives_more_devices(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "1")
    assert helpers.logical_devices(3) == 3
    assert runtime.getDeviceCount() == 3
    x = on(2, [1, 2, 3])
    assert x.device.id == 2
    with pytest.raises(RuntimeError, match="Device 2 would vanish, and 1 of .*12 bytes"):
        helpers.logical_devices(2)
    assert runtime.getDeviceCount() == 3 and x.get().tolist() == [1, 2, 3]
    del x
    assert helpers.logical_devices(2) == 2
    with pytest.raises(CUDARuntimeError, match="invalid device ordinal"):
        cp.cuda.Device(2).use()


def test_an_array_in_a_cycle_does_not_hold_a_device(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")
    cycle = [on(1, [1.0])]
    cycle.append(cycle)
    gc.disable()
    try:
        del cycle
        assert logical_devices(1) == 1
    finally:
        gc.enable()


def test_a_device_has_a_number_and_nothing_else():
    device = cp.cuda.Device(0)
    with pytest.raises(TypeError, match="unhashable"):
        hash(device)
    with pytest.raises(AttributeError):
        device.foo = 1
    device.id = 1
    assert device == cp.cuda.Device(1)


def test_the_current_device_cannot_vanish(four_devices):
    with (
        cp.cuda.Device(3),
        pytest.raises(RuntimeError, match="Device 3 is the current one and would vanish"),
    ):
        logical_devices(2)


@pytest.mark.parametrize("count", [0, -1, 2.0, "4", True, None])
def test_a_wrong_number_of_devices(count):
    with pytest.raises(ValueError, match="count must be a whole number of devices, 1 or more"):
        logical_devices(count)


@pytest.mark.parametrize("text", ["0", "two", "-1", "1.5"])
def test_a_wrong_number_in_the_environment(monkeypatch, text):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", text)
    with pytest.raises(ValueError, match=f"CUPY_STANDIN_DEVICES must be .*not '{text}'"):
        runtime.getDeviceCount()


# Devices as objects


def test_devices_are_numbered_and_compared(four_devices):
    first, last = cp.cuda.Device(0), cp.cuda.Device(3)
    assert first < last and first <= last and last > first and first != last
    assert last == cp.cuda.Device(3) and last != 3 and int(last) == 3
    with pytest.raises(TypeError):
        _ = first < 3
    assert last.use() is last and cp.cuda.get_device_id() == 3
    assert first.use() is first and cp.cuda.get_device_id() == 0


def test_a_device_that_is_not_there_is_refused_at_its_use(four_devices):
    absent = cp.cuda.Device(4)
    for use in (absent.use, absent.__enter__, lambda: absent.attributes, lambda: absent.mem_info):
        with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidDevice"):
            use()
    assert cp.cuda.Device().id == 0


def test_the_current_device_belongs_to_the_thread(four_devices):
    seen = []
    cp.cuda.Device(2).use()
    try:
        thread = threading.Thread(target=lambda: seen.append(cp.ones(2).device.id))
        thread.start()
        thread.join()
    finally:
        cp.cuda.Device(0).use()
    assert seen == [0]


def test_a_device_by_its_bus(four_devices):
    device = cp.cuda.Device(2)
    assert cp.cuda.Device.from_pci_bus_id(device.pci_bus_id) == device
    with pytest.raises(CUDARuntimeError, match="invalid argument"):
        cp.cuda.Device.from_pci_bus_id("fake:id")
    with pytest.raises(CUDARuntimeError, match="invalid device ordinal"):
        cp.cuda.Device.from_pci_bus_id("FFFF:FF:FF.F")


def test_an_address_has_a_device(four_devices):
    x = on(3, np.arange(10))
    assert cp.cuda.device.from_pointer(x[9:].data.ptr).id == 3
    assert runtime.pointerGetMemoryType(x.data.ptr) == runtime.memoryTypeDevice
    assert runtime.pointerGetMemoryType(cp.cuda.malloc_managed(8).ptr) == runtime.memoryTypeManaged
    pinned = cp.cuda.alloc_pinned_memory(8)
    assert runtime.pointerGetMemoryType(pinned.ptr) == runtime.memoryTypeHost
    host = np.ones(3)
    assert runtime.pointerGetMemoryType(host.ctypes.data) == runtime.memoryTypeUnregistered
    address = x.data.ptr
    del x
    assert runtime.pointerGetMemoryType(address) == runtime.memoryTypeUnregistered


# Touching another device's memory


def test_a_kernel_cannot_touch_another_devices_memory(four_devices, scale):
    x, factor = on(0, [1, 2, 3]), on(2, [10])
    what = r"argument 2 of kernel 'scale' \(const float ?\*\) is memory of device 2, .*device is 0,"
    with pytest.raises(RuntimeError, match=what) as caught:
        scale((1,), (32,), (x, factor, np.int32(3)))
    for remedy in ("Device(2):", "cupy.asarray", "deviceEnablePeerAccess(2) on device 0"):
        assert remedy in str(caught.value)
    with (
        cp.cuda.Device(2),
        pytest.raises(RuntimeError, match="argument 1 .* is memory of device 0"),
    ):
        scale((1,), (32,), (x.data, factor, np.int32(3)))
    assert x.get().tolist() == [1, 2, 3]


def test_a_copy_of_the_array_may_be_touched(four_devices, scale):
    x, factor = on(0, [1, 2, 3]), on(2, [10])
    scale((1,), (32,), (x, cp.asarray(factor), np.int32(3)))
    assert x.get().tolist() == [10, 20, 30]


def test_peer_access_goes_one_way(four_devices, scale):
    x, factor = on(0, [1, 2, 3]), on(2, [10])
    runtime.deviceEnablePeerAccess(2)
    scale((1,), (32,), (x, factor, np.int32(3)))
    assert x.get().tolist() == [10, 20, 30]
    with cp.cuda.Device(2), pytest.raises(RuntimeError, match="argument 1 .* memory of device 0"):
        scale((1,), (32,), (x, factor, np.int32(3)))
    with pytest.raises(CUDARuntimeError, match="cudaErrorPeerAccessAlreadyEnabled"):
        runtime.deviceEnablePeerAccess(2)
    runtime.deviceDisablePeerAccess(2)
    with pytest.raises(RuntimeError, match="argument 2 .* memory of device 2"):
        scale((1,), (32,), (x, factor, np.int32(3)))
    with pytest.raises(CUDARuntimeError, match="cudaErrorPeerAccessNotEnabled"):
        runtime.deviceDisablePeerAccess(2)


@pytest.mark.parametrize("peer", [0, 4, -1])
def test_no_peer_access_to_oneself_or_nobody(four_devices, peer):
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidDevice"):
        runtime.deviceEnablePeerAccess(peer)


def test_who_can_access_whom(four_devices, monkeypatch):
    assert [runtime.deviceCanAccessPeer(1, peer) for peer in range(4)] == [1, 0, 1, 1]
    monkeypatch.setenv("CUPY_STANDIN_CARD", "peers=0")
    assert [runtime.deviceCanAccessPeer(1, peer) for peer in range(4)] == [0, 0, 0, 0]
    with pytest.raises(CUDARuntimeError, match="cudaErrorPeerAccessUnsupported"):
        runtime.deviceEnablePeerAccess(1)
    with pytest.raises(ValueError, match="Peer access is unavailable between these devices"):
        on(1, [1, 2]) + 1


def test_cupys_own_functions_enable_peer_access_and_warn(four_devices, scale):
    x, factor = on(0, [1, 2, 3]), on(1, [10])
    with pytest.warns(cp._core.PerformanceWarning, match="Peer access has been activated"):
        y = x + factor
    assert y.device.id == 0 and y.get().tolist() == [11, 12, 13]
    scale((1,), (32,), (x, factor, np.int32(3)))
    assert x.get().tolist() == [10, 20, 30]


def test_an_elementwise_kernel_enables_peer_access_and_warns(four_devices):
    kernel = cp.ElementwiseKernel("raw T x", "T y", "y = x[_ind.size() - 1 - i]", "mirror")
    x = on(1, [1, 2, 3])
    with pytest.warns(cp._core.PerformanceWarning, match=r"resides \(1\) is different"):
        y = kernel(x, size=3)
    assert y.device.id == 0 and y.get().tolist() == [3, 2, 1]
    assert cp.cuda._ownership.may_touch(0, 1)


def by_an_integer(x):
    source = """extern "C" __global__ void reached(unsigned long long q) { *(float *)q += 1; }"""
    cp.RawKernel(source, "reached")((1,), (1,), (np.uint64(x.data.ptr),))


def by_a_table(x):
    source = """extern "C" __global__ void reached(float **q) { **q += 1; }"""
    cp.RawKernel(source, "reached")((1,), (1,), (cp.asarray([x.data.ptr], np.uint64),))


def by_an_elementwise_kernel(x):
    kernel = cp.ElementwiseKernel("uint64 q", "float32 z", "z = *(float *)q += 1", "reached")
    kernel(np.uint64(x.data.ptr), size=1)


@pytest.mark.parametrize("way", [by_an_integer, by_a_table, by_an_elementwise_kernel])
def test_no_address_leads_to_another_devices_memory(four_devices, way):
    x, theirs = on(1, [1]), on(2, [1])
    with pytest.raises(RuntimeError, match="outside|none of its arrays") as caught:
        way(x)
    assert "not memory of a device to which device 0 has peer access" in caught.value.__notes__[-1]
    with cp.cuda.Device(1):
        way(x)
    runtime.deviceEnablePeerAccess(1)
    way(x)
    runtime.deviceDisablePeerAccess(1)
    assert (x.get(), theirs.get()) == (3, 1)


def test_managed_memory_is_everybodys(four_devices, scale):
    with cp.cuda.Device(3):
        x = cp.ndarray(3, np.float32, cp.cuda.malloc_managed(12))
        x[:] = cp.asarray(np.array([1, 2, 3], np.float32))
    scale((1,), (32,), (x, on(0, [2]), np.int32(3)))
    assert x.get().tolist() == [2, 4, 6]


# Copies


def test_copies_between_devices(four_devices):
    source, target = on(1, np.arange(7)), on(2, np.zeros(7))
    runtime.memcpyPeer(target[2:].data.ptr, 2, source.data.ptr, 1, 5 * 4)
    assert target.get().tolist() == [0, 0, 0, 1, 2, 3, 4]
    with cp.cuda.Device(1):
        stream = cp.cuda.Stream()
    runtime.memcpyPeerAsync(target.data.ptr, 2, source[5:].data.ptr, 1, 2 * 4, stream.ptr)
    assert target.get().tolist() == [5, 6, 0, 1, 2, 3, 4]
    host = np.zeros(7, np.float32)
    runtime.memcpy(host.ctypes.data, source.data.ptr, source.nbytes, runtime.memcpyDefault)
    assert host.tolist() == list(range(7))


@pytest.mark.parametrize(
    ("kind", "right"), [(0, False), (1, True), (2, False), (4, True), (5, False)]
)
def test_the_kind_of_a_copy_is_that_of_its_addresses(kind, right):
    target, source = cp.zeros(3), np.ones(3)
    for copy, rest in ((runtime.memcpy, ()), (runtime.memcpyAsync, (0,))):
        arguments = target.data.ptr, source.ctypes.data, 24, kind, *rest
        if right:
            copy(*arguments)
        else:
            with pytest.raises(CUDARuntimeError, match="invalid"):
                copy(*arguments)
    assert target.get().any() == right


@pytest.mark.parametrize(
    ("source", "target", "size", "note"),
    [
        (2, 2, 28, "28 bytes on device 2 are asked for .* there are 28 bytes on device 1"),
        (1, 2, 32, "32 bytes .* there are 28"),
        (1, 3, 28, "28 bytes on device 3 .* there are 28 bytes on device 2"),
    ],
)
def test_a_copy_that_cannot_be(four_devices, source, target, size, note):
    a, b = on(1, np.arange(7)), on(2, np.zeros(7))
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidValue") as caught:
        runtime.memcpyPeer(b.data.ptr, target, a.data.ptr, source, size)
    assert len(caught.value.__notes__) == 1
    assert re.search(note, caught.value.__notes__[0])
    assert not b.get().any()


def test_a_copy_can_be_captured(four_devices):
    source, target = on(0, [1, 2, 3]), on(1, np.zeros(3))
    stream = cp.cuda.Stream()
    with stream:
        stream.begin_capture()
        runtime.memcpyPeerAsync(target.data.ptr, 1, source.data.ptr, 0, 12, stream.ptr)
        graph = stream.end_capture()
    assert not target.get().any()
    graph.launch()
    assert target.get().tolist() == [1, 2, 3]


# Streams and events


def test_a_stream_serves_its_own_device(four_devices, scale):
    with cp.cuda.Device(1):
        stream, event = cp.cuda.Stream(), cp.cuda.Event()
    x, factor = on(0, [1, 2]), on(0, [3])
    assert stream.device_id == 1
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        scale((1,), (32,), (x, factor, np.int32(2)), stream=stream)
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        event.record()
    event.record(stream)
    cp.cuda.Stream().wait_event(event)  # of another device: allowed
    assert x.get().tolist() == [1, 2]


def test_time_between_devices_is_not_told(four_devices):
    events = []
    for device in (0, 1):
        with cp.cuda.Device(device):
            events.append(cp.cuda.Event())
            events[-1].record()
    with pytest.raises(CUDARuntimeError, match="cudaErrorInvalidResourceHandle"):
        cp.cuda.get_elapsed_time(*events)


def test_each_device_has_its_current_stream(four_devices):
    with cp.cuda.Device(1):
        stream = cp.cuda.Stream()
        with stream:
            assert cp.cuda.get_current_stream() == stream
            with cp.cuda.Device(2):
                assert cp.cuda.get_current_stream() == cp.cuda.Stream.null
            assert cp.cuda.get_current_stream() == stream


# Names


@pytest.mark.parametrize(
    "name",
    "cuda.cublas cuda.thrust cuda.PythonFunctionAllocator cuda.nvrtc cuda.runtime.mallocAsync "
    "cuda.runtime.cudaMemAdviseSetReadMostly cuda.runtime.CUDA_R_32F cuda.driver.launchKernel "
    "cuda.runtime.cudaDevAttrMaxTexture1DWidth cuda.device.get_cublas_handle "
    "cuda.driver.CU_JIT_INPUT_PTX".split(),
)
def test_what_is_missing_says_so_by_name(name):
    module = cp
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    with pytest.raises(NotImplementedError, match=f"cupy.{name} is not covered"):
        getattr(module, last)


@pytest.mark.parametrize("name", ["cub", "pinned_memory"])
def test_a_module_that_is_missing_says_so_by_name(name):
    with pytest.raises(NotImplementedError, match=f"cupy.cuda.{name} is not covered"):
        __import__(f"cupy.cuda.{name}")


@pytest.mark.parametrize("module", ["cuda", "cuda.runtime", "cuda.device", "cuda.driver"])
def test_what_cupy_has_not_either(module):
    target = cp
    for part in module.split("."):
        target = getattr(target, part)
    with pytest.raises(AttributeError, match="has no attribute 'devices'"):
        _ = target.devices


def test_each_device_has_its_own_variables_and_attributes_of_a_kernel(four_devices):
    """CuPy loads a module once for each device."""
    module = cp.RawModule(
        code="""
__device__ int count; __constant__ int first[1] = {5};
__device__ int calls() { static int n = 0; return n++; }
extern "C" __global__ void k(int *y) {
    extern __shared__ int s[]; s[0] = calls(); y[0] = count++; y[1] = first[0]; y[2] = s[0];
}"""
    )
    kernel = module.get_function("k")
    kernel.max_dynamic_shared_size_bytes = 65536
    cp.ndarray(1, "i4", module.get_global("first")).fill(7)

    def counted(shared):
        y = cp.zeros(3, "i4")
        kernel((1,), (1,), (y,), shared_mem=shared)
        return y.get().tolist()

    assert [counted(65536), counted(65536)] == [[0, 7, 0], [1, 7, 1]]
    with cp.cuda.Device(1):
        assert counted(16) == [0, 5, 0]
        with pytest.raises(cp.cuda.driver.CUDADriverError, match="CUDA_ERROR_INVALID_VALUE"):
            counted(65536)
        assert cp.ndarray(1, "i4", module.get_global("count")).get() == 1
    assert counted(16) == [2, 7, 2]


def test_a_generator_draws_on_its_device_alone(monkeypatch):
    monkeypatch.setenv("CUPY_STANDIN_DEVICES", "2")
    rng = cp.random.default_rng(1)
    with cp.cuda.Device(1), pytest.raises(RuntimeError, match="different device"):
        rng.random(3)
    assert rng.random(3).shape == (3,)
