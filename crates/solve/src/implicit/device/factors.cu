// A sparse matrix of blocks with incomplete factors (Meijerink & van der Vorst 1977, for blocks), in the
// space itself or in that of order one below. Rows that do not depend on each other are eliminated at a time,
// in the order of the sequential elimination.
//
// Macros defined by the host: THREADS, MOST, TILE (rows of a block that are multiplied at a time).
#include "dense.cuh"

// One field of an element's prolongation: up[fine][coarse], and its projection down[coarse][fine]; both are
// the unit matrix if there is no space below.
struct Between {
    u32 fine, coarse;
    u64 up, down;
};

// The mesh: entries of element e begin at first[e] and at coarse[e], kind[e] is its prolongation.
struct Levels {
    const u32* first;
    const u32* coarse;
    const u32* kind;
    const Between* between;
    const double* numbers;
};

// Row e has the blocks starts[e] .. starts[e + 1], in the order of elimination; its own is diagonal[e].
struct Matrix {
    const u32* starts;
    const u32* columns;
    const u64* blocks;
    const u32* diagonal;
};

DG_DEVICE bool is_unit(const Between& b) { return b.fine == b.coarse; }

DG_DEVICE u32 size_of(const Levels& l, u32 e) { return l.coarse[e + 1] - l.coarse[e]; }

// v <- the prolongation of column j in some elements; zero beyond the last column
extern "C" __global__ void __launch_bounds__(THREADS)
    seed_coarse(const u32* __restrict__ elements, Levels l, u32 j, double* __restrict__ v) {
    const u32 e = elements[blockIdx.x], begin = l.first[e];
    const Between b = l.between[l.kind[e]];
    const u32 n = size_of(l, e) / b.coarse * b.fine;
    const u32 field = j / b.coarse, column = j % b.coarse;
    for (u32 i = threadIdx.x; i < n; i += THREADS) {
        if (is_unit(b)) v[begin + i] = i == j ? 1.0 : 0.0;
        else v[begin + i] = i / b.fine == field ? l.numbers[b.up + i % b.fine * b.coarse + column] : 0.0;
    }
}

// Column j of blocks from the product; `pairs` lists the column's element, the row's element, and the block
extern "C" __global__ void __launch_bounds__(THREADS)
    take_coarse(const u32* __restrict__ pairs, Levels l, const u64* __restrict__ blocks, u32 j,
                const u32* __restrict__ places, const double* __restrict__ rate, double* __restrict__ to) {
    const u32 *own = pairs + 3 * blockIdx.x, row = own[1];
    if (j >= size_of(l, own[0])) return;
    const Between b = l.between[l.kind[row]];
    const u32 n = size_of(l, row), begin = l.first[row];
    for (u32 i = threadIdx.x; i < n; i += THREADS) {
        if (is_unit(b)) {
            to[blocks[own[2]] + (u64)j * n + i] = -rate[places[begin + i]];
            continue;
        }
        const double* down = l.numbers + b.down + i % b.coarse * b.fine;
        const u32* at = places + begin + i / b.coarse * b.fine;
        double sum = 0;
        for (u32 f = 0; f < b.fine; ++f) sum += down[f] * rate[at[f]];
        to[blocks[own[2]] + (u64)j * n + i] = -sum;
    }
}

// Adds 1/dtau to the diagonal, a block of threads for each element
extern "C" __global__ void __launch_bounds__(THREADS)
    add_shifts(Levels l, Matrix m, const double* __restrict__ shifts, double* __restrict__ factors) {
    const u32 e = blockIdx.x, n = size_of(l, e);
    double* a = factors + m.blocks[m.diagonal[e]];
    for (u32 i = threadIdx.x; i < n; i += THREADS) a[i * n + i] += shifts[e];
}

// Factors of the rows of a level, a block of threads for each; diagonal blocks become their inverses
extern "C" __global__ void __launch_bounds__(THREADS)
    factor_rows(const u32* __restrict__ rows, Levels l, Matrix m, double* __restrict__ factors) {
    __shared__ Pivots own;
    __shared__ double old[TILE * MOST];
    __shared__ double lower[TILE * MOST];
    const u32 e = rows[blockIdx.x], n = size_of(l, e), end = m.starts[e + 1];
    for (u32 k = m.starts[e]; k < m.diagonal[e]; ++k) {
        const u32 c = m.columns[k], inner = size_of(l, c);
        double* a = factors + m.blocks[k];
        const double* inverse = factors + m.blocks[m.diagonal[c]];
        for (u32 first = 0; first < n; first += TILE) {
            const u32 tile = n - first < TILE ? n - first : TILE;
            for (u32 i = threadIdx.x; i < tile * inner; i += THREADS) old[i] = a[i / tile * n + first + i % tile];
            dg_block_sync();
            // L = A U^-1 of the earlier row
            for (u32 i = threadIdx.x; i < tile * inner; i += THREADS) {
                const double* column = inverse + i / tile * inner;
                double sum = 0;
#pragma unroll 4
                for (u32 f = 0; f < inner; ++f) sum += old[f * tile + i % tile] * column[f];
                lower[i] = sum;
                a[i / tile * n + first + i % tile] = sum;
            }
            dg_block_sync();
            for (u32 u = m.diagonal[c] + 1; u < m.starts[c + 1]; ++u) {
                u32 to = k + 1;
                while (to < end && m.columns[to] != m.columns[u]) ++to;
                if (to == end) continue;
                const u32 width = size_of(l, m.columns[u]);
                const double* upper = factors + m.blocks[u];
                double* target = factors + m.blocks[to] + first;
                for (u32 i = threadIdx.x; i < tile * width; i += THREADS) {
                    const double* column = upper + i / tile * inner;
                    double sum = 0;
#pragma unroll 4
                    for (u32 f = 0; f < inner; ++f) sum += lower[f * tile + i % tile] * column[f];
                    target[i / tile * n + i % tile] -= sum;
                }
            }
            dg_block_sync();
        }
    }
    invert_block(factors + m.blocks[m.diagonal[e]], n, own);
}

