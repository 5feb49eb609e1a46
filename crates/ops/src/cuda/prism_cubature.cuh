// Prisms integrated by a cubature that is a triangle's times a line's with as many Gauss points as there are
// functions along the line. What is a matrix along lines for the basis is one for values in the layers of
// these points: states are turned into coefficients of the triangle's functions in each layer on the way in,
// and back on the way out.
//
// State is [element][field][function] (PLANAR), function (z, t) is z TRIANGLE + t; point (z, q) of the volume
// z POINTS + q. Beside the macros of common.cuh, with DIRECT = 0: NODES functions, and layers, along a line
// TRIANGLE functions of the triangle POINTS volume points of a layer END_POINTS face points of a triangle
// TRANSFORM whether functions along a line are other than those of the layers (1) NODAL volume points of a
// layer are the nodes of its functions (1) GROUP rows of a matrix for the triangle's functions that a thread
// takes ELEMENTS of a block BLOCKS blocks of a multiprocessor FACE_PLACE [face point]: points of the lower
// and of the upper triangle, then [side][layer][number] `tables` has, for the line, to the layers
// [layer][function] and back [function][layer], the sum along it of what the triangle's projection makes of
// fluxes, as functions [function][layer] and in the layers [layer][layer], lifts from both ends alike
// [end][function], [end][layer], values at both ends [end][function]; for the triangle, values at points
// [function][point], the derivatives' projections and the projection [point][function], lifts from sides
// [side, number][function] and from the points of the ends [point][function]; traces on sides
// [function][side, number] and at the points of the ends [function][point]; then ∫ φ by layer and function,
// and the coefficients of 1.
#pragma once
#include "rows.cuh"

constexpr int THREADS = ELEMENTS * NQ;
// Rows of a matrix for the triangle's functions that a thread takes: `first`, `first` + GROUPS and so on.
// Shared memory bounds the kernels, and values that are loaded serve all of them; more rows have too few
// threads.
constexpr u32 GROUPS = (TRIANGLE + GROUP - 1) / GROUP;
constexpr int SQUARE = NODES * NODES;
constexpr int LAYER = TRIANGLE * POINTS;
constexpr int SIDE_POINTS = 3 * NODES;  // of a layer
// Fluxes at volume points lie [field][layer][number], these so far apart that the points of layers, and of
// elements, are in different banks of shared memory.
constexpr int FLUX_LAYER = POINTS | 1;
constexpr int FLUX = NODES * FLUX_LAYER;
constexpr int BANKS = 32;
// `size` and what makes it `rest`, but for multiples of BANKS.
static __device__ __forceinline__ constexpr int padded(int size, int rest) {
    return size + ((rest - size) % BANKS + BANKS) % BANKS;
}
constexpr int FACE_REST = NODES % 2 == 1 ? SQUARE : NODES + 1;
// Where the tables lie.
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
// Of an element, [end][field][function of the triangle].
constexpr int END = 2 * FIELDS * TRIANGLE;

static __device__ const unsigned short face_place[NF] = FACE_PLACE;

// The unknowns of a function in the state.
static __device__ __forceinline__ void load_function(const stored* p, real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] = __ldg(p + k * NP);
}

template <int FIELD>
static __device__ __forceinline__ void put(real* to, const real (&x)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) to[k * FIELD] = x[k];
}

// x += Σ_m row[m ROW] of what lies at `from`, [field][m], with `FIELD` between fields and `STEP` between what
// is summed.
template <int COUNT, int ROW, int FIELD, int STEP>
static __device__ __forceinline__ void add_row(const real* row, const real* from, real (&x)[FIELDS]) {
#pragma unroll 8
    for (int m = 0; m < COUNT; ++m) {
        const real c = row[m * ROW];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] += c * from[k * FIELD + m * STEP];
    }
}

// The `r`-th row of a thread; the last again where there is none.
static __device__ __forceinline__ u32 row_of(u32 first, u32 r) {
    const u32 row = first + r * GROUPS;
    return GROUPS * GROUP == TRIANGLE || row < TRIANGLE ? row : TRIANGLE - 1;
}

// Likewise for the rows of a thread, of a matrix [m][row].
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

// Lifts from the points of both ends of `n` elements to `END` numbers of each, by the last threads; `faces`
// are the fluxes there, as far from one element to the next as `FACE`.
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

// `rate`, a function's row in the layers, to coefficients of the basis by the weight-adjusted rule: Π (1/J)
// of the values at the points, and the constant that restores the element's integral. `rows` and `rooms` are
// room of the block's elements, as far from one to the next as `ROWS` and `ROOM`; the first holds FIELDS NP
// numbers, the second 3 FIELDS NQ, `parts` that of 2 FIELDS TRIANGLE an element. The block meets between, and
// has met since these were read. The tables as in memory.
template <int ROWS, int ROOM>
static __device__ __forceinline__ void metric_rule(const Arguments& a, u32 first, u32 n, const real* back, const real* interp,
                                                   const real* project, const real* integral, real* rows, real* rooms,
                                                   real* parts, real (&rate)[FIELDS]) {
    constexpr u32 PARTS = TRIANGLE < 4 ? 2 * TRIANGLE : 8;  // of the sum over an element
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
    // With a point a function the rule conserves by itself.
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
