// Products of the rows of a sparse matrix on a device, for both layouts of layout.rs.
#pragma once
#include "device.cuh"

typedef unsigned int u32;
typedef unsigned long long u64;

// Compiled with THREADS, the threads per block of all kernels of this crate, and SLICE, the rows per slice.

// `MatrixArgument` of csr.rs.
struct Matrix {
    const u64* starts;
    const u32* columns;
    const real* values;
    u32 n_rows;
    // 2^shift lanes share a row.
    u32 shift;
    // Sliced: entries k of a slice's rows lie side by side, and each lane has a row.
    u32 sliced;
};

// This lane's part of sum_j a_ij x_j; with one lane per row the whole sum, from left to right.
DG_DEVICE real share_of_product(const Matrix& a, u32 row, u32 lane, const real* __restrict__ x) {
    u64 at, end;
    u32 stride;
    if (a.sliced) {
        const u32 slice = row / SLICE;
        at = dg_load(a.starts + slice) + row % SLICE;
        end = dg_load(a.starts + slice + 1);
        stride = SLICE;
    } else {
        at = dg_load(a.starts + row) + lane;
        end = dg_load(a.starts + row + 1);
        stride = 1u << a.shift;
    }
    real sum = real(0);
#pragma unroll 4
    for (; at < end; at += stride) sum = sum + dg_load(a.values + at) * x[dg_load(a.columns + at)];
    return sum;
}

// The sum over the lanes that share a row, in each of them. All lanes of the warp call it.
DG_DEVICE real sum_of_lanes(const Matrix& a, real sum) {
    for (u32 width = (1u << a.shift) / 2; width > 0; width /= 2) sum = sum + dg_shuffle_xor(sum, width);
    return sum;
}

// sum_j a_ij x_j in all lanes of the row; 0 beyond the last row. All lanes of the warp call it.
DG_DEVICE real product(const Matrix& a, u64 row, u32 lane, const real* __restrict__ x) {
    return sum_of_lanes(a, row < a.n_rows ? share_of_product(a, u32(row), lane, x) : real(0));
}

// The row of this thread, and its lane in the row; `thread` is its number in the grid.
#define ROW_OF(a, thread) ((thread) >> (a).shift)
#define LANE_OF(a, thread) (u32(thread) & ((1u << (a).shift) - 1))
#define THREAD_OF_GRID (blockIdx.x * (u64)THREADS + threadIdx.x)

// Kernels of a cycle may be launched before the previous ones end: each calls this first.
DG_DEVICE void begin() {
    dg_let_next_kernel_start();
    dg_wait_for_kernels_before();
}
