// Second pass of diffusion on prisms with collocated nodes: one thread per node.
//
// It computes the fluxes through face points, lifts them, adds them to the rows of the first pass, and
// updates the stage. Same computation as `mean_flux_blocks` in diffusion_passes.rs on the host.
//
// Prisms are affine or curved. Face points are distributed over all threads of a block. After one barrier,
// each node sums over the face points of its layer and its line. Data of the stage are loaded before the
// fluxes, so that the latencies of all loads overlap. Macros and layouts as in prism_gradient.cu, and STAGE.

#include "prisms.cuh"

constexpr int THREADS = ELEMENTS * NP;
constexpr int LIFTS = 3 * NODES * TRIANGLE;
// Layout of shared memory: lifts of the sides, then fluxes times their scale, [element][field][place].
constexpr int FACE_FLUX_AT = (LIFTS + 1) / 2 * 2;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_FLUX_AT + ELEMENTS * FIELDS * NF));
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const bool reads_register = STAGE && a.a != 0.0;
    // Threads beyond the last element load the last one again and store nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    const u64 at = (u64)slot * STATE_BLOCK + node;
    real rate[FIELDS], u[FIELDS], before[FIELDS];
    load_node(p.kept + at, rate);
    if (STAGE) load_node(a.u + at, u);
    if (reads_register) load_register(a.reg + at, before);
    const u32 z = node / TRIANGLE, t = node % TRIANGLE;
    const u32 end = z == 0 ? 0 : 1;
    const real end_lift = __ldg(a.tables + ENDS_AT + end);
    for (u32 i = threadIdx.x; i < LIFTS; i += THREADS) shared[i] = __ldg(a.tables + SIDES_AT + i);

    // 1. Fluxes.
    for (u32 item = threadIdx.x; item < n * NF; item += THREADS) {
        const u32 e = item / NF, q = item % NF, face = face_of(q), there = a.first + first + e;
        real normal[DIM], f[FIELDS];
        const real scale = normal_at(a, first + e, face, q, normal);
        common_flux(p, fluxes_across(a, p, there, face), there, q, q - face_first(face), scale, f);
        real* y = shared + FACE_FLUX_AT + e * NF * FIELDS + face_place[q];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    }
    dg_block_sync();
    if (!exists) return;

    // 2. Lifts of the fluxes.
    const real* fluxes = shared + FACE_FLUX_AT + local * NF * FIELDS;
#pragma unroll
    for (int side = 0; side < 3; ++side) {
        real sum[FIELDS];
        side_sum(shared, fluxes, side, z, t, sum);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] -= sum[k];
    }
    if (z == 0 || z == NODES - 1) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] -= end_lift * fluxes[k * NF + end * TRIANGLE + t];
    }
    apply_inverse_jacobian(a, (u64)element * NP + node, rate);

    // 3. The stage; see `finish`.
    finish_node(a, stage_factors(a, slot), reads_register, before, at, u, rate);
}
