// Kernels of a multigrid cycle, apart from smoothing. Scalars of K-cycles stay in device memory: each block
// writes its sums to `partial`, and the kernels that need the totals add them up, in every block and always
// in the same order.
//
// Compiled with ENOUGH: the second iteration of a K-cycle is ignored if the first reduced the residual to
// this fraction.
//
// A kernel that writes a level's right-hand side b also writes beta D^-1 b to x: the smoother's first step
// from zero.
#include "rows.cuh"

#define WARPS (THREADS / 32)
// Marks a row that belongs to no aggregate.
#define NONE 0xffffffffu

// The smoother's first step on a level; does nothing where there is no smoother.
struct Start {
    const real* inverse_diagonal;
    real* x;
    double beta;
};

DG_DEVICE void start_with(const Start& start, u64 row, real b) {
    if (start.inverse_diagonal) start.x[row] = real(start.beta) * start.inverse_diagonal[row] * b;
}

template <u32 N> struct Sums {
    double of[N];
};

// Sums over the block; every thread gets them.
template <u32 N> DG_DEVICE Sums<N> over_block(Sums<N> sums) {
    __shared__ double warps[N][WARPS];
#pragma unroll
    for (u32 k = 0; k < N; k++) {
        for (u32 width = 16; width > 0; width /= 2) sums.of[k] += dg_shuffle_xor(sums.of[k], width);
        if (dg_lane() == 0) warps[k][threadIdx.x / 32] = sums.of[k];
    }
    dg_block_sync();
#pragma unroll
    for (u32 k = 0; k < N; k++) {
        sums.of[k] = warps[k][0];
        for (u32 w = 1; w < WARPS; w++) sums.of[k] += warps[k][w];
    }
    dg_block_sync();
    return sums;
}

// The totals over `count` blocks.
template <u32 N> DG_DEVICE Sums<N> total(const double* partial, u32 count) {
    Sums<N> sums = {};
    for (u32 i = threadIdx.x; i < count; i += THREADS)
#pragma unroll
        for (u32 k = 0; k < N; k++) sums.of[k] += partial[i * N + k];
    return over_block(sums);
}

template <u32 N> DG_DEVICE void leave_sums(Sums<N> sums, double* partial) {
    sums = over_block(sums);
#pragma unroll
    for (u32 k = 0; k < N; k++)
        if (threadIdx.x == k) partial[blockIdx.x * N + k] = sums.of[k];
}

// Whether the square of a direction's length is a positive finite number.
DG_DEVICE bool good(double rho) { return rho > 0.0 && rho <= 1.7976931348623157e308; }

// Threads of the grid, for kernels whose blocks loop. All threads of a block loop equally often.
#define GRID (gridDim.x * (u64)THREADS)

// coarse b <- P^T (b - A x), where aggregate k has the rows rows[starts[k] .. starts[k + 1]), and the first
// smoothing step of the coarse level.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    restrict_residual(Matrix a, const real* __restrict__ b, const real* __restrict__ x, const u32* __restrict__ starts,
                      const u32* __restrict__ rows, u32 n_coarse, real* coarse, Start start) {
    begin();
    const u64 thread = THREAD_OF_GRID, k = ROW_OF(a, thread);
    const u32 lane = LANE_OF(a, thread);
    real sum = real(0);
    if (k < n_coarse) {
        for (u32 at = starts[k]; at < starts[k + 1]; at++) {
            const u32 i = rows[at];
            const real share = share_of_product(a, i, lane, x);
            sum = sum + ((lane == 0 ? b[i] : real(0)) - share);
        }
    }
    sum = sum_of_lanes(a, sum);
    if (k < n_coarse && lane == 0) {
        coarse[k] = sum;
        start_with(start, k, sum);
    }
}

// coarse b <- R r with a stored restriction, and the first smoothing step of the coarse level.
extern "C" __global__ void __launch_bounds__(THREADS)
    restrict_by(Matrix restriction, const real* __restrict__ r, real* coarse, Start start) {
    begin();
    const u64 thread = THREAD_OF_GRID, row = ROW_OF(restriction, thread);
    const u32 lane = LANE_OF(restriction, thread);
    const real sum = product(restriction, row, lane, r);
    if (row < restriction.n_rows && lane == 0) {
        coarse[row] = sum;
        start_with(start, row, sum);
    }
}

