// Fused residual and stage on nodal triangles and tetrahedra, on tensor cores: one warp per eight elements.
//
// Elements are affine or curved. The arithmetic is in double precision; arrays in memory have the type
// `stored`. Same computation as residual.rs on the host; operators come from fragments.rs.
//
// A warp processes groups of eight elements, one after the other; a block runs as long as there is work.
// States of a group are copied to shared memory while the previous group is computed. All intermediate
// results from interpolation to lift stay in registers, see fragments.cuh. The state is
// [element][node][field] (LANES = 1). There is one set of metric terms for each element or, if curved, for
// each point; curved elements of geometry order 2 have the derivatives of their maps instead, which are
// loaded with the state. The weight-adjusted rule interpolates the residual to the points and projects it,
// two unknowns at a time.
//
// Macros beside those of common.cuh, with DIRECT = 1 (`rows` and `own` are rows of face nodes, in the face's
// frame):
// - RULE: 0 affine, 1 collocated, 2 weight-adjusted
// - FACE_NODES, FACE_POINTS: of one face; equal if FACE_INTERP is 0: face points are the nodes
// - FACE_INTERP: face points are interpolated from face nodes
// - CODES: number of tables of rows
// - WARPS, BLOCKS: warps of a block, blocks per multiprocessor
// - KEEP: states stay in registers (1), or are read again from shared memory (0)
// - BUFFERS: memory for the states of this many groups; without KEEP, 2 to copy one group ahead
// - AHEAD: registers of the stage are copied ahead, too
// - PREFETCH: data that are not copied ahead are prefetched into the second-level cache
// - FACE_UNROLL: number of faces whose arithmetic is interleaved
// - NORMALS: read (0), or computed from the metric (1); affine or QUADRATIC
// - QUADRATIC: metric terms are computed from derivatives of the map (1), see quadratic.cuh; weight-adjusted
// - REFERENCE_NORMALS: { N̂ of each face }
// - SMALL: the stage of a small mesh: a warp has one group, points of boundaries are processed here, and the
//   kernel is launched while the previous one runs
// - RUNS: number of runs of boundary points, for SMALL
// - SHARED_TABLES: entries of `tables` that are copied to shared memory; projections, the last, may be left
//   out
//
// `u`, `reg`, `start`, `out`, and slot `first` in them, are aligned to 16 bytes.

constexpr int STATE_STEPS = fragment_steps(NP), STATE_TILES = fragment_tiles(NP);
constexpr int POINT_STEPS = fragment_steps(NQ), POINT_TILES = fragment_tiles(NQ);
constexpr int NODE_STEPS = fragment_steps(FACE_NODES);
constexpr int TRACE_STEPS = fragment_steps(FACE_POINTS), TRACE_TILES = fragment_tiles(FACE_POINTS);
// Offsets of the operators in `tables`, in the order of fragments.rs.
constexpr int INTERP_AT = 0;                                                    // [tile][step]
constexpr int FACE_AT = INTERP_AT + (COLLOCATED ? 0 : POINT_TILES * STATE_STEPS * 32);  // [tile][step]
constexpr int LIFT_AT = FACE_AT + (FACE_INTERP ? TRACE_TILES * NODE_STEPS * 32 : 0);    // [face][step][tile]
constexpr bool WEIGHTED = RULE == 2;
constexpr int ADJUST_AT = LIFT_AT + FACES * TRACE_STEPS * STATE_TILES * 32;     // Π, [step][tile]; weight-adjusted
constexpr int INTEGRAL_AT = ADJUST_AT + (WEIGHTED ? POINT_STEPS * STATE_TILES * 32 : 0);  // ∫ φ, [row]
constexpr int ONE_AT = INTEGRAL_AT + (WEIGHTED ? NP : 0);                       // coefficients of the constant 1, [row]
constexpr int PLACES_AT = ONE_AT + (WEIGHTED ? NP : 0);                         // [volume point, then face point][direction]
constexpr int PLACES = (NQ + NF) * DIM;
constexpr int PROJECT_AT = PLACES_AT + (WEIGHTED ? PLACES + PLACES % 2 : 0);    // [step][tile][direction]

