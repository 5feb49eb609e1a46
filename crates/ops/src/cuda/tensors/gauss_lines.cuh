// Quadrilaterals and hexahedra integrated by Gauss points, one thread per line of points: the lines of an
// element, and its 1-D operators.
//
// An operator along a line multiplies numbers in registers by entries of constant memory, so that shared
// memory is read and written once for each number, direction and operator. Coefficients
// are converted to values at the points direction by direction, the slowest first, and residuals back in the
// opposite order. Thus, while lines of direction d are converted, the lower directions have functions, the
// higher ones points.
//
// Macros beside those of common.cuh, with DIRECT = 0:
// - NODES: points along a line
// - FUNCTIONS: basis functions along a line
// - ELEMENTS: elements of a block
// - THREADS of a block
// - TRANSFORM: whether coefficients differ from values at the points
// - CHANGING: number of the first unknowns; the fluxes of the others are zero
// - POINT_AT: [2 direction + end][number of the line], the face point at the end of a line; lines are
//   numbered by their other directions, the faster first
// - PLACE: [face point], the inverse of POINT_AT
// - VALUES, BACK: [point][function] and [function][point], to values and back
// - SUM: [point][point], the sum of fluxes along a line, transposed
// - ENDS, LIFT: [end][point], the values at the ends, and the lifts from there
// - TRACES: [end][function], ENDS VALUES
#pragma once
#include "rows.cuh"

#define EQUAL_FACES 1
constexpr int FACE_POINTS = NF / FACES;
constexpr int LINES = FACE_POINTS;  // lines of one direction
constexpr unsigned short POINTS_AT_ENDS[2 * DIM * LINES] = POINT_AT;
static __device__ const unsigned short point_at[2 * DIM * LINES] = POINT_AT;
static __device__ const unsigned short face_place[NF] = PLACE;
__constant__ real values_matrix[NODES][FUNCTIONS] = VALUES;
__constant__ real back_matrix[FUNCTIONS][NODES] = BACK;
__constant__ real sum_matrix[NODES][NODES] = SUM;
__constant__ real ends_matrix[2][NODES] = ENDS;
__constant__ real lift_matrix[2][NODES] = LIFT;
__constant__ real traces_matrix[2][FUNCTIONS] = TRACES;

// The face at end e of the lines of direction d.
static __device__ __forceinline__ constexpr u32 face_at(int d, int e) {
    u32 face = 0;
#pragma unroll
    for (int i = 0; i < DIM; ++i)
        if (i == d) face = POINTS_AT_ENDS[(2 * i + e) * LINES] / FACE_POINTS;
    return face;
}

// One unknown of an element in shared memory: rows of an odd length, against bank conflicts, but for large
// elements of 10, 14, ... points a line, where the fewer conflicts along other directions make up for those
// along rows, and more blocks fit.
template <int N> struct Grid {
    static constexpr u32 ROW = N >= 10 && N % 4 == 2 ? N : N | 1;
    static constexpr u32 PLANE = N * ROW;
    static constexpr u32 SIZE = DIM == 3 ? N * PLANE : PLANE;
    static __device__ __forceinline__ constexpr u32 step(int d) { return d == 0 ? 1 : d == 1 ? ROW : PLANE; }
    // The first place of the line of direction d at `low` and `high` in the other directions.
    static __device__ __forceinline__ constexpr u32 begin(int d, u32 low, u32 high) {
        return low * (d == 0 ? ROW : 1) + high * (d == 2 ? ROW : PLANE);
    }
    // The place of number `i` of N^DIM.
    static __device__ __forceinline__ constexpr u32 place(u32 i) {
        return i % N + i / N % N * ROW + (DIM == 3 ? i / (N * N) * PLANE : 0);
    }
};
typedef Grid<NODES> Points;
// One unknown on a face in shared memory.
constexpr u32 FACE_ROW = NODES | 1;
constexpr u32 FACE_SIZE = DIM == 3 ? NODES * FACE_ROW : FACE_ROW;

// The lines of direction d while they are converted: their number along the lower of the other directions,
// and in all.
static __device__ __forceinline__ constexpr u32 low_lines(int d) { return d == 0 ? NODES : FUNCTIONS; }
static __device__ __forceinline__ constexpr u32 lines_of(int d) {
    return low_lines(d) * (DIM == 2 ? 1 : d == 2 ? FUNCTIONS : NODES);
}

// Stride of direction d in memory, for N numbers along a line.
template <int N> static __device__ __forceinline__ constexpr u32 stride(int d) {
    return d == 0 ? 1 : d == 1 ? N : N * N;
}

// The number of `rounds` that are worked on together, of `each` numbers, at most `most`; the rounds are a
// multiple of it or less.
static __device__ __forceinline__ constexpr u32 at_once(u32 rounds, u32 each, u32 most) {
    const u32 can = most / each > 1 ? most / each : 1;
    const u32 chunks = (rounds + can - 1) / can;
    return (rounds + chunks - 1) / chunks;
}

// Multiplies a line by a matrix.
template <int ROWS, int COLUMNS>
static __device__ __forceinline__ void multiply(const real (&matrix)[ROWS][COLUMNS], const real (&x)[COLUMNS],
                                                real (&y)[ROWS]) {
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        y[i] = 0;
#pragma unroll
        for (int m = 0; m < COLUMNS; ++m) y[i] += matrix[i][m] * x[m];
    }
}

