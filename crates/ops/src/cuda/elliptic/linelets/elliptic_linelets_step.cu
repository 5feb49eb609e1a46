// A step of a smoother with linelets where all elements change their basis: y ← x + β B (b − A x) by two
// kernels beside those of the lines, and not by a pass for each operation.
//
// Macros defined by the host: those of chain.cuh and linelets.cuh, and WIDTH (unknowns of an element).
#include "device.cuh"
#include "chain.cuh"
#include "linelets.cuh"

// The elements of one shape and kind.
struct Part {
    const Member* members;
    // Of each element its member, or NONE.
    const u32* member;
    Functions functions;
    real* unknowns;
    const real* diagonal;
    // The residual of the Gauss–Lobatto basis.
    real* changed;
    // The continuous function of each row, or NONE, and the numbers of all; both may be missing.
    const u32* function;
    const real* sums;
    u64 first_row;
    u32 n_elements, padding;
};

// changed ← Tᵀ (b − ax), and the residuals of the unknowns; without `ax` that of b.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_in(const Chain a, const Part p, const real* __restrict__ b, const real* __restrict__ ax) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * 2 * WIDEST * STRIDE);
    const u32 first = blockIdx.x * ELEMENTS, n = min(p.n_elements - first, (u32)ELEMENTS);
    const u64 row = p.first_row + (u64)first * ROWS_IN;
    dg_wait_for_kernels_before();
    const real* const r =
        chained(a, shared, n, [&](u32 item) { return ax ? b[row + item] - ax[row + item] : b[row + item]; });
    for (u32 item = threadIdx.x; item < n * ROWS_IN; item += THREADS)
        p.changed[row + item] = r[item % ROWS_IN * STRIDE + item / ROWS_IN];
    for (u32 item = threadIdx.x; item < n * WIDTH; item += THREADS) {
        const u32 e = item / WIDTH, at = p.member[first + e];
        if (at == NONE) continue;
        const Member m = p.members[at];
        restricted(m, item % WIDTH, p.functions, p.unknowns, [&](u32 i) { return r[i * STRIDE + e]; });
    }
}

// y ← x + β T (D⁻¹ changed + w R unknowns + Q sums); without `x` the second term. Rows that fill up the
// host's blocks have the residual itself.
extern "C" __global__ void __launch_bounds__(THREADS)
    linelets_out(const Chain a, const Part p, const real* __restrict__ b, const real* __restrict__ ax,
                 const real* __restrict__ x, real* __restrict__ y, u64 copied, u64 n_copied, double beta_, double weight_) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * 2 * WIDEST * STRIDE);
    const u32 first = blockIdx.x * ELEMENTS, n = min(p.n_elements - first, (u32)ELEMENTS);
    const u64 row = p.first_row + (u64)first * ROWS_IN;
    const real beta = real(beta_), weight = real(weight_);
    dg_wait_for_kernels_before();
    for (u64 i = copied + (u64)blockIdx.x * THREADS + threadIdx.x; i < copied + n_copied; i += (u64)gridDim.x * THREADS)
        y[i] = (x ? x[i] : real(0)) + beta * (ax ? b[i] - ax[i] : b[i]);
    const real* const z = chained(a, shared, n, [&](u32 item) {
        const u32 at = p.member[first + item / ROWS_IN];
        real sum = dg_load(p.diagonal + row + item) * p.changed[row + item];
        if (at != NONE) sum += weight * prolongated(p.members[at], item % ROWS_IN, p.functions, p.unknowns);
        const u32 of = p.function ? p.function[row + item] : NONE;
        if (of != NONE) sum += p.sums[of];
        return sum;
    });
    for (u32 item = threadIdx.x; item < n * ROWS_IN; item += THREADS)
        y[row + item] = (x ? x[row + item] : real(0)) + beta * z[item % ROWS_IN * STRIDE + item / ROWS_IN];
}
