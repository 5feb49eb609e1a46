// Quadrilaterals and hexahedra integrated by Gauss points: matrices along lines, and sums along lines.
//
// The cubature has as many Gauss points along a line as there are basis functions, or more on affine
// elements, in the volume and on faces. A one-dimensional matrix for the basis corresponds to one for values
// at these points. Thus states are converted to values on input and residuals to coefficients on output,
// unless the basis is nodal at the points.
//
// Macros beside those of common.cuh, with DIRECT = 0:
// - NODES: points along a line
// - FUNCTIONS: basis functions along a line
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - TRANSFORM: whether coefficients differ from values at the points
// - PLACE: [face point], (2 direction + end) FACE_POINTS + number of its line across the lines of that
//   direction
//
// With fewer functions than points, the matrices to values and back have columns and rows of zeros; threads
// beyond the last function process the coefficients of the first one, without effect. `tables` contains, for
// values at the points, the 1-D matrix P, [point][point]; the matrices to values and back to coefficients;
// the values at both ends of a line, [end][point]; and the lifts from there, [end][point].
#pragma once
#include "rows.cuh"

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_place[NF] = PLACE;
constexpr int POINTS = DIM == 3 ? NODES * NODES * NODES : NODES * NODES;  // number of points of an element
constexpr int THREADS = ELEMENTS * POINTS;
constexpr int LINE = NODES | 1;  // row of a matrix in shared memory, padded against bank conflicts
// Offsets of matrices in shared memory: ends, lifts, then P and the others.
constexpr int ENDS_AT = 0;
constexpr int LIFT_AT = 2 * NODES;
constexpr int PROJECT_AT = 4 * NODES;
constexpr int VALUES_AT = PROJECT_AT + NODES * LINE;
constexpr int BACK_AT = VALUES_AT + (TRANSFORM ? NODES * LINE : 0);
constexpr int MATRICES = (BACK_AT + (TRANSFORM ? NODES * LINE : 0) + 3) / 4 * 4;

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : d == 1 ? NODES : NODES * NODES; }

// The basis function of a thread: that of its node, if there are as many functions as nodes.
struct Function {
    u32 number;
    bool exists;
};

static __device__ __forceinline__ Function function_of(u32 node) {
    if (FUNCTIONS == NODES) return {node, true};
    const u32 i = node % NODES, j = node / NODES % NODES, k = node / (NODES * NODES);
    const bool exists = i < FUNCTIONS && j < FUNCTIONS && k < FUNCTIONS;
    return {exists ? i + FUNCTIONS * (j + FUNCTIONS * k) : 0, exists};
}

// The number of a node among the nodes with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) {
    return d == 0 ? node / NODES : d == 1 ? node / (NODES * NODES) * NODES + node % NODES : node % (NODES * NODES);
}

// The line that ends at a face point.
struct FaceLine {
    u32 place;  // see PLACE
    u32 end;    // 0 at −1, 1 at +1
    u32 begin;  // its first node
    u32 step;   // stride between its nodes
};

static __device__ __forceinline__ FaceLine face_line(u32 q) {
    FaceLine r;
    r.place = face_place[q];
    const u32 d = r.place / (2 * FACE_POINTS), number = r.place % FACE_POINTS;
    r.end = r.place / FACE_POINTS % 2;
    r.begin = d == 0 ? number * NODES : d == 1 ? number / NODES * (NODES * NODES) + number % NODES : number;
    r.step = d == 0 ? 1 : d == 1 ? NODES : NODES * NODES;
    return r;
}

// Loads the matrices; a barrier is needed before they are read.
static __device__ __forceinline__ void load_matrices(const Arguments& a, real* to) {
    for (u32 i = threadIdx.x; i < 4 * NODES; i += THREADS) to[i] = __ldg(a.tables + 3 * NODES * NODES + i);
    for (u32 i = threadIdx.x; i < (TRANSFORM ? 3 : 1) * NODES * NODES; i += THREADS)
        to[PROJECT_AT + i / NODES * LINE + i % NODES] = __ldg(a.tables + i);
}

// Loads the unknowns of a node in the state.
static __device__ __forceinline__ void load_node(const real* p, real (&x)[FIELDS]) {
    if (!PLANAR) return load_row_constant(p, x);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] = __ldg(p + k * NP);
}

// x += Σ_m row[m] times node m of a line; `line` is its first node in shared memory, [field][node], with the
// stride `FIELD` between fields.
template <int FIELD>
static __device__ __forceinline__ void add_line(const real* row, const real* line, int step, real (&x)[FIELDS]) {
#pragma unroll
    for (int m = 0; m < NODES; ++m) {
        const real c = row[m];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] += c * line[k * FIELD + m * step];
    }
}

// Multiplies a node's numbers by a matrix along every direction. `even` and `odd` are work space of its
// element, [field][node]; the last that is read is `odd` in two dimensions and `even` in three. Contains
// barriers between the directions, none before or after.
template <int FIELD>
static __device__ __forceinline__ void transform(const real* matrix, real* even, real* odd, u32 node, real (&x)[FIELDS]) {
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        real* room = d % 2 == 0 ? even : odd;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) room[k * FIELD + node] = x[k];
        dg_block_sync();
        const u32 i = node / power(d) % NODES;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = 0;
        add_line<FIELD>(matrix + i * LINE, room + node - i * power(d), power(d), x);
    }
}
