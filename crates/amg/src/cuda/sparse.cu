// Products with a sparse matrix, and the fused smoothing step: the device counterpart of sparse.rs.
#include "rows.cuh"

// y <- A x
extern "C" __global__ void __launch_bounds__(THREADS) multiply(Matrix a, const real* __restrict__ x, real* y) {
    begin();
    const u64 thread = THREAD_OF_GRID, row = ROW_OF(a, thread);
    const u32 lane = LANE_OF(a, thread);
    const real ax = product(a, row, lane, x);
    if (row < a.n_rows && lane == 0) y[row] = ax;
}

// y <- y + A x
extern "C" __global__ void __launch_bounds__(THREADS) add_product(Matrix a, const real* __restrict__ x, real* y) {
    begin();
    const u64 thread = THREAD_OF_GRID, row = ROW_OF(a, thread);
    const u32 lane = LANE_OF(a, thread);
    const real ax = product(a, row, lane, x);
    if (row < a.n_rows && lane == 0) y[row] = y[row] + ax;
}

// r <- b - A x; r may be b.
extern "C" __global__ void __launch_bounds__(THREADS)
    residual(Matrix a, const real* b, const real* __restrict__ x, real* r) {
    begin();
    const u64 thread = THREAD_OF_GRID, row = ROW_OF(a, thread);
    const u32 lane = LANE_OF(a, thread);
    const real ax = product(a, row, lane, x);
    if (row < a.n_rows && lane == 0) r[row] = b[row] - ax;
}

// y <- x + beta D^-1 (b - A x)
extern "C" __global__ void __launch_bounds__(THREADS)
    relax(Matrix a, const real* __restrict__ inverse_diagonal, const real* __restrict__ b,
          const real* __restrict__ x, real* y, double beta_) {
    begin();
    const u64 thread = THREAD_OF_GRID, row = ROW_OF(a, thread);
    const u32 lane = LANE_OF(a, thread);
    const real ax = product(a, row, lane, x);
    if (row < a.n_rows && lane == 0) y[row] = x[row] + real(beta_) * inverse_diagonal[row] * (b[row] - ax);
}
