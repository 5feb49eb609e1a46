// Prisms integrated by a cubature: layout of operators, products with them, weight-adjusted rule.
//
// The cubature is that of a triangle times a Gauss rule along the line with as many points as there are
// functions along the line. A one-dimensional matrix for the basis corresponds to one for values in the
// layers of these points. Thus states are converted to coefficients of the triangle's functions in each layer
// on input, and back on output.
//
// The state is [element][field][function] (PLANAR), with function (z, t) at z TRIANGLE + t; volume point (z,
// q) is z POINTS + q. Macros beside those of common.cuh, with DIRECT = 0:
// - NODES: functions, and layers, along a line
// - TRIANGLE: functions of the triangle
// - POINTS: volume points of a layer
// - END_POINTS: face points of a triangle
// - TRANSFORM: whether the functions along a line differ from those of the layers (1)
// - NODAL: volume points of a layer are the nodes of its functions (1)
// - GROUP: rows of a matrix for the triangle's functions that a thread computes
// - ELEMENTS: elements of a block
// - BLOCKS: blocks per multiprocessor
// - FACE_PLACE: [face point], points of the lower and of the upper triangle, then [side][layer][number]
//
// `tables` contains for the line: to the layers [layer][function] and back [function][layer]; the sum along
// the line of the projected fluxes, as functions [function][layer] and in the layers [layer][layer]; likewise
// the lifts from both ends [end][function], [end][layer]; values at both ends [end][function]. For the
// triangle: values at points [function][point]; the projections of derivatives and of values
// [point][function]; lifts from sides [side, number][function] and from the points of the ends
// [point][function]; traces on sides [function][side, number] and at the points of the ends
// [function][point]. Then ∫ φ by layer and function, and the coefficients of 1.
#pragma once
#include "rows.cuh"

constexpr int THREADS = ELEMENTS * NQ;
// Number of groups of rows: a thread computes the rows `first`, `first` + GROUPS and so on. The kernels are
// limited by shared memory, and loaded values serve all rows of a thread; with more rows there would be too
// few threads.
constexpr u32 GROUPS = (TRIANGLE + GROUP - 1) / GROUP;
constexpr int SQUARE = NODES * NODES;
constexpr int LAYER = TRIANGLE * POINTS;
constexpr int SIDE_POINTS = 3 * NODES;  // of a layer
// Fluxes at volume points are stored [field][layer][number]; layers have this distance, so that the points of
// layers, and of elements, are in different banks of shared memory.
constexpr int FLUX_LAYER = POINTS | 1;
constexpr int FLUX = NODES * FLUX_LAYER;
constexpr int BANKS = 32;
// The smallest number from `size` on that is `rest` modulo BANKS.
static __device__ __forceinline__ constexpr int padded(int size, int rest) {
    return size + ((rest - size) % BANKS + BANKS) % BANKS;
}
constexpr int FACE_REST = NODES % 2 == 1 ? SQUARE : NODES + 1;
// Offsets of the tables.
constexpr int VALUES_AT = 0;
constexpr int BACK_AT = SQUARE;
constexpr int SLOPE_BACK_AT = 2 * SQUARE;
constexpr int SLOPE_AT = 3 * SQUARE;
constexpr int LIFT_BACK_AT = 4 * SQUARE;
constexpr int LIFT_AT = LIFT_BACK_AT + 2 * NODES;
constexpr int ENDS_AT = LIFT_AT + 2 * NODES;
constexpr int LINES = ENDS_AT + 2 * NODES;  // tables of the line
constexpr int INTERP_AT = LINES;
constexpr int TEST_AT = INTERP_AT + LAYER;
constexpr int SIDE_LIFT_AT = TEST_AT + 3 * LAYER;
constexpr int END_LIFT_AT = SIDE_LIFT_AT + SIDE_POINTS * TRIANGLE;
constexpr int TRACES_AT = END_LIFT_AT + END_POINTS * TRIANGLE;
constexpr int INTEGRAL_AT = TRACES_AT + (SIDE_POINTS + END_POINTS) * TRIANGLE;
constexpr int ONE_AT = INTEGRAL_AT + NP;
// Size per element of [end][field][function of the triangle].
constexpr int END = 2 * FIELDS * TRIANGLE;

static __device__ const unsigned short face_place[NF] = FACE_PLACE;

template <int FIELD>
static __device__ __forceinline__ void put(real* to, const real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) to[k * FIELD] = x[k];
}

// x += Σ_m row[m ROW] times the numbers at `from`, [field][m], with the stride `FIELD` between fields and
// `STEP` between summands.
template <int COUNT, int ROW, int FIELD, int STEP>
static __device__ __forceinline__ void add_row(const real* row, const real* from, real (&x)[FIELDS]) {
#pragma unroll 8
    for (int m = 0; m < COUNT; ++m) {
        const real c = row[m * ROW];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] += c * from[k * FIELD + m * STEP];
    }
}

// The `r`-th row of a thread; the last one again if there is none.
static __device__ __forceinline__ u32 row_of(u32 first, u32 r) {
    const u32 row = first + r * GROUPS;
    return GROUPS * GROUP == TRIANGLE || row < TRIANGLE ? row : TRIANGLE - 1;
}