// to <- R S^-1 r, a block of threads for each element
extern "C" __global__ void __launch_bounds__(THREADS)
    restrict_coarse(Levels l, const double* __restrict__ scales, const double* __restrict__ r,
                    double* __restrict__ to) {
    const u32 e = blockIdx.x, n = size_of(l, e), begin = l.first[e];
    const Between b = l.between[l.kind[e]];
    for (u32 i = threadIdx.x; i < n; i += THREADS) {
        if (is_unit(b)) {
            to[l.coarse[e] + i] = r[begin + i] / scales[begin + i];
            continue;
        }
        const double* down = l.numbers + b.down + i % b.coarse * b.fine;
        const u32 at = begin + i / b.coarse * b.fine;
        double sum = 0;
        for (u32 f = 0; f < b.fine; ++f) sum += down[f] * (r[at + f] / scales[at + f]);
        to[l.coarse[e] + i] = sum;
    }
}

// The threads of a block for a matrix of n rows: row i of `width` at a time, whose columns are shared by
// `groups` threads, so that enough loads are in flight.
struct Share {
    u32 width, groups, own, group;
};

DG_DEVICE Share share_of(u32 n) {
    const u32 width = n < THREADS ? n : THREADS, t = threadIdx.x;
    return {width, THREADS / width, t % width, t / width};
}

// This thread's part of the products of some blocks of a row with x, for row i of n
DG_DEVICE double row_product(const Levels& l, const Matrix& m, const double* factors, u32 from, u32 to, u32 i, u32 n,
                             const Share& s, const double* x) {
    double sum = 0;
    for (u32 k = from; k < to; ++k) {
        const u32 c = m.columns[k], inner = size_of(l, c), begin = l.coarse[c];
        const double* a = factors + m.blocks[k] + i;
#pragma unroll 8
        for (u32 f = s.group; f < inner; f += s.groups) sum += dg_load(a + f * n) * x[begin + f];
    }
    return sum;
}

// The sum of the parts of all groups, for the threads of the first one
DG_DEVICE double joined(const Share& s, const double* parts) {
    double sum = 0;
    for (u32 g = 0; g < s.groups; ++g) sum += parts[g * s.width + s.own];
    return sum;
}

// x <- L^-1 x in the rows of a level, a block of threads for each
extern "C" __global__ void __launch_bounds__(THREADS)
    solve_lower(const u32* __restrict__ rows, Levels l, Matrix m, const double* __restrict__ factors, double* x) {
    __shared__ double parts[THREADS];
    const u32 e = rows[blockIdx.x], n = size_of(l, e);
    const Share s = share_of(n);
    for (u32 base = 0; base < n; base += s.width) {
        const u32 i = base + s.own;
        const bool any = s.group < s.groups && i < n;
        if (any) parts[threadIdx.x] = row_product(l, m, factors, m.starts[e], m.diagonal[e], i, n, s, x);
        dg_block_sync();
        if (any && s.group == 0) x[l.coarse[e] + i] -= joined(s, parts);
        dg_block_sync();
    }
}

// x <- U^-1 x in the rows of a level
extern "C" __global__ void __launch_bounds__(THREADS)
    solve_upper(const u32* __restrict__ rows, Levels l, Matrix m, const double* __restrict__ factors, double* x) {
    __shared__ double parts[THREADS];
    __shared__ double own[MOST];
    const u32 e = rows[blockIdx.x], n = size_of(l, e), diagonal = m.diagonal[e], begin = l.coarse[e];
    const Share s = share_of(n);
    for (u32 base = 0; base < n; base += s.width) {
        const u32 i = base + s.own;
        const bool any = s.group < s.groups && i < n;
        if (any) parts[threadIdx.x] = row_product(l, m, factors, diagonal + 1, m.starts[e + 1], i, n, s, x);
        dg_block_sync();
        if (any && s.group == 0) own[i] = x[begin + i] - joined(s, parts);
        dg_block_sync();
    }
    const double* a = factors + m.blocks[diagonal];
    for (u32 base = 0; base < n; base += s.width) {
        const u32 i = base + s.own;
        const bool any = s.group < s.groups && i < n;
        double sum = 0;
        if (any) {
#pragma unroll 8
            for (u32 f = s.group; f < n; f += s.groups) sum += dg_load(a + f * n + i) * own[f];
            parts[threadIdx.x] = sum;
        }
        dg_block_sync();
        if (any && s.group == 0) x[begin + i] = joined(s, parts);
        dg_block_sync();
    }
}

// z <- z + P x, a block of threads for each element
extern "C" __global__ void __launch_bounds__(THREADS)
    prolongate(Levels l, const double* __restrict__ x, double* __restrict__ z) {
    const u32 e = blockIdx.x, begin = l.first[e], n = l.first[e + 1] - begin;
    const Between b = l.between[l.kind[e]];
    for (u32 i = threadIdx.x; i < n; i += THREADS) {
        if (is_unit(b)) {
            z[begin + i] += x[l.coarse[e] + i];
            continue;
        }
        const double* up = l.numbers + b.up + i % b.fine * b.coarse;
        const double* from = x + l.coarse[e] + i / b.fine * b.coarse;
        double sum = 0;
        for (u32 c = 0; c < b.coarse; ++c) sum += up[c] * from[c];
        z[begin + i] += sum;
    }
}
