// Traces of quadrilaterals and hexahedra with Gauss points: from the lines of an element to their ends.
//
// Coefficients along a line give two numbers at its ends; where coefficients differ from values at the
// points, these are converted to values at the points of the faces. The result is written in the order of
// memory, [slot][face point][field]. Same computation as `trace_blocks` in residual.rs on the host. Macros as
// in gauss_lines.cuh, and BLOCKS per multiprocessor.

#include "gauss_lines.cuh"

typedef Grid<FUNCTIONS> Functions;
constexpr u32 ACROSS = DIM == 3 ? FUNCTIONS * FUNCTIONS : FUNCTIONS;  // lines of coefficients of one direction
// Layout of shared memory.
constexpr int STATE_AT = 0;                                             // [element][field][function]
constexpr int FACE_AT = STATE_AT + ELEMENTS * FIELDS * Functions::SIZE;  // [element][field][direction][end][point]

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) traces(const Arguments a) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (FACE_AT + ELEMENTS * FIELDS * 2 * DIM * FACE_SIZE));
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    real *state = shared + STATE_AT, *faces = shared + FACE_AT;

    // 1. Coefficients.
    const stored* from = a.u + (u64)(a.first + first) * STATE_BLOCK;
    for (u32 i = threadIdx.x; i < n * FIELDS * NP; i += THREADS) {
        state[number_of(i) * Functions::SIZE + Functions::place(function_of(i))] = __ldg(from + i);
    }
    dg_block_sync();

    // 2. The ends of all lines.
    for (u32 item = threadIdx.x; item < n * FIELDS * DIM * ACROSS; item += THREADS) {
        const u32 unknown = item / (DIM * ACROSS), d = item / ACROSS % DIM, line = item % ACROSS;
        const u32 low = DIM == 3 ? line % FUNCTIONS : line, high = DIM == 3 ? line / FUNCTIONS : 0;
        const real* x = state + unknown * Functions::SIZE + Functions::begin(d, low, high);
        const u32 step = Functions::step(d);
        real end[2] = {0, 0};
#pragma unroll
        for (int m = 0; m < FUNCTIONS; ++m) {
            const real y = x[m * step];
            end[0] += traces_matrix[0][m] * y;
            end[1] += traces_matrix[1][m] * y;
        }
        real* to = faces + (unknown * DIM + d) * 2 * FACE_SIZE + low + high * FACE_ROW;
        to[0] = end[0];
        to[FACE_SIZE] = end[1];
    }
    dg_block_sync();

    // 3. From coefficients on faces to values at their points.
    if (TRANSFORM) {
        constexpr u32 ROWS = DIM == 3 ? FUNCTIONS : 1;
        const u32 all = n * FIELDS * 2 * DIM;
        convert(values_matrix, faces, all * ROWS, 1, [](u32 i) { return i / ROWS * FACE_SIZE + i % ROWS * FACE_ROW; });
        dg_block_sync();
        if (DIM == 3) {
            convert(values_matrix, faces, all * NODES, FACE_ROW, [](u32 i) { return i / NODES * FACE_SIZE + i % NODES; });
            dg_block_sync();
        }
    }

    // 4. Results.
    stored* out = a.out + (u64)(a.first + first) * TRACE_BLOCK;
    for (u32 i = threadIdx.x; i < n * TRACE_BLOCK; i += THREADS) {
        const u32 e = i / TRACE_BLOCK, k = i % FIELDS, place = face_place[i / FIELDS % NF];
        const u32 side = place / LINES, line = place % LINES;
        const u32 at = DIM == 3 ? line % NODES + line / NODES * FACE_ROW : line;
        out[i] = faces[((e * FIELDS + k) * 2 * DIM + side) * FACE_SIZE + at];
    }
}
