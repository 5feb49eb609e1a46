// Changes the factor of the reaction term: one number at the end of each row of a table.
//
// Macros defined by the host: THREADS.
#include "device.cuh"

typedef unsigned long long u64;

// kept ← the last numbers of n rows.
extern "C" __global__ void __launch_bounds__(THREADS) keep_reaction(const real* __restrict__ rows, real* __restrict__ kept, u64 n,
                                                                     u64 width) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) kept[i] = rows[i * width + width - 1];
}

// The last numbers ← factor · kept.
extern "C" __global__ void __launch_bounds__(THREADS) set_reaction(const real* __restrict__ kept, real* __restrict__ rows, u64 n,
                                                                    u64 width, double factor) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) rows[i * width + width - 1] = (real)(factor * (double)kept[i]);
}
