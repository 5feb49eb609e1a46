// Fused residual and stage on quadrilaterals and hexahedra with Gauss points: one thread per line.
//
// Elements are affine or curved; the basis is any one that is integrated by these points. States are planar.
// Same computation as residual.rs on the host; operators come from gauss.rs, the traces of other elements
// from gauss_traces.cu.
//
// A block processes a few elements. Values at the points are written to shared memory. Then, direction by
// direction, the thread of a line computes the contravariant fluxes at its points, sums them along the line,
// and adds the lifts of the numerical fluxes at both ends. The traces of the element are by-products of the
// sums. Macros as in gauss_lines.cuh with TRANSFORM = 1, BLOCKS per multiprocessor, STAGE, and GIVEN:
// whether unknowns without a flux are written before each evaluation.

#include "gauss_lines.cuh"

// Layout of shared memory, after a table of the states across the ends, [direction][end][thread].
constexpr int VALUE_AT = 2 * DIM * THREADS * sizeof(u64) / sizeof(real);  // [element][field][point]
constexpr int RATE_AT = VALUE_AT + ELEMENTS * FIELDS * Points::SIZE;   // [element][changing field][point]
constexpr int LAST = DIM - 1;
// Whether unknowns are carried by others, whose sums are not computed. That leaves registers.
constexpr bool CARRIED = CHANGING < FIELDS && NODES > 4;
// Points of a line whose fluxes are computed together.
constexpr int UNROLL = NODES <= 4 ? NODES : 2;
// Whether the states across both ends are loaded before the sums, and the traces computed with them. On short
// lines fewer registers are worth more.
constexpr bool AHEAD = NODES > 3;
// Whether the source is converted to values at the points.
#ifdef SOURCE
constexpr bool SOURCE_VALUES = CURVED, SOURCE_ROWS = !CURVED;
#else
constexpr bool SOURCE_VALUES = false, SOURCE_ROWS = false;
#endif