constexpr int GROUP = 8;                      // elements of a warp
constexpr int GROUP_STATE = GROUP * STATE_BLOCK;
// Results go through shared memory if a row is not a whole number of pairs.
constexpr bool STAGED = FIELDS % 2 != 0;
constexpr bool STATE_AHEAD = KEEP || BUFFERS > 1;
constexpr int BEYOND = BUFFERS * GROUP_STATE;  // offset of the memory after the states
// offset of the elements' records
constexpr int RECORDS = BEYOND + (AHEAD || (STAGED && KEEP) ? GROUP_STATE : 0);
#if QUADRATIC
constexpr int GROUP_RECORDS = GROUP * RECORD;
constexpr int SCALES = RECORDS + (STATE_AHEAD ? 2 : 1) * GROUP_RECORDS;  // 1/J, [step][lane]
constexpr int WARP_SPACE = SCALES + POINT_STEPS * 32;
#else
constexpr int WARP_SPACE = RECORDS;
#endif

// Starts to copy `n` scalars (at most `most`); an odd one at the end is copied at once.
template <int most> static __device__ __forceinline__ void fetch(stored* to, const stored* from, u32 n, u32 lane) {
    const u32 pairs = n / 2;
#pragma unroll
    for (int i = 0; i < (most / 2 + 31) / 32; ++i) {
        const u32 p = i * 32 + lane;
        if (p >= pairs) continue;
        if (sizeof(stored) == 8) dg_cp_async16(to + 2 * p, from + 2 * p);
        else dg_cp_async8(to + 2 * p, from + 2 * p);
    }
    if (n % 2 && lane == 0) to[2 * pairs] = from[2 * pairs];
}

// Loads metric terms at a point, in pairs if their number is even.
static __device__ __forceinline__ void point_metric(const Arguments& a, u32 element, u32 q, real (&g)[DIM * DIM]) {
    if (DIM != 2) return metric_at(a, element, q, g);
    const pair* p = reinterpret_cast<const pair*>(a.metric + ((u64)element * NQ + q) * DIM * DIM);
#pragma unroll
    for (int i = 0; i < DIM * DIM / 2; ++i) {
        const pair x = __ldg(p + i);
        g[2 * i] = x.x;
        g[2 * i + 1] = x.y;
    }
}

constexpr bool SCALES_HERE = QUADRATIC;
#include "weight_adjusted.cuh"

#if SMALL
// The time of the stage, and the runs of all boundaries. Mirrored by `OwnBoundaries` in arguments.rs.
struct OwnBoundaries {
    const BoundaryRun* runs;
    const Clock* clock;
    double time, part, share;
};

