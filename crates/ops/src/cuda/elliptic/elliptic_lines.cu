// A u of the interior penalty method on quadrilaterals and hexahedra: one thread per line of Gauss nodes.
//
// One kernel processes one direction after the other. The formulas are in elliptic/device/grids.rs.
//
// A block processes ELEMENTS elements, with a thread for each of their lines of one direction. In shared
// memory, the lines of the first direction have an odd distance, so that threads access different banks.
//
// Macros defined by the host: DIM, LINE_NODES (nodes of a line), PER_POINT, SKEW, REACTION, ELEMENTS,
// THREADS; and the lists DERIVATIVE [q][i], END_VALUE and END_SLOPE [i], WEIGHTS [i].
#include "device.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

constexpr int LINES = DIM == 2 ? LINE_NODES : LINE_NODES * LINE_NODES, NP = LINE_NODES * LINES, ROW = LINE_NODES | 1, SPACE = ROW * LINES;
constexpr int ENTRIES = DIM * (DIM + 1) / 2 + REACTION, WIDTH = 3 + (SKEW ? 2 * (DIM - 1) : 0);
constexpr int TANGENTS = DIM - 1, POINTS = PER_POINT ? NP : 1, FACE_ROWS = PER_POINT ? LINES : 1;
constexpr u32 OPPOSITE = 1u << 30, NOTHING = 1u << 31;
// Numbers of the faces of an element in shared memory: for each side and line TANGENTS + 2, or 2 TANGENTS.
constexpr int OF_SIDE = PER_POINT ? 2 + TANGENTS : 2 * TANGENTS, OF_FACES = SKEW ? 2 * DIM * OF_SIDE * LINES : 0;

struct Arguments {
    const real* metric;
    const real* faces;
    const u32* sides;
    const int* walks;
    u32 n_elements, padding;
    u64 copied, n_copied;
};

static __device__ const real derivative[LINE_NODES][LINE_NODES] = DERIVATIVE;
static __device__ const real end_value[LINE_NODES] = END_VALUE;
static __device__ const real end_slope[LINE_NODES] = END_SLOPE;
static __device__ const real weights[LINE_NODES] = WEIGHTS;

// Index in shared memory of the first node of a line of direction d, and the stride between its nodes.
DG_DEVICE u32 first_of(int d, u32 line) {
    if (DIM == 2) return d == 0 ? line * ROW : line;
    const u32 a = line % LINE_NODES, b = line / LINE_NODES;
    return d == 0 ? (a + b * LINE_NODES) * ROW : d == 1 ? a + b * LINE_NODES * ROW : a + b * ROW;
}
DG_DEVICE constexpr u32 way(int d) { return d == 0 ? 1 : d == 1 ? ROW : ROW * LINE_NODES; }

