// Small dense matrices of a block of threads. Matrices are stored column by column: entry (i, j) of one with
// n rows is a[j * n + i].
//
// Macros defined by the host: THREADS, MOST (largest number of rows).
#pragma once
#include "device.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// Arrays of a block for an inversion.
struct Pivots {
    double row[MOST];
    double column[MOST];
    u32 order[MOST];
    u32 pivot;
};

// Replaces a matrix by its inverse: Gauss-Jordan elimination with pivots, by all threads of a block. What is
// stored by columns here is the transposed matrix by rows, whose inverse is the transposed one. A singular
// matrix leaves numbers that are not finite.
DG_DEVICE void invert_block(double* a, u32 n, Pivots& own) {
    const u32 t = threadIdx.x;
    for (u32 i = t; i < n; i += THREADS) own.order[i] = i;
    dg_block_sync();
    for (u32 k = 0; k < n; ++k) {
        // The largest entry of column k, from row k on.
        if (t < 32) {
            double largest = -1;
            u32 at = k;
            for (u32 i = k + t; i < n; i += 32) {
                const double size = fabs(a[(u64)i * n + k]);
                if (size > largest) largest = size, at = i;
            }
            for (u32 step = 16; step > 0; step /= 2) {
                const double other = dg_shuffle_xor(largest, step);
                const u32 there = dg_shuffle_xor(at, step);
                // The first of equal entries, whatever the order of lanes.
                if (other > largest || (other == largest && there < at)) largest = other, at = there;
            }
            if (t == 0) own.pivot = at;
        }
        dg_block_sync();
        const u32 pivot = own.pivot;
        for (u32 j = t; j < n; j += THREADS) {
            own.row[j] = a[(u64)pivot * n + j];
            if (pivot != k) a[(u64)pivot * n + j] = a[(u64)k * n + j];
        }
        if (t == 0) {
            const u32 other = own.order[pivot];
            own.order[pivot] = own.order[k];
            own.order[k] = other;
        }
        dg_block_sync();
        const double scale = 1.0 / own.row[k];
        for (u32 i = t; i < n; i += THREADS) own.column[i] = a[(u64)i * n + k];
        dg_block_sync();
        for (u32 i = t; i < n * n; i += THREADS) {
            const u32 r = i / n, c = i % n;
            const double upper = (c == k ? 1.0 : own.row[c]) * scale;
            const double old = c == k ? 0.0 : a[i];
            a[i] = r == k ? upper : old - own.column[r] * upper;
        }
        dg_block_sync();
    }
    // The columns of the inverse are in the order of the pivots.
    for (u32 i = 0; i < n; ++i) {
        for (u32 k = t; k < n; k += THREADS) own.row[own.order[k]] = a[(u64)i * n + k];
        dg_block_sync();
        for (u32 k = t; k < n; k += THREADS) a[(u64)i * n + k] = own.row[k];
        dg_block_sync();
    }
}