// Processes the boundary points of `n` elements from `slot` on, whose states are at `state`, like the kernel
// in boundary.cu. Each lane examines one face; then all lanes share the points of the faces found.
static __device__ __forceinline__ void boundary_points(const Arguments& a, const OwnBoundaries& own,
                                                       const BoundaryRun* runs, const Parameters& parameters,
                                                       const u32* own_rows, const stored* state, u32 slot, u32 n) {
    static_assert(GROUP * FACES <= 32, "a lane has at most one face");
    const u32 lane = threadIdx.x & 31;
    const u64 at = (u64)slot * FACES + lane;
    const bool outside = lane < n * FACES && __ldg(a.code + at) == EXTERIOR;
    const u32 first = outside ? __ldg(a.across + at) : 0;
    const u32 found = dg_ballot(outside), points = __popc(found) * FACE_POINTS;
    if (found == 0) return;
#pragma unroll 1
    for (u32 base = 0; base < points; base += 32) {
        const u32 i = base + lane, point = i % FACE_POINTS;
        u32 rest = found;
        for (u32 k = 0; k < i / FACE_POINTS; ++k) rest &= rest - 1;
        const u32 from = rest ? __ffs((int)rest) - 1 : 0, begin = dg_shuffle(first, from);
        if (i >= points) continue;
        const u32* rows = own_rows + from % FACES * FACE_NODES;
        const stored* u = state + from / FACES * STATE_BLOCK;
        u32 r = 0;
        u64 q = 0;
#pragma unroll 1
        for (; r < RUNS; ++r) {
            q = (u64)(a.exterior + begin - runs[r].exterior) / FIELDS + point;
            if (q < runs[r].count) break;
        }
        if (r == RUNS) continue;
        real um[FIELDS], up[FIELDS];
        if (FACE_INTERP) {
            const stored* w = runs[r].weights + point * FACE_NODES;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) um[k] = 0;
#pragma unroll
            for (int m = 0; m < 4 * fragment_steps(FACE_NODES); ++m) {
                const int node = fragment_row_or_none(FACE_NODES, m / 4, m % 4);
                if (node < 0) continue;
                const real c = *w++;
                real row[FIELDS];
                load_row(u + rows[node], row);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) um[k] = fma(c, row[k], um[k]);
            }
        } else {
            load_row(u + rows[point], um);
        }
        boundary_point(runs[r], (u32)q, um, own.clock, own.time, own.part, own.share, parameters, up);
    }
    dg_warp_sync();
}
#define OWN_BOUNDARIES const OwnBoundaries own,
#else
#define OWN_BOUNDARIES
#endif

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    residual(const Arguments a, OWN_BOUNDARIES const Parameters parameters) {
#if SMALL && RUNS > 0
    __shared__ BoundaryRun runs[RUNS];
    constexpr u32 WORDS = RUNS * sizeof(BoundaryRun) / sizeof(u64);
    for (u32 i = threadIdx.x; i < WORDS; i += 32 * WARPS)
        reinterpret_cast<u64*>(runs)[i] = __ldg(reinterpret_cast<const u64*>(own.runs) + i);
#endif
    DG_PLANNED_SHARED(real, shared, sizeof(real) * SHARED_TABLES + sizeof(stored) * WARPS * WARP_SPACE + sizeof(u32) * (CODES + FACES) * FACE_NODES);
    stored* states = reinterpret_cast<stored*>(shared + SHARED_TABLES);
    u32* shared_rows = reinterpret_cast<u32*>(states + WARPS * WARP_SPACE);
    u32* shared_own = shared_rows + CODES * FACE_NODES;
    if (!SMALL) dg_let_next_kernel_start();
    // All loads are issued at once: on small meshes their latency dominates.
    for (u32 i = 2 * threadIdx.x; i < SHARED_TABLES; i += 64 * WARPS) dg_cp_async16(shared + i, a.tables + i);
    dg_cp_async_commit();
    for (u32 i = threadIdx.x; i < CODES * FACE_NODES; i += 32 * WARPS)
        shared_rows[i] = __ldg(a.rows + i / FACE_NODES * a.table_len + i % FACE_NODES);
    for (u32 i = threadIdx.x; i < FACES * FACE_NODES; i += 32 * WARPS) shared_own[i] = __ldg(a.own + i);

    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, r = lane >> 2, j = lane & 3;
    const real* operators = shared + lane;
    const real* project = (SHARED_TABLES > PROJECT_AT ? shared : a.tables) + PROJECT_AT + lane;
    stored* state = states + warp * WARP_SPACE;
    stored* beyond = state + BEYOND;
    const u32 groups = (a.count + GROUP - 1) / GROUP, stride = SMALL ? groups : gridDim.x * WARPS;
    const bool reads_register = STAGE && a.a != 0.0;
    const u64 part_begin = (u64)a.first * STATE_BLOCK;
    const auto elements_of = [&](u32 group) {
        const u32 rest = a.count - group * GROUP;
        return rest < GROUP ? rest : GROUP;
    };
    const auto fetch_state = [&](u32 group, stored* to, u32 record) {
        if (group < groups) {
            fetch<GROUP_STATE>(to, a.u + part_begin + (u64)group * GROUP_STATE, elements_of(group) * STATE_BLOCK, lane);
#if QUADRATIC
            fetch<GROUP_RECORDS>(state + RECORDS + record * GROUP_RECORDS, a.map + (u64)group * GROUP_RECORDS,
                                 elements_of(group) * RECORD, lane);
#endif
        }
        dg_cp_async_commit();
    };
    const auto fetch_register = [&](u32 group) {
        if (AHEAD && reads_register && group < groups)
            fetch<GROUP_STATE>(beyond, a.reg + part_begin + (u64)group * GROUP_STATE, elements_of(group) * STATE_BLOCK, lane);
        dg_cp_async_commit();
    };

    // The neighbours across the faces of an element, and its metric terms, which do not change.
    u32 to[FACES], code[FACES];
    real g[DIM * DIM];
    const auto find_element = [&](u32 group) {
        const u32 wanted = group * GROUP + r, element = wanted < a.count ? wanted : a.count - 1;
#pragma unroll
        for (int f = 0; f < FACES; ++f) {
            to[f] = __ldg(a.across + (u64)(a.first + element) * FACES + f);
            code[f] = __ldg(a.code + (u64)(a.first + element) * FACES + f);
        }
        if (!CURVED) metric_at(a, element, 0, g);
    };

    u32 group = blockIdx.x * WARPS + warp, buffer = 0, record = 0;
    // For curved elements, one group ahead.
    if (SMALL || CURVED) find_element(group);
    if (SMALL) {
        dg_wait_for_kernels_before();
        // Not earlier: at most one kernel should be waiting.
        dg_let_next_kernel_start();
    }
    if (STATE_AHEAD) fetch_state(group, state, 0);
    fetch_register(group);
    // The tables must have arrived; states and registers of the first group may still be in transit.
    dg_cp_async_wait<STATE_AHEAD ? 2 : 1>();
    dg_block_sync();
    for (; group < groups; group += stride, buffer = BUFFERS - 1 - buffer, record = STATE_AHEAD ? 1 - record : 0) {
        // Lanes without an element repeat the part's last element; their results are not stored.
        const u32 wanted = group * GROUP + r;
        const bool exists = wanted < a.count;
        const u32 element = exists ? wanted : a.count - 1, slot = a.first + element;
        if (!STATE_AHEAD) fetch_state(group, state, 0);
        if (!SMALL && !CURVED) find_element(group);
        dg_cp_async_wait<STATE_AHEAD ? 1 : 0>();
        dg_warp_sync();
        stored* group_state = state + buffer * GROUP_STATE;
        const stored* u = group_state + r * STATE_BLOCK;
        if (!KEEP && STATE_AHEAD) fetch_state(group + stride, state + (1 - buffer) * GROUP_STATE, 1 - record);
#if QUADRATIC
        const stored* map = state + RECORDS + record * GROUP_RECORDS + r * RECORD;
        stored* scales = state + SCALES + lane;
        const real* places = shared + PLACES_AT;
#endif

        if (PREFETCH && !AHEAD && reads_register)
            prefetch_lines(a.reg + part_begin + (u64)group * GROUP_STATE, elements_of(group) * STATE_BLOCK, lane);

        real kept[KEEP ? STATE_STEPS : 1][FIELDS];
        if (KEEP) {
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) load_row(u + fragment_row(NP, s, j) * FIELDS, kept[KEEP ? s : 0]);
        }
        real rate[STATE_TILES][FIELDS][2];
#pragma unroll
        for (int t = 0; t < STATE_TILES; ++t) fragment_zero(rate[t]);

#if SMALL && RUNS > 0
        boundary_points(a, own, runs, parameters, shared_own, group_state, a.first + group * GROUP, elements_of(group));
#endif

        // 1. Faces: both traces, numerical fluxes, lift. The previous kernel may still be writing the
        //    exterior buffer.
        if (!SMALL) dg_wait_for_kernels_before();
#pragma unroll(FACE_UNROLL)
        for (int face = 0; face < FACES; ++face) {
            u32 here = to[0], table = code[0];
#pragma unroll
            for (int f = 1; f < FACES; ++f) {
                here = face == f ? to[f] : here;
                table = face == f ? code[f] : table;
            }
            const bool outside = table == EXTERIOR;
            const u32* own_rows = shared_own + face * FACE_NODES;
            const u32* rows = outside ? own_rows : shared_rows + table * FACE_NODES;
            const stored* neighbour = a.u + (u64)(outside ? slot : here) * STATE_BLOCK;
            real n[DIM], scale = 0;
            if (!CURVED) scale = face_normal(a, element, face, g, n);
#pragma unroll 1
            for (int t = 0; t < TRACE_TILES; ++t) {
                real minus[FIELDS][2], plus[FIELDS][2];
#if QUADRATIC
                // Computed before registers are needed for traces.
                real normals[2][DIM], lengths[2];
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    if (2 * t + i >= TRACE_STEPS) continue;
                    real metric[DIM * DIM];
                    const int point = face * FACE_POINTS + fragment_row(FACE_POINTS, 2 * t + i, j);
                    quadratic_metric(map, places + (NQ + point) * DIM, metric);
                    lengths[i] = face_normal(a, element, face, metric, normals[i]);
                }
#endif
                if (FACE_INTERP) {
                    fragment_zero(minus);
                    fragment_zero(plus);
#pragma unroll
                    for (int s = 0; s < NODE_STEPS; ++s) {
                        const u32 node = fragment_row(FACE_NODES, s, j);
                        const real b = operators[FACE_AT + (t * NODE_STEPS + s) * 32];
                        real um[FIELDS], up[FIELDS];
                        load_row(u + own_rows[node], um);
                        load_row_constant(neighbour + rows[node], up);
                        fragment_multiply(minus, um, b);
                        fragment_multiply(plus, up, b);
                    }
                }
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    if (2 * t + i >= TRACE_STEPS) continue;
                    const u32 point = fragment_row(FACE_POINTS, 2 * t + i, j);
#if QUADRATIC
                    scale = lengths[i];
#pragma unroll
                    for (int x = 0; x < DIM; ++x) n[x] = normals[i][x];
#else
                    if (CURVED) scale = normal_at(a, element, face, face * FACE_POINTS + point, n);
#endif
                    real um[FIELDS], up[FIELDS], f[FIELDS];
                    if (FACE_INTERP) {
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) {
                            um[k] = minus[k][i];
                            up[k] = plus[k][i];
                        }
                    } else {
                        load_row(u + own_rows[point], um);
                        load_row_constant(neighbour + rows[point], up);
                    }
                    if (outside) {
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) up[k] = a.exterior[here + point * FIELDS + k];
                    }
                    numerical_flux(parameters, um, up, n, f);
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) f[k] *= scale;
                    const real* lift = operators + LIFT_AT + (face * TRACE_STEPS + 2 * t + i) * STATE_TILES * 32;
