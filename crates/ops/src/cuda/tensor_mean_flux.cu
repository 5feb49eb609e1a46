// The second pass of diffusion on quadrilaterals and hexahedra with collocated Gauss–Lobatto nodes, affine or curved: the
// mean of the published fluxes, lifted and added to what the first pass kept, and the stage. The host's twin is
// `mean_flux_blocks` in viscous.rs.
//
// One thread a node gathers what its faces bring; entries are then finished along memory. What that needs is asked for
// before, so that one wait covers all. Macros as in tensor_gradient.cu, and STAGE.

#include "lines.cuh"

constexpr int THREADS = ELEMENTS * NP;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, brought);  // [element][node][field]
    const u32 first = blockIdx.x * ELEMENTS;  // of the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const u32 total = n * STATE_BLOCK;
    const u64 begin = (u64)(a.first + first) * STATE_BLOCK;
    const bool reads_register = STAGE && a.a != 0.0;
    real rate[FIELDS], x[FIELDS], before[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        const u32 i = threadIdx.x + k * THREADS;
        rate[k] = x[k] = before[k] = 0;
        if (i >= total) continue;
        rate[k] = __ldg(p.kept + begin + i);
        if (STAGE) x[k] = __ldg(a.u + begin + i);
        if (reads_register) before[k] = a.reg[begin + i];
    }
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    if (local < n) {
        const u32 element = first + local, slot = a.first + element;
        real sum[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) sum[k] = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const LineEnd end = line_end(node, d);
            if (!end.is) continue;
            const u32 q = end.face * FACE_POINTS + end.point;
            real direction[DIM], f[FIELDS];
            real scale = normal_at(a, element, end.face, q, direction) * __ldg(a.tables + NODES * NODES + end.end);
            if (CURVED) scale *= __ldg(a.inverse_jacobian + (u64)element * NP + node);
            mean_flux(p, fluxes_across(a, p, slot, end.face), slot, q, end.point, scale, f);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) sum[k] += f[k];
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) brought[threadIdx.x * FIELDS + k] = sum[k];
    }
    dg_block_sync();
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        const u32 i = threadIdx.x + k * THREADS;
        if (i >= total) continue;
        const u64 at = begin + i;
        real r = rate[k];
        if (CURVED) r *= __ldg(a.inverse_jacobian + (u64)first * NP + i / FIELDS);
        r += brought[i];
        if (!STAGE) {
            a.out[at] = r;
            continue;
        }
        const StageFactors s = stage_factors(a, a.first + first + i / STATE_BLOCK);
        real y = s.dt * r;
        if (reads_register) y += s.a * before[k];
        if (a.keep) a.reg[at] = y;
        real next = x[k];
        if (a.b != 0.0) next = s.b * __ldg(a.start + at) + s.rest * next;
        a.out[at] = next + s.c * y;
    }
}
