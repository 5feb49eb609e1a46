// Fused residual and stage for any shape, order, basis and metric rule, with operators as sparse factors.
//
// A block processes ELEMENTS elements at a time: the threads share the rows of each product and the points of
// each flux. All intermediate results are in work space. Same computation as residual.rs on the host.
//
// Macros beside those of common.cuh: BLOCK threads; ELEMENTS elements; RULE (0 affine, 1 collocated, 2
// weight-adjusted, 3 stored); the chains INTERP, RESIDUAL, PROJECT; and the layout of the work space:
// FLUXES_AT, RATE_AT, POINTS_AT, EVEN_AT, ODD_AT, GAIN_AT and its size WORK; it is in shared memory if
// SHARED_WORK.

#include "metric_rule.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) residual(const Arguments a, const Parameters parameters) {
    real* work = work_space(a);
    real* u = work + STATE_AT;        // states
    real* fluxes = work + FLUXES_AT;  // F̂_0, …, f̂*; the rows of each element are contiguous
    real* rate = work + RATE_AT;      // residual
    real* points = work + POINTS_AT;  // states at volume points
    real *even = work + EVEN_AT, *odd = work + ODD_AT;  // intermediate results of chains
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;  // numbered in the part
        const u32 n = a.count - element < ELEMENTS ? a.count - element : ELEMENTS;
        load_states(a, a.first + element, n, u);
        dg_block_sync();

        // 1. Volume: states at points, contravariant fluxes.
        if (!COLLOCATED) multiply_chain(a, INTERP, n, u, even, odd, points);
        for (u32 item = threadIdx.x; item < n * NQ; item += BLOCK) {
            const u32 e = item / NQ, q = item % NQ;
            const real* x = (COLLOCATED ? u : points) + item * FIELDS;
            real state[FIELDS], g[DIM * DIM], f[DIM * FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) state[k] = x[k];
            metric_at(a, element + e, q, g);
            volume_flux(parameters, state, g, f);
            real* y = fluxes + (e * (DIM * NQ + NF) + q) * FIELDS;
#pragma unroll
            for (int d = 0; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) y[d * NQ * FIELDS + k] = f[d * FIELDS + k];
        }

        // 2. Faces: both traces, numerical fluxes.
        for (u32 item = threadIdx.x; item < n * NF; item += BLOCK) {
            const u32 e = item / NF, q = item % NF, face = face_of(q), slot = a.first + element + e;
            real um[FIELDS], up[FIELDS], f[FIELDS];
            const real* own = DIRECT ? u + e * STATE_BLOCK + __ldg(a.own + q) / ROW_STRIDE * FIELDS
                                     : a.traces + (u64)slot * TRACE_BLOCK + q * FIELDS;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) um[k] = own[k];
            state_across(across(a, slot, face), q - face_first(face), up);
            face_flux(a, parameters, element + e, face, q, um, up, f);
            real* y = fluxes + (e * (DIM * NQ + NF) + DIM * NQ + q) * FIELDS;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) y[k] = f[k];
        }
        dg_block_sync();

        // 3. One product, then the metric rule and the stage.
        multiply_chain(a, RESIDUAL, n, fluxes, even, odd, rate);
        if (a.source) {
            for (u32 item = threadIdx.x; item < n * NP; item += BLOCK) {
                const stored* s = a.source + (u64)(a.first + element + item / NP) * STATE_BLOCK + item % NP * ROW_STRIDE;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[item * FIELDS + k] += __ldg(s + k * FIELD_STRIDE);
            }
            dg_block_sync();
        }
        finish_elements(a, element, n, u, rate, points, even, odd, work + GAIN_AT);
        dg_block_sync();
    }
}
