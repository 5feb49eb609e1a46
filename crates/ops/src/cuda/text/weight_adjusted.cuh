// The weight-adjusted rule for eight elements of a warp, whose rows are in registers in the layout of
// fragments.cuh.
//
// Needs fragments.cuh, rows.cuh and these constants: STATE_STEPS STATE_TILES POINT_STEPS POINT_TILES, of the
// basis functions and the volume points, SCALES_HERE, whether 1/J is in shared memory (otherwise it is read),
// and the offsets of operators: INTERP_AT interpolation to volume points [tile][step], ADJUST_AT Π
// [step][tile], INTEGRAL_AT ∫ φ [row], ONE_AT the coefficients of the constant 1 [row].

// The sum over the four lanes of an element.
static __device__ __forceinline__ void sum_lanes(real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        x[k] += dg_shuffle_xor(x[k], 1);
        x[k] += dg_shuffle_xor(x[k], 2);
    }
}

// c += a B for unknowns k and k + 1, if there is one.
static __device__ __forceinline__ void multiply_two(real (&c)[FIELDS][2], int k, const real (&a)[2], real b) {
    const int next = k + 1 < FIELDS ? k + 1 : k;
    if (next > k) dg_mma_f64_16x8x4(c[k][0], c[k][1], c[next][0], c[next][1], a[0], a[1], b);
    else dg_mma_f64_8x8x4(c[k][0], c[k][1], a[0], b);
}

// R ← Π (1/J) I R with the constant that preserves ∫ R, see the weight-adjusted rule of residual.cu. `rate`
// has lane (r, j)'s rows of the warp's eight elements, `weight` is ∫ J φ / ∫ J, then 1/∫ J, of the lane's
// element, `scales` its 1/J [step][lane] if SCALES_HERE.
static __device__ __forceinline__ void adjust(const Arguments& a, const real* tables, u32 element, const stored* weight,
                                              const stored* scales, real (&rate)[STATE_TILES][FIELDS][2]) {
    const u32 lane = threadIdx.x & 31, j = lane & 3;
    const real* operators = tables + lane;
    real gain[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) gain[k] = 0;
#pragma unroll
    for (int s = 0; s < STATE_STEPS; ++s) {
        const int row = fragment_row_or_none(NP, s, j);
        if (row < 0) continue;
        const real w = tables[INTEGRAL_AT + row];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) gain[k] += w * rate[s / 2][k][s % 2];
    }
    sum_lanes(gain);
#pragma unroll
    for (int k = 0; k < FIELDS; k += 2) {
        const int next = k + 1 < FIELDS ? k + 1 : k;
        real before[STATE_STEPS][2];
#pragma unroll
        for (int s = 0; s < STATE_STEPS; ++s) {
            before[s][0] = rate[s / 2][k][s % 2];
            before[s][1] = rate[s / 2][next][s % 2];
        }
#pragma unroll
        for (int t = 0; t < STATE_TILES; ++t)
#pragma unroll
            for (int i = 0; i < 2; ++i) rate[t][k][i] = rate[t][next][i] = 0;
#pragma unroll 1
        for (int t = 0; t < POINT_TILES; ++t) {
            real points[FIELDS][2], scale[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (2 * t + i >= POINT_STEPS) continue;
                scale[i] = SCALES_HERE ? (real)scales[(2 * t + i) * 32]
                                     : __ldg(a.inverse_jacobian + (u64)element * NQ + fragment_row(NQ, 2 * t + i, j));
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) points[k][i] = points[next][i] = 0;
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s)
                multiply_two(points, k, before[s], operators[INTERP_AT + (t * STATE_STEPS + s) * 32]);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (2 * t + i >= POINT_STEPS) continue;
                const real x[2] = {points[k][i] * scale[i], points[next][i] * scale[i]};
                const real* p = operators + ADJUST_AT + (2 * t + i) * STATE_TILES * 32;
#pragma unroll
                for (int tile = 0; tile < STATE_TILES; ++tile) multiply_two(rate[tile], k, x, p[tile * 32]);
            }
        }
    }
    real c[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) c[k] = 0;
#pragma unroll
    for (int s = 0; s < STATE_STEPS; ++s) {
        const int row = fragment_row_or_none(NP, s, j);
        if (row < 0) continue;
        const real w = weight[row];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) c[k] -= w * rate[s / 2][k][s % 2];
    }
    sum_lanes(c);
    const real whole = weight[NP];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) c[k] += gain[k] * whole;
#pragma unroll
    for (int s = 0; s < STATE_STEPS; ++s) {
        const int row = fragment_row_or_none(NP, s, j);
        if (row < 0) continue;
        const real one = tables[ONE_AT + row];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[s / 2][k][s % 2] += one * c[k];
    }
}
