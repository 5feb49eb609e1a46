// Diagonal blocks of the Jacobian, one for each element. The entries of element e are first[e] .. first[e +
// 1].
#include "dense.cuh"

// v <- column j of the unit matrix in some elements, a block of threads each; zero beyond the last column
extern "C" __global__ void __launch_bounds__(THREADS)
    seed_columns(const u32* __restrict__ elements, const u32* __restrict__ first, u32 j, double* __restrict__ v) {
    const u32 e = elements[blockIdx.x], begin = first[e], n = first[e + 1] - begin;
    for (u32 i = threadIdx.x; i < n; i += THREADS) v[begin + i] = i == j ? 1.0 : 0.0;
}

// Column j of the blocks -dR/du of some elements from the product
extern "C" __global__ void __launch_bounds__(THREADS)
    take_columns(const u32* __restrict__ elements, const u32* __restrict__ first, const u64* __restrict__ blocks,
                 u32 j, const u32* __restrict__ places, const double* __restrict__ rate, double* __restrict__ to) {
    const u32 e = elements[blockIdx.x], begin = first[e], n = first[e + 1] - begin;
    if (j >= n) return;
    for (u32 i = threadIdx.x; i < n; i += THREADS) to[blocks[e] + (u64)j * n + i] = -rate[places[begin + i]];
}

// inverses <- (1/dtau - dR/du)^-1, a block of threads for each element
extern "C" __global__ void __launch_bounds__(THREADS)
    invert_blocks(const u32* __restrict__ first, const u64* __restrict__ blocks, const double* __restrict__ shifts,
                  const double* __restrict__ from, double* __restrict__ inverses) {
    __shared__ Pivots own;
    const u32 e = blockIdx.x, n = first[e + 1] - first[e];
    const double shift = shifts[e];
    const double* a = from + blocks[e];
    double* inverse = inverses + blocks[e];
    for (u32 i = threadIdx.x; i < n * n; i += THREADS) inverse[i] = a[i] + (i / n == i % n ? shift : 0.0);
    dg_block_sync();
    invert_block(inverse, n, own);
}

// z <- D^-1 S^-1 r, a block of threads for each element
extern "C" __global__ void __launch_bounds__(THREADS)
    apply_blocks(const u32* __restrict__ first, const u64* __restrict__ blocks, const double* __restrict__ inverses,
                 const double* __restrict__ scales, const double* __restrict__ r, double* __restrict__ z) {
    __shared__ double x[MOST];
    const u32 e = blockIdx.x, begin = first[e], n = first[e + 1] - begin;
    for (u32 i = threadIdx.x; i < n; i += THREADS) x[i] = r[begin + i] / scales[begin + i];
    dg_block_sync();
    for (u32 i = threadIdx.x; i < n; i += THREADS) {
        const double* row = inverses + blocks[e] + i;
        double even = 0, odd = 0;
        u32 j = 0;
#pragma unroll 4
        for (; j + 1 < n; j += 2) {
            even += dg_load(row + (u64)j * n) * x[j];
            odd += dg_load(row + (u64)(j + 1) * n) * x[j + 1];
        }
        if (j < n) even += dg_load(row + (u64)j * n) * x[j];
        z[begin + i] = even + odd;
    }
}
