// The mass matrix or its inverse: a diagonal, or a reference matrix times a factor for each element.
//
// Macros defined by the host: NP, WIDTH (entries of a row of the reference matrix), THREADS.
#include "device.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// out ← D u, or out ← D⁻¹ u, with one number for each row.
extern "C" __global__ void __launch_bounds__(THREADS)
    mass_diagonal(const real* __restrict__ diagonal, const real* __restrict__ u, real* __restrict__ out, u64 first_row, u64 rows,
                  u64 copied, u64 n_copied, u64 inverse) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    if (i < n_copied) out[copied + i] = u[copied + i];
    if (i >= rows) return;
    const real d = dg_load(diagonal + i), x = u[first_row + i];
    out[first_row + i] = inverse ? x / d : x * d;
}

// out ← J A u, or out ← A u / J, with J for each element and the rows of A as [entry][row]: one thread for
// each row of an element.
extern "C" __global__ void __launch_bounds__(THREADS)
    mass_reference(const real* __restrict__ values, const u32* __restrict__ columns, const real* __restrict__ jacobian,
                   const real* __restrict__ u, real* __restrict__ out, u64 first_row, u64 rows, u64 copied, u64 n_copied,
                   u64 inverse) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    if (i < n_copied) out[copied + i] = u[copied + i];
    if (i >= rows) return;
    const u64 e = i / NP;
    const u32 row = (u32)(i % NP);
    const real* x = u + first_row + e * NP;
    real sum = 0;
#pragma unroll 4
    for (int j = 0; j < WIDTH; ++j) sum += dg_load(values + j * NP + row) * x[dg_load(columns + j * NP + row)];
    const real factor = dg_load(jacobian + e);
    out[first_row + i] = inverse ? sum / factor : sum * factor;
}