template <int d, int N> static __device__ __forceinline__ void load_line(const real* x, real (&in)[N]) {
#pragma unroll
    for (int m = 0; m < N; ++m) in[m] = x[m * Points::step(d)];
}

template <int d, int N> static __device__ __forceinline__ void store_line(real* x, const real (&out)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) x[i * Points::step(d)] = out[i];
}

// A line of direction d while lines are converted, by its number in a block.
template <int d> struct Line {
    static constexpr u32 ALL = lines_of(d), LOW = low_lines(d);
    u32 unknown, low, high;
    __device__ __forceinline__ explicit Line(u32 item) : unknown(item / ALL), low(item % ALL % LOW), high(item % ALL / LOW) {}
    __device__ __forceinline__ u32 place() const { return unknown * Points::SIZE + Points::begin(d, low, high); }
    // The first coefficient, planar; d is the last direction.
    __device__ __forceinline__ u32 coefficient() const { return low + high * FUNCTIONS; }
    // The first coefficient among the states of the block, and the distance of the others.
    static constexpr u32 APART = stride<FUNCTIONS>(d) * ROW_STRIDE;
    __device__ __forceinline__ u32 first() const {
        return PLANAR ? unknown * NP + coefficient() : unknown / FIELDS * STATE_BLOCK + coefficient() * FIELDS + unknown % FIELDS;
    }
};

// The unknown, numbered in the block, and the basis function of entry `i` of the states of a block.
static __device__ __forceinline__ u32 number_of(u32 i) { return PLANAR ? i / NP : i / (FIELDS * NP) * FIELDS + i % FIELDS; }
static __device__ __forceinline__ u32 function_of(u32 i) { return PLANAR ? i % NP : i / FIELDS % NP; }

// Multiplies the lines of direction d of `count` unknowns by a matrix, in place.
template <int d, int ROWS, int COLUMNS>
static __device__ __forceinline__ void along(const real (&matrix)[ROWS][COLUMNS], real* shared, u32 count) {
    for (u32 item = threadIdx.x; item < count * Line<d>::ALL; item += THREADS) {
        real* x = shared + Line<d>(item).place();
        real in[COLUMNS], out[ROWS];
        load_line<d>(x, in);
        multiply(matrix, in, out);
        store_line<d>(x, out);
    }
}

// Multiplies `count` lines of faces by a matrix, in place: line `i` begins at `begin(i)`, its numbers are
// `step` apart.
template <int ROWS, int COLUMNS, class Begin>
static __device__ __forceinline__ void convert(const real (&matrix)[ROWS][COLUMNS], real* faces, u32 count, u32 step,
                                               const Begin& begin) {
    for (u32 item = threadIdx.x; item < count; item += THREADS) {
        real* x = faces + begin(item);
        real in[COLUMNS], out[ROWS];
#pragma unroll
        for (int m = 0; m < COLUMNS; ++m) in[m] = x[m * step];
        multiply(matrix, in, out);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) x[i * step] = out[i];
    }
}

// Loads the unknowns of `n` elements, `from` on, as values at the points, and calls `meanwhile` when they
// have arrived. Ends with a barrier.
template <class Meanwhile>
static __device__ __forceinline__ void load_values(const stored* from, u32 n, real* shared, const Meanwhile& meanwhile) {
    constexpr int LAST = DIM - 1;
    if (!TRANSFORM) {
        meanwhile();
        for (u32 i = threadIdx.x; i < n * FIELDS * NP; i += THREADS)
            shared[number_of(i) * Points::SIZE + Points::place(function_of(i))] = __ldg(from + i);
        dg_block_sync();
        return;
    }
    // Several lines are loaded before the first is converted.
    constexpr u32 ROUNDS = (ELEMENTS * FIELDS * Line<LAST>::ALL + THREADS - 1) / THREADS;
    constexpr u32 TOGETHER = at_once(ROUNDS, FUNCTIONS, 32);
    const u32 count = n * FIELDS * Line<LAST>::ALL;
#pragma unroll 1
    for (u32 round = 0; round < ROUNDS; round += TOGETHER) {
        real in[TOGETHER][FUNCTIONS], out[NODES];
#pragma unroll
        for (int t = 0; t < TOGETHER; ++t) {
            const u32 item = threadIdx.x + (round + t) * THREADS;
            if (item >= count) continue;
            const Line<LAST> line(item);
            const stored* p = from + line.first();
#pragma unroll
            for (int m = 0; m < FUNCTIONS; ++m) in[t][m] = __ldg(p + m * line.APART);
        }
#pragma unroll
        for (int t = 0; t < TOGETHER; ++t) {
            const u32 item = threadIdx.x + (round + t) * THREADS;
            if (item >= count) continue;
            multiply(values_matrix, in[t], out);
            store_line<LAST>(shared + Line<LAST>(item).place(), out);
        }
    }
    meanwhile();
    dg_block_sync();
    if (DIM == 3) {
        along<1>(values_matrix, shared, n * FIELDS);
        dg_block_sync();
    }
    along<0>(values_matrix, shared, n * FIELDS);
    dg_block_sync();
}

static __device__ __forceinline__ void load_values(const stored* from, u32 n, real* shared) {
    load_values(from, n, shared, [] {});
}
