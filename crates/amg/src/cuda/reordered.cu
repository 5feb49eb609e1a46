// Vectors of one order of entries and precision from those of another.
#include "device.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

// The place of an entry that has no counterpart.
#define NOWHERE 0xffffffffu

// to_i <- factor from_{places_i}, 0 where there is no place; without `places` the order is the same. The factor is *size, or its
// inverse: 0 for a size of 0.
template <class To, class From>
DG_DEVICE void gather(To* to, const From* from, const u32* places, const double* size_, u32 inverse, u64 n) {
    dg_let_next_kernel_start();
    dg_wait_for_kernels_before();
    const u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (i >= n) return;
    const double size = size_ ? *size_ : 1.0;
    const double factor = inverse ? (size == 0.0 ? 0.0 : 1.0 / size) : size;
    const u64 place = places ? u64(places[i]) : i;
    to[i] = places && place == NOWHERE ? To(0) : To(factor * double(from[place]));
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
