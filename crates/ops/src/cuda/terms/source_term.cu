// Projected rows of a source that changes with time, from its formulas at volume points.
//
// The values are multiplied by J if the element is curved, and projected. A block processes ELEMENTS
// elements. Same computation as `block_rows` in source.rs on the host. The arithmetic is always in double
// precision, which times and coordinates need; rows are stored in the precision of the state.
//
// Macros and functions beside those of common.cuh: BLOCK threads, ELEMENTS elements; the traced function
// `source`.

static_assert(LANES == 1, "rows of sources are laid out element by element");

// `position`: of the part's volume points, [element][point][3]; `inverse_jacobian`: of the part,
// [element][point], read if CURVED; `project`: Π by columns, [point][row]; `rows`: of the group. The time is
// the clock's time plus `part` of its step, or `time` if `part` is negative.
extern "C" __global__ void __launch_bounds__(BLOCK)
    source_rows(const double* position, const stored* inverse_jacobian, const double* project, stored* rows, const Clock* clock,
                double time, double part, u32 first, u32 count, const Parameters parameters) {
    DG_PLANNED_SHARED(real, values, sizeof(real) * ELEMENTS * NQ * FIELDS);  // [element][point][field]
    const u32 element = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = count - element < ELEMENTS ? count - element : ELEMENTS;
    if (part >= 0) time = clock->t + part * clock->dt;
    for (u32 item = threadIdx.x; item < n * NQ; item += BLOCK) {
        const u64 at = (u64)element * NQ + item;
        real x[3], s[FIELDS];
#pragma unroll
        for (int d = 0; d < 3; ++d) x[d] = position[3 * at + d];
        source(parameters, x, time, s);
        const real scale = CURVED ? 1 / (real)inverse_jacobian[at] : 1;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) values[item * FIELDS + k] = s[k] * scale;
    }
    dg_block_sync();
    for (u32 item = threadIdx.x; item < n * NP; item += BLOCK) {
        const u32 e = item / NP, i = item % NP;
        real sum[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) sum[k] = COLLOCATED ? values[item * FIELDS + k] : 0;
        for (u32 q = 0; q < (COLLOCATED ? 0 : NQ); ++q) {
            const real p = __ldg(project + q * NP + i);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) sum[k] += p * values[(e * NQ + q) * FIELDS + k];
        }
        stored* y = rows + (u64)(first + element + e) * STATE_BLOCK + i * ROW_STRIDE;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * FIELD_STRIDE] = (stored)sum[k];
    }
}