// What the stage reads at `N` entries of an unknown.
template <int N> struct Before {
    real u[N], reg[N];
    __device__ __forceinline__ void load(const Arguments& a, bool reads_register, u64 at, u32 apart) {
#pragma unroll
        for (int i = 0; i < N; ++i) {
            u[i] = STAGE ? __ldg(a.u + at + i * apart) : (real)0;
            if (reads_register) reg[i] = a.reg[at + i * apart];
        }
    }
    // Adds the source to the rates, and updates the stage.
    __device__ __forceinline__ void finish(const Arguments& a, const StageFactors& s, bool reads_register, u64 at,
                                           u32 apart, const real (&rate)[N]) {
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const real more = SOURCE_ROWS ? __ldg(a.source + at + i * apart) : (real)0;
            finish_with(a, s, at + i * apart, reads_register, reg[i], u[i], rate[i] + more);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (RATE_AT + ELEMENTS * CHANGING * Points::SIZE));
    const u32 first = blockIdx.x * ELEMENTS;  // numbered in the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const u32 local = threadIdx.x / LINES, line = threadIdx.x % LINES;
    const bool exists = local < n;
    const u32 element = first + local, slot = a.first + element;
    const u64 begin = (u64)(a.first + first) * STATE_BLOCK;
    const bool reads_register = STAGE && a.a != 0.0;
    const stored** across_ends = reinterpret_cast<const stored**>(shared) + threadIdx.x;

    // What is needed later is loaded early: what lies across the faces, and the metric of the next direction.
    FaceLink links[2 * DIM];
    real ahead[DIM];
    const auto load_ahead = [&](int d) {
        if (CURVED || !exists) return;
#pragma unroll
        for (int x = 0; x < DIM; ++x) ahead[x] = __ldg(a.metric + (u64)element * DIM * DIM + d * DIM + x);
    };
    load_ahead(LAST);
    if (exists)
#pragma unroll
        for (int side = 0; side < 2 * DIM; ++side) links[side] = link_of(a, slot, point_at[side * LINES + line] / FACE_POINTS);

    // 1. Values at the points, and where the states across the ends are.
    load_values(a.u + begin, n, shared + VALUE_AT, [&] {
        if (!exists) return;
#pragma unroll
        for (int side = 0; side < 2 * DIM; ++side) {
            const u32 point = point_at[side * LINES + line] % FACE_POINTS;
            const Across r = across(a, links[side]);
            across_ends[side * THREADS] = r.values + (r.rows ? __ldg(r.rows + point) : point * FIELDS);
        }
    });
    if (SOURCE_VALUES) {
        // With a source all unknowns change, so that each has room.
        load_values(a.source + begin, n, shared + RATE_AT);
    }

    // 2. Direction by direction: fluxes, sums along lines, lifts.
    const u32 low = DIM == 3 ? line % NODES : line, high = DIM == 3 ? line / NODES : 0;
#pragma unroll 1
    for (int pass = 0; pass < DIM; ++pass) {
        const int d = LAST - pass;
        if (pass > 0) dg_block_sync();
        if (!exists) continue;
        const u32 step = Points::step(d);
        const real* value = shared + VALUE_AT + local * FIELDS * Points::SIZE + Points::begin(d, low, high);
        real* rate = shared + RATE_AT + local * CHANGING * Points::SIZE + Points::begin(d, low, high);
        real up[2][FIELDS], um[2][FIELDS], sum[CHANGING][NODES];
        u32 q[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            q[e] = point_at[(2 * d + e) * LINES + line];
            if (AHEAD) load_row_constant(across_ends[(2 * d + e) * THREADS], up[e]);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) um[e][k] = 0;
        }
#pragma unroll
        for (int k = 0; k < CHANGING; ++k)
#pragma unroll
            for (int i = 0; i < NODES; ++i) sum[k][i] = pass > 0 || SOURCE_VALUES ? rate[k * Points::SIZE + i * step] : (real)0;
        // The node of the first point of the line, and their distance.
        const u32 apart = stride<NODES>(d);
        const u32 node = low * (d == 0 ? NODES : 1) + high * (d == 2 ? NODES : NODES * NODES);
        real g[DIM * DIM];
#pragma unroll
        for (int x = 0; x < DIM * DIM; ++x) g[x] = !CURVED && x < DIM ? ahead[x] : (real)0;
        const stored* metric = a.metric + ((u64)element * NQ + node) * DIM * DIM + d * DIM;
        real normal[2][DIM], scale[2];  // loaded before the sums, which hide the time for it
#pragma unroll
        for (int e = 0; e < (CARRIED ? 2 : 0); ++e) scale[e] = normal_at(a, element, face_at(d, e), q[e], normal[e]);
#pragma unroll UNROLL
        for (int m = 0; m < NODES; ++m) {
            real u[FIELDS], f[DIM * FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) u[k] = value[k * Points::SIZE + m * step];
            if (CURVED)
#pragma unroll
                for (int x = 0; x < DIM; ++x) g[x] = __ldg(metric + m * apart * DIM * DIM + x);
            // The flux of this direction is that of the first row.
            volume_flux(parameters, u, g, f);
#pragma unroll
            for (int e = 0; e < (AHEAD ? 2 : 0); ++e)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) um[e][k] += ends_matrix[e][m] * u[k];
#pragma unroll
            for (int i = 0; i < NODES; ++i)
#pragma unroll
                for (int k = 0; k < CHANGING; ++k) sum[k][i] += sum_matrix[m][i] * f[k];
        }
#pragma unroll 1
        for (int e = 0; e < 2; ++e) {
            real f[FIELDS], minus[FIELDS], plus[FIELDS];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                minus[k] = e == 0 ? um[0][k] : um[1][k];
                plus[k] = e == 0 ? up[0][k] : up[1][k];
            }
            if (!AHEAD) {
                load_row_constant(across_ends[(2 * d + e) * THREADS], plus);
#pragma unroll
                for (int m = 0; m < NODES; ++m)
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) minus[k] += ends_matrix[e][m] * value[k * Points::SIZE + m * step];
            }
            const u32 at = e == 0 ? q[0] : q[1];
            if (CARRIED) {
                real own[DIM];
#pragma unroll
                for (int x = 0; x < DIM; ++x) own[x] = e == 0 ? normal[0][x] : normal[1][x];
                scaled_flux(parameters, minus, plus, own, e == 0 ? scale[0] : scale[1], f);
            } else {
                face_flux(a, parameters, element, at / FACE_POINTS, at, minus, plus, f);
            }