// A level's solution from its directions: x for kind 0; c + x for kind 1 (W-cycles); the combination of c and
// x with the least energy for kind 2 (K-cycles), from the sums of `first_sums`, `first_step` and
// `second_sums`.
struct Combination {
    real of_c, of_x;
};

DG_DEVICE Combination combine(u32 kind, const double* first, u32 n_first, const double* left, u32 n_left,
                              const double* second, u32 n_second) {
    double of_c = kind == 1 ? 1.0 : 0.0, of_e = 1.0;
    if (kind == 2) {
        const Sums<3> one = total<3>(first, n_first), two = total<3>(second, n_second);
        const double rest = total<1>(left, n_left).of[0];
        const double rho = one.of[0], alpha = one.of[1], size = one.of[2];
        of_e = 0.0;
        if (!good(rho)) {
            of_c = 1.0;
        } else {
            const double length = alpha / rho, gamma = two.of[0], rho_two = two.of[1] - gamma * gamma / rho;
            of_c = length;
            if (!(rest <= ENOUGH * ENOUGH * size) && good(rho_two)) {
                of_e = two.of[2] / rho_two;
                of_c = length - gamma * of_e / rho;
            }
        }
    }
    const Combination found = {real(of_c), real(of_e)};
    return found;
}

// x <- x + P e, with e the solution of the coarse level.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    prolongate(real* x, const u32* __restrict__ of_row, u32 n, const real* __restrict__ e, const real* __restrict__ c,
               u32 kind, const double* first, u32 n_first, const double* left, u32 n_left, const double* second,
               u32 n_second) {
    begin();
    const Combination solution = combine(kind, first, n_first, left, n_left, second, n_second);
    const real f = solution.of_c, g = solution.of_x;
    for (u64 i = THREAD_OF_GRID; i < n; i += GRID) {
        const u32 k = of_row[i];
        if (k == NONE) continue;
        real sum = kind == 0 ? e[k] : f * c[k];
        if (kind != 0 && g != real(0)) sum = sum + g * e[k];
        x[i] = x[i] + sum;
    }
}

// The same with a stored prolongation.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    prolongate_by(Matrix p, real* x, const real* __restrict__ e, const real* __restrict__ c, u32 kind, const double* first,
                  u32 n_first, const double* left, u32 n_left, const double* second, u32 n_second) {
    begin();
    const Combination solution = combine(kind, first, n_first, left, n_left, second, n_second);
    const real f = solution.of_c, g = solution.of_x;
    const u64 end = (u64)p.n_rows << p.shift;
    for (u64 turn = blockIdx.x * (u64)THREADS; turn < end; turn += GRID) {
        const u64 thread = turn + threadIdx.x, row = ROW_OF(p, thread);
        const u32 lane = LANE_OF(p, thread);
        real sum = product(p, row, lane, e);
        if (kind != 0) {
            // A second direction with factor 0 is ignored, even if it is not finite.
            sum = g != real(0) ? g * sum : real(0);
            sum = sum + f * product(p, row, lane, c);
        }
        if (row < p.n_rows && lane == 0) x[row] = x[row] + sum;
    }
}

// b <- b - A c, and the first smoothing step.
extern "C" __global__ void __launch_bounds__(THREADS)
    subtract_product(Matrix a, const real* __restrict__ c, real* b, Start start) {
    begin();
    const u64 thread = THREAD_OF_GRID, row = ROW_OF(a, thread);
    const u32 lane = LANE_OF(a, thread);
    const real ac = product(a, row, lane, c);
    if (row < a.n_rows && lane == 0) {
        const real rest = b[row] - ac;
        b[row] = rest;
        start_with(start, row, rest);
    }
}

// v <- A c; sums c.v, c.b, b.b
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    first_sums(Matrix a, const real* __restrict__ c, const real* __restrict__ b, real* v, double* partial) {
    begin();
    Sums<3> sums = {};
    const u64 end = (u64)a.n_rows << a.shift;
    for (u64 turn = blockIdx.x * (u64)THREADS; turn < end; turn += GRID) {
        const u64 thread = turn + threadIdx.x, row = ROW_OF(a, thread);
        const u32 lane = LANE_OF(a, thread);
        const real ac = product(a, row, lane, c);
        if (row < a.n_rows && lane == 0) {
            v[row] = ac;
            const double here = double(c[row]), right = double(b[row]);
            sums.of[0] += here * double(ac);
            sums.of[1] += here * right;
            sums.of[2] += right * right;
        }
    }
    leave_sums(sums, partial);
}

