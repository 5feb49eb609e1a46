// The fused residual and Runge–Kutta stage for every shape, order, basis and metric rule: ELEMENTS elements a block,
// operators as chains of sparse factors, everything between in work space. The host's twin is residual.rs.
//
// Beside the macros of common.cuh: BLOCK threads, ELEMENTS elements, RULE (0 affine, 1 collocated, 2 weight-adjusted,
// 3 stored), the chains INTERP, RESIDUAL, PROJECT, and the plan of the work space: FLUXES_AT, RATE_AT, POINTS_AT,
// EVEN_AT, ODD_AT, GAIN_AT and its size WORK, in shared memory where SHARED_WORK.

extern "C" __global__ void __launch_bounds__(BLOCK) residual(const Arguments a, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    real* work = SHARED_WORK ? shared : a.work + (u64)blockIdx.x * WORK;
    real* u = work + STATE_AT;        // states
    real* fluxes = work + FLUXES_AT;  // F̂_0, …, f̂*, each element's rows together
    real* rate = work + RATE_AT;      // residual
    real* points = work + POINTS_AT;  // states at volume points
    real *even = work + EVEN_AT, *odd = work + ODD_AT;  // between the factors of a chain
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;  // of the part
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

        // 3. One product, the metric rule, the stage.
        multiply_chain(a, RESIDUAL, n, fluxes, even, odd, rate);
#if RULE == 2
        // ∫ r, the integral that the element must gain; then Π (1/J) I r, and the constant that restores it.
        real* gain = work + GAIN_AT;
        for (u32 item = threadIdx.x; item < n * FIELDS; item += BLOCK) {
            const real* r = rate + (item / FIELDS) * STATE_BLOCK + item % FIELDS;
            real sum = 0;
            for (u32 i = 0; i < NP; ++i) sum += __ldg(a.tables + INTEGRAL + i) * r[i * FIELDS];
            gain[item] = sum;
        }
        multiply_chain(a, INTERP, n, rate, even, odd, points);
        for (u32 item = threadIdx.x; item < n * NQ; item += BLOCK) {
            const real s = __ldg(a.inverse_jacobian + (u64)element * NQ + item);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) points[item * FIELDS + k] *= s;
        }
        dg_block_sync();
        multiply_chain(a, PROJECT, n, points, even, odd, rate);
        for (u32 item = threadIdx.x; item < n * FIELDS; item += BLOCK) {
            const real* w = a.weighted + (u64)(element + item / FIELDS) * (NP + 1);
            const real* v = rate + (item / FIELDS) * STATE_BLOCK + item % FIELDS;
            real c = gain[item] * __ldg(w + NP);
            for (u32 i = 0; i < NP; ++i) c -= __ldg(w + i) * v[i * FIELDS];
            gain[item] = c;
        }
        dg_block_sync();
#endif
        for (u32 item = threadIdx.x; item < n * NP; item += BLOCK) {
            const u32 e = item / NP, i = item % NP;
            const StageFactors s = stage_factors(a, a.first + element + e);
            const u64 begin = (u64)(a.first + element + e) * STATE_BLOCK;
            real r[FIELDS];
#if RULE == 3
            const real* m = a.inverse + ((u64)(element + e) * NP + i) * NP;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) r[k] = 0;
            for (u32 j = 0; j < NP; ++j)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) r[k] += __ldg(m + j) * rate[(e * NP + j) * FIELDS + k];
#else
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) r[k] = rate[item * FIELDS + k];
#endif
#if RULE == 1
            const real scale = __ldg(a.inverse_jacobian + (u64)element * NQ + item);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) r[k] *= scale;
#elif RULE == 2
            const real one = __ldg(a.tables + ONE + i);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) r[k] += one * gain[e * FIELDS + k];
#endif
#pragma unroll
            for (int k = 0; k < FIELDS; ++k)
                finish(a, s, begin + i * ROW_STRIDE + k * FIELD_STRIDE, u[item * FIELDS + k], r[k]);
        }
        dg_block_sync();
    }
}
