// Traces of quadrilaterals and hexahedra with Gauss points: from the points of a line to its ends.
//
// First one thread per node, then one thread per number of a face point, in the order of memory, [slot][face
// point][field]. Same computation as `trace_blocks` in residual.rs on the host. Macros as in gauss.cuh.

#include "gauss.cuh"

constexpr int FIELD = POINTS | 1;  // stride between unknowns in shared memory: threads read several together
constexpr int EVEN_AT = MATRICES;
constexpr int ODD_AT = EVEN_AT + ELEMENTS * FIELDS * FIELD;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) traces(const Arguments a) {
    DG_DYNAMIC_SHARED(real, shared);
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    // Threads beyond the last element repeat the computation of the last one and store nothing.
    const u32 local = threadIdx.x / POINTS, node = threadIdx.x % POINTS;
    const Function function = function_of(node);
    const u32 element = first + (local < n ? local : n - 1);
    real u[FIELDS];
    load_node(a.u + (u64)(a.first + element) * STATE_BLOCK + function.number * ROW_STRIDE, u);
    load_matrices(a, shared);
    real *even = shared + EVEN_AT + local * FIELDS * FIELD, *odd = shared + ODD_AT + local * FIELDS * FIELD;
    if (TRANSFORM) {
        dg_block_sync();
        transform<FIELD>(shared + VALUES_AT, even, odd, node, u);
    }
    // Not the array that was read last.
    const int values_at = TRANSFORM && DIM == 3 ? ODD_AT : EVEN_AT;
    real* values = values_at == ODD_AT ? odd : even;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) values[k * FIELD + node] = u[k];
    dg_block_sync();
    real* out = a.out + (u64)(a.first + first) * TRACE_BLOCK;
    for (u32 i = threadIdx.x; i < n * TRACE_BLOCK; i += THREADS) {
        const u32 k = i % FIELDS;
        const FaceLine line = face_line(i / FIELDS % NF);
        const real* x = shared + values_at + (i / TRACE_BLOCK * FIELDS + k) * FIELD + line.begin;
        const real* ends = shared + ENDS_AT + line.end * NODES;
        real sum = 0;
#pragma unroll
        for (int m = 0; m < NODES; ++m) sum += ends[m] * x[m * line.step];
        out[i] = sum;
    }
}