#pragma unroll
                    for (int tile = 0; tile < STATE_TILES; ++tile) fragment_multiply(rate[tile], f, lift[tile * 32]);
                }
            }
        }
        if (KEEP) {
            dg_warp_sync();
            fetch_state(group + stride, state, 1 - record);
        }
        if (!SMALL && CURVED) find_element(group + stride);
        if (PREFETCH && !STATE_AHEAD && group + stride < groups) {
            const u32 n = elements_of(group + stride);
            prefetch_lines(a.u + part_begin + (u64)(group + stride) * GROUP_STATE, n * STATE_BLOCK, lane);
#if QUADRATIC
            prefetch_lines(a.map + (u64)(group + stride) * GROUP_RECORDS, n * RECORD, lane);
#endif
        }

        // 2. Volume: states at points, contravariant fluxes, projection.
#pragma unroll(COLLOCATED ? POINT_TILES : 1)
        for (int t = 0; t < POINT_TILES; ++t) {
            real points[FIELDS][2], at_points[CURVED ? 2 : 1][DIM * DIM];
            if (CURVED && !QUADRATIC) {
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    point_metric(a, element, fragment_row(NQ, 2 * t + i, j), at_points[CURVED ? i : 0]);
            }
            if (!COLLOCATED) {
                fragment_zero(points);
#pragma unroll
                for (int s = 0; s < STATE_STEPS; ++s) {
                    const real b = operators[INTERP_AT + (t * STATE_STEPS + s) * 32];
                    if (KEEP) {
                        fragment_multiply(points, kept[KEEP ? s : 0], b);
                    } else {
                        real x[FIELDS];
                        load_row(u + fragment_row(NP, s, j) * FIELDS, x);
                        fragment_multiply(points, x, b);
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (2 * t + i >= POINT_STEPS) continue;
                real x[FIELDS], f[DIM * FIELDS];
                constexpr bool again = COLLOCATED && !KEEP;
                if (again) load_row(u + fragment_row(NP, 2 * t + i, j) * FIELDS, x);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (!again) x[k] = COLLOCATED ? kept[COLLOCATED && KEEP ? 2 * t + i : 0][k] : points[k][i];
#if QUADRATIC
                const int q = fragment_row(NQ, 2 * t + i, j);
                scales[(2 * t + i) * 32] = reciprocal(quadratic_metric(map, places + q * DIM, at_points[CURVED ? i : 0]));
#endif
                volume_flux(parameters, x, CURVED ? at_points[CURVED ? i : 0] : g, f);
                const real* p = project + (2 * t + i) * STATE_TILES * DIM * 32;
#pragma unroll
                for (int tile = 0; tile < STATE_TILES; ++tile)
#pragma unroll
                    for (int d = 0; d < DIM; ++d) {
                        real fd[FIELDS];
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) fd[k] = f[d * FIELDS + k];
                        fragment_multiply(rate[tile], fd, p[(tile * DIM + d) * 32]);
                    }
            }
        }

#ifdef SOURCE
#pragma unroll
        for (int s = 0; s < STATE_STEPS; ++s) {
            const int row = fragment_row_or_none(NP, s, j);
            if (row < 0) continue;
            real more[FIELDS];
            load_row_constant(a.source + (u64)slot * STATE_BLOCK + row * FIELDS, more);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[s / 2][k][s % 2] += more[k];
        }
#endif

        // 3. The metric rule.
#if QUADRATIC
        adjust(a, shared, element, map + DERIVATIVES, scales, rate);
#else
        if (WEIGHTED) adjust(a, shared, element, a.weighted + (u64)element * (NP + 1), nullptr, rate);
#endif
        if (RULE == 1) {
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const real scale = __ldg(a.inverse_jacobian + (u64)element * NP + fragment_row(NP, s, j));
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) rate[s / 2][k][s % 2] *= scale;
            }
        }

        // 4. The stage, row by row; see `finish`.
        const StageFactors factors = stage_factors(a, slot);
        if (AHEAD) {
            dg_cp_async_wait<1>();
            dg_warp_sync();
        }
        if (!STAGED) {
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0 || !exists) continue;
                const u64 at = (u64)slot * STATE_BLOCK + row * FIELDS;
                real x[FIELDS], y[FIELDS];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) {
                    x[k] = kept[KEEP ? s : 0][k];
                    y[k] = rate[s / 2][k][s % 2];
                }
                if (STAGE && !KEEP) load_row(u + row * FIELDS, x);
                const stored* before = AHEAD ? beyond + r * STATE_BLOCK + row * FIELDS : a.reg + at;
                finish_row(a, factors, reads_register ? before : nullptr, at, x, y);
            }
        } else {
            // Stored first in the distribution over lanes, then copied in the order of memory.
            stored* staged = AHEAD || KEEP ? beyond : group_state;
            if (!AHEAD) dg_warp_sync();
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0) continue;
                stored* y = staged + r * STATE_BLOCK + row * FIELDS;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) {
                    real v = rate[s / 2][k][s % 2];
                    if (STAGE) v *= factors.dt;
                    if (AHEAD && reads_register) v += factors.a * y[k];
                    y[k] = v;
                }
            }
            dg_warp_sync();
            const u32 n = elements_of(group) * STATE_BLOCK;
            const u64 begin = part_begin + (u64)group * GROUP_STATE;
            const bool in_place = !KEEP && AHEAD;  // the state is still in shared memory
            const auto finish_at = [&](real& y, real x, real before, real start) {
                if (!STAGE) return y;
                if (!AHEAD && reads_register) y += factors.a * before;
                if (a.b != 0.0) x = factors.b * start + factors.rest * x;
                return x + factors.c * y;
            };
