// Second pass of diffusion for any shape, order, basis and metric rule.
//
// It computes the fluxes through face points, lifts them, adds them to the rows of the first pass, and
// applies the metric rule and the stage. A block processes ELEMENTS elements at a time. Same computation as
// `mean_flux_blocks` in diffusion_passes.rs on the host.
//
// Macros beside those of common.cuh: BLOCK threads, ELEMENTS elements, the chain LIFT, the macros of
// metric_rule.cuh, and the layout of the work space: FLUXES_AT, RATE_AT, POINTS_AT, EVEN_AT, ODD_AT, GAIN_AT
// and its size WORK; it is in shared memory if SHARED_WORK.

#include "metric_rule.cuh"

static_assert(!PLANAR, "groups that these kernels work on are laid out row by row");

extern "C" __global__ void __launch_bounds__(BLOCK)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    real* work = work_space(a);
    real* fluxes = work + FLUXES_AT;  // [element][face point][field]
    real* rate = work + RATE_AT;      // residual
    real *even = work + EVEN_AT, *odd = work + ODD_AT;  // intermediate results of chains
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;  // numbered in the part
        const u32 n = a.count - element < ELEMENTS ? a.count - element : ELEMENTS;
        const u64 begin = (u64)(a.first + element) * STATE_BLOCK;
        for (u32 item = threadIdx.x; item < n * NF; item += BLOCK) {
            const u32 e = item / NF, q = item % NF, face = face_of(q), slot = a.first + element + e;
            real direction[DIM], f[FIELDS];
            const real scale = -normal_at(a, element + e, face, q, direction);
            common_flux(p, fluxes_across(a, p, slot, face), slot, q, q - face_first(face), scale, f);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) fluxes[item * FIELDS + k] = f[k];
        }
        dg_block_sync();
        multiply_chain(a, LIFT, n, fluxes, even, odd, rate);
        for (u32 i = threadIdx.x; i < n * STATE_BLOCK; i += BLOCK) rate[i] += p.kept[begin + i];
        dg_block_sync();
        finish_elements(a, element, n, a.u + begin, rate, work + POINTS_AT, even, odd, work + GAIN_AT);
        dg_block_sync();
    }
}
