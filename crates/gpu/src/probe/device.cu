// Kernels limited by one part of the device: memory, multiply-adds, tensor cores, launches.
#include "device.cuh"

struct alignas(16) Pair {
    double x, y;
};

// Each thread copies 4 pairs, one block apart.
extern "C" __global__ void __launch_bounds__(256) copy_pairs(Pair* to, const Pair* from, unsigned long long n) {
    const unsigned long long first = blockIdx.x * 1024ull + threadIdx.x;
    Pair some[4];
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (first + 256 * k < n) some[k] = from[first + 256 * k];
#pragma unroll
    for (unsigned k = 0; k < 4; k++)
        if (first + 256 * k < n) to[first + 256 * k] = some[k];
}

// Reads all pairs; writes only if their sum has a value that never occurs.
extern "C" __global__ void __launch_bounds__(256) read_pairs(const Pair* from, double* never, unsigned long long n) {
    double sum = 0.0;
    const unsigned long long stride = gridDim.x * 256ull;
#pragma unroll 8
    for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < n; i += stride) {
        const Pair pair = from[i];
        sum += pair.x + pair.y;
    }
    if (sum == 0.125) *never = sum;
}

// x <- x m + a in 8 independent chains; with m = 1/2 and a = 1 they go to 2.
template <class T> DG_DEVICE void chains(T* out, T m, T a, unsigned rounds) {
    T x[8];
#pragma unroll
    for (unsigned k = 0; k < 8; k++) x[k] = T(1 + k + threadIdx.x);
    for (unsigned r = 0; r < rounds; r++)
#pragma unroll
        for (unsigned k = 0; k < 8; k++) x[k] = fma(x[k], m, a);
    T sum = x[0];
#pragma unroll
    for (unsigned k = 1; k < 8; k++) sum += x[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(256) fma_double(double* out, double m, double a, unsigned rounds) {
    chains(out, m, a, rounds);
}

extern "C" __global__ void __launch_bounds__(256) fma_single(float* out, float m, float a, unsigned rounds) {
    chains(out, m, a, rounds);
}

// C <- C + A B in 4 independent chains for each warp, 512 operations each.
extern "C" __global__ void __launch_bounds__(256) mma_double(double* out, double a, double b, unsigned rounds) {
    double c[4][2] = {};
    for (unsigned r = 0; r < rounds; r++)
#pragma unroll
        for (unsigned k = 0; k < 4; k += 2)
            dg_mma_f64_16x8x4(c[k][0], c[k][1], c[k + 1][0], c[k + 1][1], a, a, b);
    double sum = 0.0;
#pragma unroll
    for (unsigned k = 0; k < 4; k++) sum += c[k][0] + c[k][1];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void nothing() {}