#pragma unroll
            for (int i = 0; i < NODES; ++i)
#pragma unroll
                for (int k = 0; k < CHANGING; ++k) sum[k][i] -= lift_matrix[e][i] * f[k];
        }
        if (pass < LAST) {
            load_ahead(d - 1);
#pragma unroll
            for (int k = 0; k < CHANGING; ++k)
#pragma unroll
                for (int i = 0; i < NODES; ++i) rate[k * Points::SIZE + i * step] = sum[k][i];
            continue;
        }
        if (CURVED)
#pragma unroll
            for (int i = 0; i < NODES; ++i) {
                const real scale = __ldg(a.inverse_jacobian + (u64)element * NQ + node + i * apart);
#pragma unroll
                for (int k = 0; k < CHANGING; ++k) sum[k][i] *= scale;
            }
#pragma unroll
        for (int k = 0; k < CHANGING; ++k) {
            real back[FUNCTIONS];
            multiply(back_matrix, sum[k], back);
            store_line<0>(rate + k * Points::SIZE, back);
        }
    }

    // 3. Back to coefficients, and the stage; see `finish`.
    constexpr u32 ROUNDS = (ELEMENTS * CHANGING * Line<LAST>::ALL + THREADS - 1) / THREADS;
    constexpr u32 TOGETHER = at_once(ROUNDS, 2 * FUNCTIONS, 48);
    constexpr u32 APART = stride<FUNCTIONS>(LAST);
    const u32 count = n * CHANGING * Line<LAST>::ALL;
    const auto at = [&](const Line<LAST>& line) {
        return begin + (u64)(line.unknown / CHANGING) * STATE_BLOCK + line.unknown % CHANGING * NP + line.coefficient();
    };
    dg_block_sync();
    if (DIM == 3) along<1>(back_matrix, shared + RATE_AT, n * CHANGING);
#pragma unroll 1
    for (u32 round = 0; round < ROUNDS; round += TOGETHER) {
        Before<FUNCTIONS> before[TOGETHER];
#pragma unroll
        for (int t = 0; t < TOGETHER; ++t) {
            const u32 item = threadIdx.x + (round + t) * THREADS;
            if (item < count) before[t].load(a, reads_register, at(Line<LAST>(item)), APART);
        }
        if (DIM == 3 && round == 0) dg_block_sync();
#pragma unroll
        for (int t = 0; t < TOGETHER; ++t) {
            const u32 item = threadIdx.x + (round + t) * THREADS;
            if (item >= count) continue;
            const Line<LAST> line(item);
            real in[NODES], out[FUNCTIONS];
            load_line<LAST>(shared + RATE_AT + line.place(), in);
            multiply(back_matrix, in, out);
            const StageFactors s = stage_factors(a, a.first + first + line.unknown / CHANGING);
            before[t].finish(a, s, reads_register, at(line), APART, out);
        }
    }
    // The others have the rate zero. So is their part of the register, which is not read. Stages do not write
    // those that are given anew.
    constexpr u32 REST = STAGE && GIVEN ? 0 : (FIELDS - CHANGING) * NP;
    if (REST > 0)
        for (u32 i = threadIdx.x; i < n * REST; i += THREADS) {
            const u64 at = begin + (u64)(i / REST) * STATE_BLOCK + CHANGING * NP + i % REST;
            real x = STAGE ? __ldg(a.u + at) : (real)0;
            if (STAGE && a.b != 0.0) x = (real)a.b * __ldg(a.start + at) + (real)(1.0 - a.b) * x;
            a.out[at] = x;
            if (STAGE && a.keep && !reads_register) a.reg[at] = 0;
        }
}