#pragma unroll 4
            for (u32 i = 2 * lane; i + 1 < n; i += 64) {
                pair y = *reinterpret_cast<const pair*>(staged + i), x = y, before = y, start = y, next;
                if (STAGE) {
                    x = in_place ? *reinterpret_cast<const pair*>(group_state + i)
                                 : __ldg(reinterpret_cast<const pair*>(a.u + begin + i));
                    if (!AHEAD && reads_register) before = *reinterpret_cast<const pair*>(a.reg + begin + i);
                    if (a.b != 0.0) start = __ldg(reinterpret_cast<const pair*>(a.start + begin + i));
                }
                real first = y.x, second = y.y;
                next.x = finish_at(first, x.x, before.x, start.x);
                next.y = finish_at(second, x.y, before.y, start.y);
                y.x = first;
                y.y = second;
                if (STAGE && a.keep) *reinterpret_cast<pair*>(a.reg + begin + i) = y;
                *reinterpret_cast<pair*>(a.out + begin + i) = next;
            }
            if (n % 2 && lane == 0) {
                const u32 i = n - 1;
                real y = staged[i];
                const real next = finish_at(y, a.u[begin + i], !AHEAD && reads_register ? a.reg[begin + i] : 0,
                                            STAGE && a.b != 0.0 ? a.start[begin + i] : 0);
                if (STAGE && a.keep) a.reg[begin + i] = y;
                a.out[begin + i] = next;
            }
        }
        if (AHEAD || (STAGED && !STATE_AHEAD)) dg_warp_sync();
        fetch_register(group + stride);
    }
}