// b <- b - (c.b / c.v) v, and the first smoothing step; sum b.b
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    first_step(const double* first, u32 n_first, real* b, const real* __restrict__ v, u32 n, Start start, double* partial) {
    begin();
    const Sums<3> one = total<3>(first, n_first);
    const real length = real(good(one.of[0]) ? one.of[1] / one.of[0] : 0.0);
    Sums<1> sums = {};
    for (u64 i = THREAD_OF_GRID; i < n; i += GRID) {
        const real rest = b[i] - length * v[i];
        b[i] = rest;
        start_with(start, i, rest);
        sums.of[0] += double(rest) * double(rest);
    }
    leave_sums(sums, partial);
}

// Sums x.v, x.A x, x.b
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    second_sums(Matrix a, const real* __restrict__ x, const real* __restrict__ b, const real* __restrict__ v,
                double* partial) {
    begin();
    Sums<3> sums = {};
    const u64 end = (u64)a.n_rows << a.shift;
    for (u64 turn = blockIdx.x * (u64)THREADS; turn < end; turn += GRID) {
        const u64 thread = turn + threadIdx.x, row = ROW_OF(a, thread);
        const u32 lane = LANE_OF(a, thread);
        const real ax = product(a, row, lane, x);
        if (row < a.n_rows && lane == 0) {
            const double here = double(x[row]);
            sums.of[0] += here * double(v[row]);
            sums.of[1] += here * double(ax);
            sums.of[2] += here * double(b[row]);
        }
    }
    leave_sums(sums, partial);
}

// x <- A^-1 b with the dense inverse in double precision. One warp per row.
extern "C" __global__ void __launch_bounds__(THREADS)
    solve_directly(const double* __restrict__ inverse, const real* __restrict__ b, real* x, u32 n) {
    begin();
    const u32 row = blockIdx.x * WARPS + threadIdx.x / 32;
    double sum = 0.0;
    if (row < n)
        for (u32 j = dg_lane(); j < n; j += 32) sum += inverse[row * (u64)n + j] * double(b[j]);
    for (u32 width = 16; width > 0; width /= 2) sum += dg_shuffle_xor(sum, width);
    if (row < n && dg_lane() == 0) x[row] = real(sum);
}

// ---- entry and exit, for vectors of either precision -----------------------------------------------

// b <- r / size, and the first smoothing step
template <class T> DG_DEVICE void scale_in(const T* r, const double* size_, real* b, u32 n, const Start& start) {
    const double size = *size_;
    const u64 i = THREAD_OF_GRID;
    if (i >= n) return;
    const real scaled = size == 0.0 ? real(0) : real(double(r[i]) / size);
    b[i] = scaled;
    start_with(start, i, scaled);
}

// z <- factor size x
template <class T> DG_DEVICE void scale_out(const real* x, const double* size, double factor, T* z, u32 n) {
    const u64 i = THREAD_OF_GRID;
    if (i < n) z[i] = T(*size * factor * double(x[i]));
}

// z <- z - sum / n
template <class T> DG_DEVICE void without_mean(T* z, const double* sum, u32 n) {
    const u64 i = THREAD_OF_GRID;
    if (i < n) z[i] = z[i] - T(*sum / double(n));
}

extern "C" __global__ void __launch_bounds__(THREADS)
    enter_double(const double* r, const double* size, real* b, u32 n, Start start) {
    scale_in(r, size, b, n, start);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_single(const float* r, const double* size, real* b, u32 n, Start start) {
    scale_in(r, size, b, n, start);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    leave_double(const real* x, const double* size, double factor, double* z, u32 n) {
    scale_out(x, size, factor, z, n);
}
extern "C" __global__ void __launch_bounds__(THREADS)
    leave_single(const real* x, const double* size, double factor, float* z, u32 n) {
    scale_out(x, size, factor, z, n);
}
extern "C" __global__ void __launch_bounds__(THREADS) center_double(double* z, const double* sum, u32 n) {
    without_mean(z, sum, n);
}
extern "C" __global__ void __launch_bounds__(THREADS) center_single(float* z, const double* sum, u32 n) {
    without_mean(z, sum, n);
}
