// Second pass of diffusion on quadrilaterals and hexahedra with Gauss–Lobatto nodes: one thread per node.
//
// It computes the fluxes through face points, lifts them, adds them to the rows of the first pass, and
// updates the stage. Same computation as `mean_flux_blocks` in diffusion_passes.rs on the host.
//
// Elements are affine or curved. Threads do not exchange data. Data of the stage are loaded before the
// fluxes, so that the latencies of all loads overlap. Macros and layouts as in tensor_gradient.cu, and STAGE.

#include "lines.cuh"

constexpr int THREADS = ELEMENTS * NP;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    const u32 element = blockIdx.x * ELEMENTS + threadIdx.x / NP, node = threadIdx.x % NP;  // numbered in the part
    if (element >= a.count) return;
    const u32 slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node * ROW_STRIDE;
    real rate[FIELDS], u[FIELDS], kept[FIELDS];
    load_node(p.kept + at, kept);
    if (STAGE) load_node(a.u + at, u);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const LineEnd end = line_end(node, d);
        if (!end.is) continue;
        const u32 q = end.face * FACE_POINTS + end.point;
        const real lift = __ldg(a.tables + NODES * NODES + end.end);
        real f[FIELDS];
        flux_through(a, p, element, end.face, end.point, q, lift, f);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] -= f[k];
    }
    apply_inverse_jacobian(a, (u64)element * NP + node, rate);
    finish_kept(a, slot, at, kept, u, rate);
}
