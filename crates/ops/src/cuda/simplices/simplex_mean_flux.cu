// The second pass of diffusion on triangles and tetrahedra, affine or curved, with the FP64 tensor cores: the
// fluxes through face points, lifted and added to the rows of the first pass; the metric rule on curved
// elements; and the stage. Same computation as `mean_flux_blocks` in diffusion_passes.rs on the host; macros
// and operators as in simplex_gradient.cu, and STAGE.
//
// A warp processes eight elements; the lifts and the operators of the weight-adjusted rule are in shared
// memory.

#include "simplex_geometry.cuh"

constexpr int STATE_STEPS = fragment_steps(NP), STATE_TILES = fragment_tiles(NP);
constexpr int TRACE_STEPS = fragment_steps(FACE_POINTS);
constexpr int GROUP = 8;  // elements of a warp
constexpr int GROUP_STATE = GROUP * STATE_BLOCK;
// Results go through shared memory if a row is not a whole number of pairs.
constexpr bool STAGED = FIELDS % 2 != 0;
constexpr int LIFTS = FACES * TRACE_STEPS * STATE_TILES * 32;  // [face][step][tile]
#if RULE == 2
constexpr bool SCALES_HERE = false;
constexpr int POINT_STEPS = fragment_steps(NQ), POINT_TILES = fragment_tiles(NQ);
constexpr int INTERP_AT = LIFTS;                                         // [tile][step]
constexpr int ADJUST_AT = INTERP_AT + POINT_TILES * STATE_STEPS * 32;    // Π, [step][tile]
constexpr int INTEGRAL_AT = ADJUST_AT + POINT_STEPS * STATE_TILES * 32;  // ∫ φ, [row]
constexpr int ONE_AT = INTEGRAL_AT + NP;                                 // coefficients of the constant 1, [row]
constexpr int TABLES = ONE_AT + NP;
#include "weight_adjusted.cuh"
#else
constexpr int TABLES = LIFTS;
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (TABLES + (STAGED ? WARPS * GROUP_STATE : 0)));
    for (u32 i = 2 * threadIdx.x; i < TABLES; i += 64 * WARPS) dg_cp_async16(shared + i, a.tables + LIFT_AT + i);
    dg_cp_async_commit();
    dg_cp_async_wait<0>();
    dg_block_sync();
    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, r = lane >> 2, j = lane & 3;
    const real* lifts = shared + lane;
    real* staged = shared + TABLES + (STAGED ? warp * GROUP_STATE : 0);
    const u32 groups = (a.count + GROUP - 1) / GROUP, stride = gridDim.x * WARPS;
    for (u32 group = blockIdx.x * WARPS + warp; group < groups; group += stride) {
        // Lanes beyond the last element repeat the computation of the last one and store nothing.
        const u32 wanted = group * GROUP + r;
        const bool exists = wanted < a.count;
        const u32 element = exists ? wanted : a.count - 1, slot = a.first + element;
        real rate[STATE_TILES][FIELDS][2];
#pragma unroll
        for (int t = 0; t < STATE_TILES; ++t) fragment_zero(rate[t]);
#pragma unroll(DIM == 2 ? FACES : 1)
        for (int face = 0; face < FACES; ++face) {
            const Across there = fluxes_across(a, p, slot, face);
            real n[DIM];
            // The lifts in the table are −L.
#if !CURVED
            const real scale = normal_at(a, element, face, 0, n);
#endif
#pragma unroll
            for (int s = 0; s < TRACE_STEPS; ++s) {
                const u32 point = fragment_row(FACE_POINTS, s, j);
                real f[FIELDS];
#if CURVED
                const real scale = curved_normal(a, p, element, face, face * FACE_POINTS + point, n);
#endif
                common_flux(p, there, slot, face * FACE_POINTS + point, point, scale, f);
#pragma unroll
                for (int t = 0; t < STATE_TILES; ++t)
                    fragment_multiply(rate[t], f, lifts[((face * TRACE_STEPS + s) * STATE_TILES + t) * 32]);
            }
        }
#if CURVED
#pragma unroll
        for (int s = 0; s < STATE_STEPS; ++s) {
            const int row = fragment_row_or_none(NP, s, j);
            if (row < 0) continue;
            real kept[FIELDS];
            load_row_constant(p.kept + (u64)slot * STATE_BLOCK + row * FIELDS, kept);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[s / 2][k][s % 2] += kept[k];
        }
        const bool reads_register = STAGE && a.a != 0.0;
        StageFactors factors = stage_factors(a, slot);
#else
        StageFactors factors = kept_factors(a, slot);
#endif
#if RULE == 2
        adjust(a, shared, element, a.weighted + (u64)element * (NP + 1), nullptr, rate);
#elif RULE == 1
#pragma unroll
        for (int s = 0; s < STATE_STEPS; ++s) {
            const real inverse = __ldg(a.inverse_jacobian + (u64)element * NP + fragment_row(NP, s, j));
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[s / 2][k][s % 2] *= inverse;
        }
#endif
        if (!STAGED) {
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0 || !exists) continue;
                const u64 at = (u64)slot * STATE_BLOCK + row * FIELDS;
                real x[FIELDS], f[FIELDS], kept[FIELDS];
#if CURVED
                if (reads_register) load_row(a.reg + at, kept);
#else
                load_row_constant(p.kept + at, kept);
#endif
                if (STAGE) load_row_constant(a.u + at, x);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) {
                    if (!STAGE) x[k] = 0;
                    f[k] = rate[s / 2][k][s % 2] + (STAGE || CURVED ? 0 : kept[k]);
                }
