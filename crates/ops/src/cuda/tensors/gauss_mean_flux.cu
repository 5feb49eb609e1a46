// Second pass of diffusion on quadrilaterals and hexahedra with Gauss points: one thread per node.
//
// It computes the fluxes through face points, lifts them along the lines that end there, adds the result to
// the rows of the first pass, and updates the stage. Same computation as `mean_flux_blocks` in
// diffusion_passes.rs on the host.
//
// A block processes a few elements, affine or curved; face points are distributed over all threads. Macros as
// in gauss.cuh, and STAGE.

#include "gauss.cuh"

// Layout of shared memory.
constexpr int FLUX_AT = MATRICES;                         // [element][field][place]
constexpr int EVEN_AT = FLUX_AT + ELEMENTS * FIELDS * NF;  // where coefficients are other than values, [element][field][node]
constexpr int ODD_AT = EVEN_AT + ELEMENTS * FIELDS * POINTS;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / POINTS, node = threadIdx.x % POINTS;
    const Function function = function_of(node);
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + function.number * ROW_STRIDE;
    load_matrices(a, shared);
    real rate[FIELDS], u[FIELDS], kept[FIELDS];
    load_node(p.kept + at, kept);
    if (STAGE) load_node(a.u + at, u);
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF, face = q / FACE_POINTS, there = a.first + first + e;
        real normal[DIM], f[FIELDS];
        const real scale = normal_at(a, first + e, face, q, normal);
        common_flux(p, fluxes_across(a, p, there, face), there, q, q % FACE_POINTS, scale, f);
        real* y = shared + FLUX_AT + e * FIELDS * NF + face_place[q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    }
    dg_block_sync();
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        const real* y = shared + FLUX_AT + local * FIELDS * NF + 2 * d * FACE_POINTS + across_line(node, d);
        const real low = shared[LIFT_AT + i], high = shared[LIFT_AT + NODES + i];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] -= low * y[k * NF] + high * y[k * NF + FACE_POINTS];
    }
    if (CURVED) {
        const real inverse = __ldg(a.inverse_jacobian + (u64)element * NQ + node);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] *= inverse;
    }
    if (TRANSFORM)
        transform<POINTS>(shared + BACK_AT, shared + EVEN_AT + local * FIELDS * POINTS, shared + ODD_AT + local * FIELDS * POINTS, node, rate);
    if (!exists || !function.exists) return;
    const StageFactors s = kept_factors(a, slot);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] += STAGE ? 0 : kept[k];
    if (!PLANAR) return finish_row_with(a, s, STAGE, kept, at, u, rate);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) finish_with(a, s, at + k * NP, STAGE, kept[k], u[k], rate[k]);
}
