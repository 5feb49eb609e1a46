// Rows of the reactions, Π J S(I u, c), from the state at the beginning of a stage.
//
// The rows of a source that does not depend on the state are added, if there is one. A block processes
// ELEMENTS elements at a time. Same computation as `block_rows` in reaction.rs on the host.
//
// Macros and functions beside those of common.cuh: BLOCK threads; ELEMENTS elements; COEFFICIENTS: number of
// coefficients of all reactions; the chains INTERP and PROJECT; the layout of the work space STATE_AT,
// POINTS_AT, EVEN_AT, ODD_AT and its size WORK; it is in shared memory if SHARED_WORK; `reactions(parameters,
// u, c, out)`.

static_assert(LANES == 1, "rows of reactions are laid out element by element");

// `coefficients`: of the part, [element][point][coefficient]; `given`: of the group, the rows of a source, or
// null; `rows`: of the group.
extern "C" __global__ void __launch_bounds__(BLOCK)
    reaction_rows(const Arguments a, const Parameters parameters, const stored* coefficients, const stored* given,
                  stored* rows) {
    real* work = work_space(a);
    real* u = work + STATE_AT;
    real* points = COLLOCATED ? u : work + POINTS_AT;
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;  // numbered in the part
        const u32 left = a.count - element, n = left < ELEMENTS ? left : ELEMENTS;
        load_states(a, a.first + element, n, u);
        dg_block_sync();
        if (!COLLOCATED) multiply_chain(a, INTERP, n, u, work + EVEN_AT, work + ODD_AT, points);
        for (u32 item = threadIdx.x; item < n * NQ; item += BLOCK) {
            const u64 at = (u64)element * NQ + item;
            real state[FIELDS], c[COEFFICIENTS], s[FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) state[k] = points[item * FIELDS + k];
#pragma unroll
            for (int k = 0; k < COEFFICIENTS; ++k) c[k] = __ldg(coefficients + at * COEFFICIENTS + k);
            reactions(parameters, state, c, s);
            const real scale = CURVED ? 1 / __ldg(a.inverse_jacobian + at) : (real)1;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) points[item * FIELDS + k] = s[k] * scale;
        }
        dg_block_sync();
        if (!COLLOCATED) multiply_chain(a, PROJECT, n, points, work + EVEN_AT, work + ODD_AT, u);
        for (u32 item = threadIdx.x; item < n * NP; item += BLOCK) {
            const u32 e = item / NP, i = item % NP;
            const u64 begin = (u64)(a.first + element + e) * STATE_BLOCK + i * ROW_STRIDE;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                const real more = given ? __ldg(given + begin + k * FIELD_STRIDE) : (real)0;
                rows[begin + k * FIELD_STRIDE] = u[item * FIELDS + k] + more;
            }
        }
        dg_block_sync();
    }
}