#if CURVED
                finish_row_with(a, factors, reads_register, kept, at, x, f);
#else
                finish_row_with(a, factors, STAGE, kept, at, x, f);
#endif
            }
        } else {
            // First where the lanes have it, times the step, then along memory.
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0) continue;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) staged[r * STATE_BLOCK + row * FIELDS + k] = rate[s / 2][k][s % 2];
            }
            dg_warp_sync();
            const u32 left = a.count - group * GROUP, n = (left < GROUP ? left : GROUP) * STATE_BLOCK;
            const u64 begin = (u64)(a.first + group * GROUP) * STATE_BLOCK;
            if (STAGE && a.local) {
                const real dt = *a.step;
                for (u32 i = lane; i < n; i += 32)
                    staged[i] *= dt * (real)__ldg(a.local + a.first + group * GROUP + i / STATE_BLOCK);
                factors.dt = 1;
                dg_warp_sync();
            }
            // In pairs; an odd number is at the end of the part.
#pragma unroll 4
            for (u32 i = 2 * lane; i + 1 < n; i += 64) {
                const double2 r = *reinterpret_cast<const double2*>(staged + i);
                real kept[2], next[2];
#if CURVED
                kept[0] = kept[1] = 0;
                if (reads_register) {
                    const pair before = *reinterpret_cast<const pair*>(a.reg + begin + i);
                    kept[0] = factors.a * before.x;
                    kept[1] = factors.a * before.y;
                }
#else
                load_two(p.kept + begin + i, kept);
#endif
                next[0] = kept[0] + (STAGE ? factors.dt * r.x : r.x);
                next[1] = kept[1] + (STAGE ? factors.dt * r.y : r.y);
                if (STAGE) {
                    real x[2];
                    load_two(a.u + begin + i, x);
                    if (a.keep) store_two(a.reg + begin + i, next);
                    if (a.b != 0.0) {
                        real start[2];
                        load_two(a.start + begin + i, start);
                        x[0] = factors.b * start[0] + factors.rest * x[0];
                        x[1] = factors.b * start[1] + factors.rest * x[1];
                    }
                    next[0] = x[0] + factors.c * next[0];
                    next[1] = x[1] + factors.c * next[1];
                }
                store_two(a.out + begin + i, next);
            }
            if (STATE_BLOCK % 2 && n % 2 && lane == 0) {
                const u64 at = begin + n - 1;
                const real x = STAGE ? (real)__ldg(a.u + at) : 0;
#if CURVED
                finish_with(a, factors, at, reads_register, reads_register ? (real)a.reg[at] : 0, x, staged[n - 1]);
#else
                const real kept = __ldg(p.kept + at);
                finish_with(a, factors, at, STAGE, kept, x, staged[n - 1] + (STAGE ? 0 : kept));
#endif
            }
            dg_warp_sync();
        }
    }
}
