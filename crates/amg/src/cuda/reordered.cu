// Copies of vectors to another order of entries and another precision.
#include "device.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

// Entries per thread, one block apart, so that several loads are in flight; as in reordered.rs.
#define UNROLL 4

// Marks an entry without a counterpart.
#define NOWHERE 0xffffffffu

// to_i <- factor from_{places_i}, or 0 where there is no place; without `places` the order is the same. The
// factor is *size, or its inverse, which is 0 for a size of 0.
template <class To, class From>
DG_DEVICE void gather(To* __restrict__ to, const From* __restrict__ from, const u32* __restrict__ places, const double* size_, u32 inverse, u64 n) {
    dg_let_next_kernel_start();
    dg_wait_for_kernels_before();
    const double size = size_ ? *size_ : 1.0;
    const double factor = inverse ? (size == 0.0 ? 0.0 : 1.0 / size) : size;
    const u64 first = blockIdx.x * (u64)(UNROLL * blockDim.x) + threadIdx.x;
#pragma unroll
    for (u32 k = 0; k < UNROLL; k++) {
        const u64 i = first + k * blockDim.x;
        if (i >= n) continue;
        const u64 place = places ? u64(places[i]) : i;
        to[i] = places && place == NOWHERE ? To(0) : To(factor * double(from[place]));
    }
}

extern "C" __global__ void __launch_bounds__(256)
    double_of_double(double* to, const double* from, const u32* places, const double* size, u32 inverse, u64 n) {
    gather(to, from, places, size, inverse, n);
}
extern "C" __global__ void __launch_bounds__(256)
    double_of_single(double* to, const float* from, const u32* places, const double* size, u32 inverse, u64 n) {
    gather(to, from, places, size, inverse, n);
}
extern "C" __global__ void __launch_bounds__(256)
    single_of_double(float* to, const double* from, const u32* places, const double* size, u32 inverse, u64 n) {
    gather(to, from, places, size, inverse, n);
}
extern "C" __global__ void __launch_bounds__(256)
    single_of_single(float* to, const float* from, const u32* places, const double* size, u32 inverse, u64 n) {
    gather(to, from, places, size, inverse, n);
}