extern "C" __global__ void __launch_bounds__(THREADS)
    elliptic_lines(const Arguments a, const real* __restrict__ u, real* __restrict__ au) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * ELEMENTS * (DIM * SPACE + OF_FACES));
    const u32 first = blockIdx.x * ELEMENTS, n = min(a.n_elements - first, (u32)ELEMENTS);
    const u32 local = threadIdx.x / LINES, line = threadIdx.x % LINES;
    const bool busy = local < n;
    const u32 e = first + (busy ? local : 0);
    real* const own = shared + (busy ? local : 0) * DIM * SPACE;
    real* const slopes = own + SPACE;
    real* const of_faces = shared + ELEMENTS * DIM * SPACE + (busy ? local : 0) * OF_FACES;
    // Weight of the line's other directions, if coefficients are not weighted.
    const real line_weight = PER_POINT ? real(1) : DIM == 2 ? weights[line] : weights[line % LINE_NODES] * weights[line / LINE_NODES];
    dg_wait_for_kernels_before();
    for (u64 i = blockIdx.x * THREADS + threadIdx.x; i < a.n_copied; i += (u64)gridDim.x * THREADS)
        au[a.copied + i] = u[a.copied + i];

    real last[LINE_NODES];
    if (busy) {
#pragma unroll
        for (int i = 0; i < LINE_NODES; ++i) {
            last[i] = dg_load(u + (u64)e * NP + line + LINES * i);
            own[first_of(DIM - 1, line) + i * way(DIM - 1)] = last[i];
        }
    }
    dg_block_sync();

    // The face terms, tested by values (y) and by inward slopes (z). `along_last` holds slopes, then fluxes
    // along the line of the last direction, which no other thread needs.
    real y[DIM][2], z[DIM][2], along_last[LINE_NODES];
    if (busy) {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            const u32 begin = first_of(d, line);
            real v[LINE_NODES];
#pragma unroll
            for (int i = 0; i < LINE_NODES; ++i) v[i] = d == DIM - 1 ? last[i] : own[begin + i * way(d)];
#pragma unroll
            for (int q = 0; q < LINE_NODES; ++q) {
                real sum = 0;
#pragma unroll
                for (int i = 0; i < LINE_NODES; ++i) sum += derivative[q][i] * v[i];
                if (d == DIM - 1) {
                    along_last[q] = sum;
                } else {
                    slopes[d * SPACE + begin + q * way(d)] = sum;
                }
            }
#pragma unroll
            for (int end = 0; end < 2; ++end) {
                const int side = 2 * d + end;
                const u32* const across = a.sides + 2 * (e * 2 * DIM + side);
                const u32 neighbour = dg_load(across), code = dg_load(across + 1);
                const int* const walk = a.walks + 4 * (code & (OPPOSITE - 1));
                const int start = dg_load(walk) + (int)(line % LINE_NODES) * dg_load(walk + 1) + (DIM == 3 ? (int)(line / LINE_NODES) * dg_load(walk + 2) : 0);
                const int step = dg_load(walk + 3);
                const real* const other = u + (u64)neighbour * NP + start;
                real minus = 0, slope = 0, plus = 0, slope_plus = 0;
#pragma unroll
                for (int i = 0; i < LINE_NODES; ++i) {
                    const real x = dg_load(other + i * step);
                    plus += end_value[i] * x;
                    slope_plus += end_slope[i] * x;
                    minus += end_value[i] * v[end ? LINE_NODES - 1 - i : i];
                    slope += end_slope[i] * v[end ? LINE_NODES - 1 - i : i];
                }
                const real sign = code & OPPOSITE ? real(-1) : code & NOTHING ? real(0) : real(1);
                plus *= sign;
                const real* const c = a.faces + ((u64)(e * 2 * DIM + side) * FACE_ROWS + (PER_POINT ? line : 0)) * WIDTH;
                const real jump = minus - plus, b = dg_load(c + 1);
                y[d][end] = line_weight * (dg_load(c) * jump - real(0.5) * (b * slope - dg_load(c + 2) * sign * slope_plus));
                z[d][end] = line_weight * real(-0.5) * b * jump;
                if (SKEW) {
                    real* const to = of_faces + side * OF_SIDE * LINES + line;
                    if (PER_POINT) {
                        to[0] = minus;
                        to[LINES] = plus;
                    }
#pragma unroll
                    for (int m = 0; m < TANGENTS; ++m) {
                        const real along = dg_load(c + 3 + m);
                        if (!PER_POINT) to[m * LINES] = real(-0.5) * (along * minus - dg_load(c + 3 + TANGENTS + m) * plus);
                        to[((PER_POINT ? 2 : TANGENTS) + m) * LINES] = line_weight * real(-0.5) * along * jump;
                    }
                }
            }
        }
    }
    dg_block_sync();

    real reaction[LINE_NODES];
    if (busy) {
#pragma unroll
        for (int i = 0; i < LINE_NODES; ++i) {
            real* const x = slopes + first_of(DIM - 1, line) + i * way(DIM - 1);
            const real* const g = a.metric + ((u64)e * POINTS + (PER_POINT ? line + LINES * i : 0)) * ENTRIES;
            const real w = PER_POINT ? real(1) : line_weight * weights[i];
            real slope[DIM];
#pragma unroll
            for (int d = 0; d < DIM; ++d) slope[d] = w * (d == DIM - 1 ? along_last[i] : x[d * SPACE]);
#pragma unroll
            for (int d = 0; d < DIM; ++d) {
                real sum = 0;
#pragma unroll
                for (int m = 0; m < DIM; ++m) {
                    const int low = d < m ? d : m, high = d < m ? m : d;
                    sum += dg_load(g + low * DIM - low * (low - 1) / 2 + high - low) * slope[m];
                }
                if (d == DIM - 1) {
                    along_last[i] = sum;
                } else {
                    x[d * SPACE] = sum;
                }
            }
            if (REACTION) reaction[i] = w * dg_load(g + ENTRIES - 1) * last[i];
        }
    }
    if (SKEW && busy) {
        // Derivatives along the side, and the terms that they test.
#pragma unroll
        for (int side = 0; side < 2 * DIM; ++side) {
            const real* const from = of_faces + side * OF_SIDE * LINES;
            const real* const c = a.faces + ((u64)(e * 2 * DIM + side) * FACE_ROWS + (PER_POINT ? line : 0)) * WIDTH + 3;
            real sum = 0;
#pragma unroll
            for (int m = 0; m < TANGENTS; ++m) {
                const u32 stride = m == 0 ? 1 : LINE_NODES, begin = m == 0 ? line / LINE_NODES * LINE_NODES : line % LINE_NODES;
                const u32 place = m == 0 ? line % LINE_NODES : line / LINE_NODES;
                const real* const tested = from + ((PER_POINT ? 2 : TANGENTS) + m) * LINES + begin;
                real minus = 0, plus = 0;
#pragma unroll
                for (int i = 0; i < LINE_NODES; ++i) {
                    const real here = derivative[place][i];
                    if (PER_POINT) {
                        minus += here * from[begin + i * stride];
                        plus += here * from[LINES + begin + i * stride];
                    } else {
                        minus += here * from[m * LINES + begin + i * stride];
                    }
                    sum += derivative[i][place] * tested[i * stride];
                }
                sum += PER_POINT ? real(-0.5) * (dg_load(c + m) * minus - dg_load(c + TANGENTS + m) * plus) : line_weight * minus;
            }
            y[side / 2][side % 2] += sum;
        }
    }
    dg_block_sync();

    if (busy) {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            real* const x = slopes + d * SPACE + first_of(d, line);
            real f[LINE_NODES];
#pragma unroll
            for (int q = 0; q < LINE_NODES; ++q) f[q] = d == DIM - 1 ? along_last[q] : x[q * way(d)];
#pragma unroll
            for (int i = 0; i < LINE_NODES; ++i) {
                real sum = end_value[i] * y[d][0] + end_slope[i] * z[d][0] + end_value[LINE_NODES - 1 - i] * y[d][1] +
                           end_slope[LINE_NODES - 1 - i] * z[d][1];
#pragma unroll
                for (int q = 0; q < LINE_NODES; ++q) sum += derivative[q][i] * f[q];
                if (d == DIM - 1) {
                    last[i] = sum;
                } else {
                    x[i * way(d)] = sum;
                }
            }
        }
    }
    dg_block_sync();
    if (busy) {
#pragma unroll
        for (int i = 0; i < LINE_NODES; ++i) {
            const u32 at = first_of(DIM - 1, line) + i * way(DIM - 1);
            real sum = last[i];
#pragma unroll
            for (int d = 0; d < DIM - 1; ++d) sum += slopes[d * SPACE + at];
            if (REACTION) sum += reaction[i];
            au[(u64)e * NP + line + LINES * i] = sum;
        }
    }
}
