// Block Jacobi: multiplies the rows of each element by its dense matrix.
//
// Macros defined by the host: NP, THREADS.
#include "device.cuh"
#include "block_product.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// z ← B r, with matrices as [element][column][row].
extern "C" __global__ void __launch_bounds__(THREADS) block_multiply(const real* __restrict__ matrices, const real* __restrict__ r,
                                                                      real* __restrict__ z, u64 first_row, u64 rows, u64 copied,
                                                                      u64 n_copied) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    if (i < n_copied) z[copied + i] = r[copied + i];
    if (i >= rows) return;
    const u64 e = i / NP;
    const real* const x = r + first_row + e * NP;
    z[first_row + i] = block_row(matrices + e * NP * NP + i % NP, [&](int j) { return x[j]; });
}