// As `add_row`, for the rows of a thread of a matrix [m][row].
template <int COUNT, int FIELD>
static __device__ __forceinline__ void add_rows(const real* matrix, u32 first, const real* from, real (&x)[GROUP][FIELDS]) {
#pragma unroll 4
    for (int m = 0; m < COUNT; ++m) {
        real v[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) v[k] = from[k * FIELD + m];
#pragma unroll
        for (u32 r = 0; r < GROUP; ++r) {
            const real c = matrix[m * TRIANGLE + row_of(first, r)];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) x[r][k] += c * v[k];
        }
    }
}

template <int FIELD>
static __device__ __forceinline__ void put_rows(real* to, u32 first, const real (&x)[GROUP][FIELDS]) {
#pragma unroll
    for (u32 r = 0; r < GROUP; ++r)
        if (GROUPS * GROUP == TRIANGLE || first + r * GROUPS < TRIANGLE) put<FIELD>(to + first + r * GROUPS, x[r]);
}

static __device__ __forceinline__ void clear(real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] = 0;
}

static __device__ __forceinline__ void clear_rows(real (&x)[GROUP][FIELDS]) {
#pragma unroll
    for (u32 r = 0; r < GROUP; ++r) clear(x[r]);
}

// Computes lifts from the points of both ends of `n` elements, `END` numbers each, with the last threads of
// the block; `faces` are the fluxes there, with the stride `FACE` between elements.
template <int FACE>
static __device__ __forceinline__ void lift_ends(u32 n, const real* lifts, const real* faces, real* to) {
    for (u32 item = THREADS - 1 - threadIdx.x; item < n * 2 * GROUPS; item += THREADS) {
        const u32 e = item / (2 * GROUPS), end = item / GROUPS % 2, group = item % GROUPS;
        real lift[GROUP][FIELDS];
        clear_rows(lift);
        add_rows<END_POINTS, NF>(lifts, group, faces + e * FACE + end * END_POINTS, lift);
        put_rows<TRIANGLE>(to + e * END + end * FIELDS * TRIANGLE, group, lift);
    }
}

// Converts `rate`, a function's row in the layers, to coefficients of the basis by the weight-adjusted rule:
// Π (1/J) of the values at the points, and the constant that restores the element's integral. `rows` and
// `rooms` are work space of the block's elements, with the strides `ROWS` and `ROOM`; the first holds FIELDS
// NP numbers, the second 3 FIELDS NQ, and `parts` 2 FIELDS TRIANGLE per element. Contains barriers; there
// must be one between the last use of these arrays and the call. The tables are read from global memory.
template <int ROWS, int ROOM>
static __device__ __forceinline__ void metric_rule(const Arguments& a, u32 first, u32 n, const real* back, const real* interp,
                                                   const real* project, const real* integral, real* rows, real* rooms,
                                                   real* parts, real (&rate)[FIELDS]) {
    constexpr u32 PARTS = TRIANGLE < 4 ? 2 * TRIANGLE : 8;  // number of parts of the sum over an element
    const u32 local = threadIdx.x / NQ, point = threadIdx.x % NQ, element = first + (local < n ? local : n - 1);
    const u32 z = point / TRIANGLE, t = point % TRIANGLE;
    const bool is_function = point < NP;
    real *mine = rows + local * ROWS, *values = rooms + local * ROOM;
    if (is_function) put<NP>(mine + point, rate);
    const real inverse = __ldg(a.inverse_jacobian + (u64)element * NQ + point);
    dg_block_sync();
    real x[FIELDS];
    clear(x);
    if (NODAL) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = mine[k * NP + point];
    } else {
        add_row<TRIANGLE, POINTS, NP, 1>(interp + point % POINTS, mine + point / POINTS * TRIANGLE, x);
    }
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) values[k * NQ + point] = x[k] * inverse;
    dg_block_sync();
    if (is_function) {
        clear(rate);
        if (NODAL) {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] = values[k * NQ + point];
        } else {
            add_row<POINTS, TRIANGLE, NQ, 1>(project + t, values + z * POINTS, rate);
        }
    }
    if (TRANSFORM) {
        real* layers = values + FIELDS * NQ;
        if (is_function) put<NP>(layers + point, rate);
        dg_block_sync();
        if (is_function) {
            clear(rate);
            add_row<NODES, 1, NP, TRIANGLE>(back + z * NODES, layers + t, rate);
        }
    }
    // With one point per function, the rule is conservative by itself.
    if (POINTS == TRIANGLE) return;
    if (is_function) put<NP>(values + 2 * FIELDS * NQ + point, rate);
    dg_block_sync();
    for (u32 item = threadIdx.x; item < n * FIELDS * PARTS; item += THREADS) {
        const u32 e = item / (FIELDS * PARTS), k = item / PARTS % FIELDS;
        const stored* w = a.weighted + (u64)(first + e) * (NP + 1);
        const real *r = rows + e * ROWS + k * NP, *v = rooms + e * ROOM + 2 * FIELDS * NQ + k * NP;
        real gained = 0, lost = 0;
        for (u32 i = item % PARTS; i < NP; i += PARTS) {
            gained += integral[i] * r[i];
            lost += __ldg(w + i) * v[i];
        }
        parts[item] = gained * __ldg(w + NP) - lost;
    }
    dg_block_sync();
    if (!is_function) return;
    const real one = integral[NP + point];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        real gain = 0;
#pragma unroll
        for (u32 i = 0; i < PARTS; ++i) gain += parts[(local * FIELDS + k) * PARTS + i];
        rate[k] += one * gain;
    }
}
