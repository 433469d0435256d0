// CUB's device algorithms on n float32 numbers: the peers of chapter 36. Prints a line for each,
// "name seconds": the median of 10 runs, each of as many calls as last a millisecond.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cub/cub.cuh>

static void must(cudaError_t status) {
    if (status == cudaSuccess) return;
    std::printf("CUDA: %s\n", cudaGetErrorString(status));
    std::exit(1);
}

struct Positive {
    __device__ bool operator()(float v) const { return v > 0; }
};

__device__ float hashed(unsigned i) {  // in [0, 1), for every i another
    i = (i + 1) * 2654435761u;
    i = (i ^ i >> 15) * 2246822519u;
    i = (i ^ i >> 13) * 3266489917u;
    return ((i ^ i >> 16) >> 8) / 16777216.0f;
}

// 0: flat in [-0.5, 0.5), 1: flat in [0, 1), 2: normal around the middle of that, 3: constant
__global__ void fill(float* x, int n, int kind) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float u = hashed(i), v = hashed(~i);
        float z = sqrtf(-2 * logf(1 - u)) * cospif(2 * v);
        float kinds[] = {u - 0.5f, u, fminf(fmaxf(0.5f + 0.1f * z, 0.0f), 0.999f), 0.3f};
        x[i] = kinds[kind];
    }
}

template <class F>
float milliseconds(F call, int calls) {
    cudaEvent_t start, stop;
    must(cudaEventCreate(&start));
    must(cudaEventCreate(&stop));
    must(cudaEventRecord(start));
    for (int k = 0; k < calls; k++) call();
    must(cudaEventRecord(stop));
    must(cudaEventSynchronize(stop));
    float t;
    must(cudaEventElapsedTime(&t, start, stop));
    return t;
}

// call(room, bytes) is asked for its temporary memory first, as CUB wants it.
template <class F>
void time_it(const char* name, F call) {
    size_t bytes = 0;
    must(call(nullptr, bytes));
    void* room;
    must(cudaMalloc(&room, bytes));
    auto once = [&] { must(call(room, bytes)); };
    once();
    int calls = 1;
    while (milliseconds(once, calls) < 1 && calls < 100000) calls *= 2;
    std::vector<float> runs;
    for (int k = 0; k < 10; k++) runs.push_back(milliseconds(once, calls) / calls);
    std::sort(runs.begin(), runs.end());
    std::printf("%s %.6g\n", name, (runs[4] + runs[5]) / 2e3);
    must(cudaFree(room));
}

int main(int count, char** words) {
    int n = count > 1 ? std::atoi(words[1]) : 1 << 28;
    float *x, *y;
    int *kept, *bins;
    must(cudaMalloc(&x, 4l * n));
    must(cudaMalloc(&y, 4l * n));
    must(cudaMalloc(&kept, 4));
    must(cudaMalloc(&bins, 4 * 256));
    fill<<<1024, 256>>>(x, n, 0);
    must(cudaGetLastError());
    time_it("sum", [&](void* room, size_t& bytes) {
        return cub::DeviceReduce::Sum(room, bytes, x, y, n);
    });
    time_it("scan", [&](void* room, size_t& bytes) {
        return cub::DeviceScan::InclusiveSum(room, bytes, x, y, n);
    });
    time_it("select", [&](void* room, size_t& bytes) {
        return cub::DeviceSelect::If(room, bytes, x, y, kept, n, Positive());
    });
    const char* names[] = {"histogram_flat", "histogram_normal", "histogram_constant"};
    for (int kind = 1; kind <= 3; kind++) {
        fill<<<1024, 256>>>(x, n, kind);
        must(cudaGetLastError());
        time_it(names[kind - 1], [&](void* room, size_t& bytes) {
            return cub::DeviceHistogram::HistogramEven(room, bytes, x, bins, 257, 0.0f, 1.0f, n);
        });
    }
    std::printf("version %d\n", CUB_VERSION);
}
