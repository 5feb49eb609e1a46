// Metric rule and stage of the universal kernels: from the tested residual of an element to its next state.
//
// Same computation as `finish_block` in residual.rs on the host.
//
// Macros beside those of common.cuh: BLOCK threads; RULE (0 affine, 1 collocated, 2 weight-adjusted, 3
// stored); if the rule is weight-adjusted, the chains INTERP and PROJECT of sparse.cuh and the offsets
// INTEGRAL and ONE of its tables.

// For `n` elements of the part from `element` on: `rate` is their residual before the rule, `u` their state,
// both [element][row][field]; `points`, `even`, `odd` and `gain` are work space of the weight-adjusted rule.
// There must be a barrier between writing `rate` and this call, and another before it is written again.
static __device__ __forceinline__ void finish_elements(const Arguments& a, u32 element, u32 n, const real* u, real* rate,
                                                       real* points, real* even, real* odd, real* gain) {
#if RULE == 2
    // First ∫ r, the integral that the element must gain; then Π (1/J) I r, and the constant that restores
    // the integral.
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
}
