// The mass matrix or its inverse: a diagonal, a reference matrix times a factor for each element, or a matrix
// for each element. Each kernel computes out <- b out + c M (u + a w) for several vectors, a row of blocks
// for each; without a factor its vector is not read.
//
// Macros defined by the host: NP, WIDTH (entries of a row of the reference matrix), THREADS.
#include "device.cuh"
#include "block_product.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// Largest number of vectors of a launch, as in mass.rs.
#define PARTS 4

// The vectors and factors, the rows of elements, and the rows that only fill up the vectors, where M is the
// identity.
struct Vectors {
    const real* u[PARTS];
    const real* w[PARTS];
    real* out[PARTS];
    double a, b, c;
    u64 first_row, rows, copied, n_copied;
};

DG_DEVICE real input(const Vectors& of, u64 i) {
    const real x = of.u[blockIdx.y][i];
    return of.a == 0.0 ? x : x + real(of.a) * of.w[blockIdx.y][i];
}

DG_DEVICE void put(const Vectors& of, u64 i, real product) {
    real* const to = of.out[blockIdx.y] + i;
    const real scaled = real(of.c) * product;
    *to = of.b == 0.0 ? scaled : real(of.b) * *to + scaled;
}

DG_DEVICE void fill_up(const Vectors& of, u64 i) {
    if (i < of.n_copied) put(of, of.copied + i, input(of, of.copied + i));
}

// One number for each row; `inverse` divides by it.
extern "C" __global__ void __launch_bounds__(THREADS)
    mass_diagonal(const real* __restrict__ diagonal, const Vectors of, u64 inverse) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    fill_up(of, i);
    if (i >= of.rows) return;
    const real d = dg_load(diagonal + i), x = input(of, of.first_row + i);
    put(of, of.first_row + i, inverse ? x / d : x * d);
}

// J A u, or A u / J, with J for each element and the rows of A as [entry][row]: one thread for each row of an
// element.
extern "C" __global__ void __launch_bounds__(THREADS)
    mass_reference(const real* __restrict__ values, const u32* __restrict__ columns, const real* __restrict__ jacobian,
                   const Vectors of, u64 inverse) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    fill_up(of, i);
    if (i >= of.rows) return;
    const u64 e = i / NP, first = of.first_row + e * NP;
    const u32 row = (u32)(i % NP);
    real sum = 0;
#pragma unroll 4
    for (int j = 0; j < WIDTH; ++j)
        sum += dg_load(values + j * NP + row) * input(of, first + dg_load(columns + j * NP + row));
    const real factor = dg_load(jacobian + e);
    put(of, of.first_row + i, inverse ? sum / factor : sum * factor);
}

// A matrix for each element, [element][column][row]: one thread for each row.
extern "C" __global__ void __launch_bounds__(THREADS) mass_dense(const real* __restrict__ matrices, const Vectors of, u64) {
    const u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    dg_wait_for_kernels_before();
    fill_up(of, i);
    if (i >= of.rows) return;
    const u64 e = i / NP, first = of.first_row + e * NP;
    put(of, of.first_row + i, block_row(matrices + e * NP * NP + i % NP, [&](int j) { return input(of, first + j); }));
}
