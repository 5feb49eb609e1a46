// The first pass of diffusion on affine triangles and tetrahedra, nodal, with the FP64 tensor cores. Numbers are double between
// memory and memory, and `stored` there.
// The host's twin is `gradient_block` in viscous.rs; operators come from simplex_diffusion.rs.
//
// A warp owns eight elements, as in simplex.cu, and keeps the half jumps of all faces: a face's own lifting is
// a product at its points, those of all faces are products at volume points. Everything between traces and rows stays in
// registers: see fragments.cuh. Where that is too much for registers and shared memory, faces and volume are two kernels
// one after the other, and the half jumps pass through memory.
//
// Beside the macros of common.cuh, with DIRECT = 1 (rows and own are rows of face nodes, in the face's frame):
//   FACE_NODES FACE_POINTS  of one face; equal if FACE_INTERP is 0: face points are the nodes
//   FACE_INTERP             face points are interpolated from face nodes
//   CODES                   tables of rows
//   WORK                    0 faces and volume, 1 faces, 2 volume
//   WARPS BLOCKS            warps of a block, blocks of a multiprocessor
//   BUFFERS                 room for the states of this many groups; 2 to fetch one ahead
//   JUMPS                   half jumps wait in registers (0), or in shared memory (1) and faces go one by one
//   REFERENCE_NORMALS       { N̂ of each face }, of entries −1, 0 and 1
//   TABLES_FROM TABLES_TO   entries of `tables` that are copied to shared memory: whole operators
// `u` and `kept` begin at multiples of 16 bytes, and so does slot `first` in them.

constexpr int STATE_STEPS = fragment_steps(NP), STATE_TILES = fragment_tiles(NP);
constexpr int POINT_STEPS = fragment_steps(NQ), POINT_TILES = fragment_tiles(NQ);
constexpr int NODE_STEPS = fragment_steps(FACE_NODES);
constexpr int TRACE_STEPS = fragment_steps(FACE_POINTS), TRACE_TILES = fragment_tiles(FACE_POINTS);
// Where operators begin in `tables`, in the order of simplex_diffusion.rs.
constexpr int FACE_AT = 0;                                                                   // [tile][step]
constexpr int OWN_LIFT_AT = FACE_AT + (FACE_INTERP ? TRACE_TILES * NODE_STEPS * 32 : 0);     // [face][tile][step]
constexpr int FACE_SLOPE_AT = OWN_LIFT_AT + FACES * TRACE_TILES * TRACE_STEPS * 32;          // [face][tile][step][direction]
constexpr int INTERP_AT = FACE_SLOPE_AT + FACES * DIM * TRACE_TILES * STATE_STEPS * 32;      // [tile][step]
constexpr int POINT_LIFT_AT = INTERP_AT + (COLLOCATED ? 0 : POINT_TILES * STATE_STEPS * 32); // [face][tile][step]
constexpr int SLOPE_AT = POINT_LIFT_AT + FACES * POINT_TILES * TRACE_STEPS * 32;             // [tile][step][direction]
constexpr int PROJECT_AT = SLOPE_AT + DIM * POINT_TILES * STATE_STEPS * 32;                  // [step][tile][direction]
constexpr int SHARED_TABLES = TABLES_TO - TABLES_FROM;

constexpr int GROUP = 8;  // elements of a warp
constexpr int GROUP_STATE = GROUP * STATE_BLOCK;
// Results go through shared memory where a row is not a whole number of pairs.
constexpr bool STAGED = FIELDS % 2 != 0;
constexpr int JUMP_SPACE = JUMPS ? FACES * TRACE_STEPS * FIELDS * 32 : 0;  // of a warp: [face][step][field][lane]

// Starts to copy the state of `n` elements; an odd scalar at the end is copied at once.
static __device__ __forceinline__ void fetch(stored* to, const stored* from, u32 n, u32 lane) {
    const u32 pairs = n * STATE_BLOCK / 2;
#pragma unroll 4
    for (int i = 0; i < (GROUP_STATE / 2 + 31) / 32; ++i) {
        const u32 p = i * 32 + lane;
        if (p >= pairs) continue;
        if (sizeof(stored) == 8) dg_cp_async16(to + 2 * p, from + 2 * p);
        else dg_cp_async8(to + 2 * p, from + 2 * p);
    }
    if (STATE_BLOCK % 2 && n % 2 && lane == 0) to[2 * pairs] = from[2 * pairs];
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    stored* states = reinterpret_cast<stored*>(shared + SHARED_TABLES + WARPS * JUMP_SPACE);
    u32* shared_rows = reinterpret_cast<u32*>(states + WARPS * BUFFERS * GROUP_STATE);
    u32* shared_own = shared_rows + CODES * FACE_NODES;
    for (u32 i = 2 * threadIdx.x; i < SHARED_TABLES; i += 64 * WARPS) dg_cp_async16(shared + i, a.tables + TABLES_FROM + i);
    dg_cp_async_commit();
    for (u32 i = threadIdx.x; WORK != 2 && i < CODES * FACE_NODES; i += 32 * WARPS)
        shared_rows[i] = __ldg(a.rows + i / FACE_NODES * a.table_len + i % FACE_NODES);
    for (u32 i = threadIdx.x; WORK != 2 && i < FACES * FACE_NODES; i += 32 * WARPS) shared_own[i] = __ldg(a.own + i);

    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, r = lane >> 2, j = lane & 3;
    const auto operator_at = [&](int at) {
        return (at >= TABLES_FROM && at < TABLES_TO ? shared - TABLES_FROM : a.tables) + at + lane;
    };
    const real *interp = operator_at(INTERP_AT), *face_interp = operator_at(FACE_AT), *own_lift = operator_at(OWN_LIFT_AT);
    const real *point_lift = operator_at(POINT_LIFT_AT), *face_slopes = operator_at(FACE_SLOPE_AT);
    const real *slopes = operator_at(SLOPE_AT), *project = operator_at(PROJECT_AT);
    real* jumps = shared + SHARED_TABLES + warp * JUMP_SPACE + lane;
    stored* state = states + warp * BUFFERS * GROUP_STATE;
    const u32 groups = (a.count + GROUP - 1) / GROUP, stride = gridDim.x * WARPS;
    const u64 part_begin = (u64)a.first * STATE_BLOCK;
    const auto elements_of = [&](u32 group) {
        const u32 rest = a.count - group * GROUP;
        return rest < GROUP ? rest : GROUP;
    };
    const auto fetch_state = [&](u32 group, stored* to) {
        if (group < groups) fetch(to, a.u + part_begin + (u64)group * GROUP_STATE, elements_of(group), lane);
        dg_cp_async_commit();
    };
    constexpr int reference_normal[FACES][DIM] = REFERENCE_NORMALS;

    u32 group = blockIdx.x * WARPS + warp, buffer = 0;
    fetch_state(group, state);
    dg_cp_async_wait<1>();
    dg_block_sync();
    for (; group < groups; group += stride, buffer = BUFFERS - 1 - buffer) {
        // Lanes of elements that do not exist take the part's last element; what they compute is not stored.
        const u32 wanted = group * GROUP + r;
        const bool exists = wanted < a.count;
        const u32 element = exists ? wanted : a.count - 1, slot = a.first + element;
        real g[DIM * DIM];
        metric_at(a, element, 0, g);
        dg_cp_async_wait<0>();
        dg_warp_sync();
        stored* group_state = state + buffer * GROUP_STATE;
        // The state of the lane's element, the last one that there is.
        const u32 last = elements_of(group) - 1;
        const stored* u = group_state + (r < last ? r : last) * STATE_BLOCK;
        if (BUFFERS > 1) fetch_state(group + stride, state + (1 - buffer) * GROUP_STATE);

        constexpr bool in_registers = !JUMPS && WORK == 0;
        real kept[in_registers ? FACES : 1][TRACE_STEPS][FIELDS];

        // 1. Faces: both traces, half jumps, numerical fluxes; the gradient there, what the second pass lifts.
#pragma unroll(in_registers ? FACES : 1)
        for (int face = 0; face < (WORK == 2 ? 0 : FACES); ++face) {
            const u32 to = __ldg(a.across + (u64)slot * FACES + face), code = __ldg(a.code + (u64)slot * FACES + face);
            const bool outside = code == EXTERIOR;
            const long long boundary = outside && to < p.boundary ? (long long)to : -1;
            real normal[DIM];
#pragma unroll
            for (int d = 0; d < DIM; ++d) {
                normal[d] = 0;
#pragma unroll
                for (int f = 0; f < FACES; ++f) normal[d] = face == f ? (real)reference_normal[f][d] : normal[d];
            }
            real(&jump)[TRACE_STEPS][FIELDS] = kept[in_registers ? face : 0];
            const u32* own_rows = shared_own + face * FACE_NODES;
            const u32* rows = outside ? own_rows : shared_rows + code * FACE_NODES;
            const stored* neighbour = a.u + (u64)(outside ? slot : to) * STATE_BLOCK;
            real n[DIM];
            normal_at(a, element, face, 0, n);
            real minus[TRACE_TILES][FIELDS][2], flux[TRACE_STEPS][FIELDS];
#pragma unroll
            for (int t = 0; t < TRACE_TILES; ++t) {
                real plus[FIELDS][2];
                fragment_zero(minus[t]);
                if (FACE_INTERP) {
                    fragment_zero(plus);
#pragma unroll
                    for (int s = 0; s < NODE_STEPS; ++s) {
                        const u32 node = fragment_row(FACE_NODES, s, j);
                        const real b = face_interp[(t * NODE_STEPS + s) * 32];
                        real um[FIELDS], up[FIELDS];
                        load_row(u + own_rows[node], um);
                        load_row_constant(neighbour + rows[node], up);
                        fragment_multiply(minus[t], um, b);
                        fragment_multiply(plus, up, b);
                    }
                }
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    if (2 * t + i >= TRACE_STEPS) continue;
                    const u32 point = fragment_row(FACE_POINTS, 2 * t + i, j);
                    real um[FIELDS], up[FIELDS];
                    if (FACE_INTERP) {
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) {
                            um[k] = minus[t][k][i];
                            up[k] = plus[k][i];
                        }
                    } else {
                        load_row(u + own_rows[point], um);
                        load_row_constant(neighbour + rows[point], up);
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) minus[t][k][i] = um[k];
                    }
                    if (outside) {
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) up[k] = (real)__ldg(a.exterior + to + point * FIELDS + k);
                    }
                    half_jump(p, boundary, point, um, up, jump[2 * t + i]);
                    if (WORK == 1 && exists && fragment_row_or_none(FACE_POINTS, 2 * t + i, j) >= 0) {
                        stored* to = p.lifted + (u64)slot * TRACE_BLOCK + (face * FACE_POINTS + point) * FIELDS;
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) to[k] = jump[2 * t + i][k];
                    }
                    if (JUMPS) {
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k)
                            jumps[((face * TRACE_STEPS + 2 * t + i) * FIELDS + k) * 32] = jump[2 * t + i][k];
                    }
                    numerical_flux(parameters, um, up, n, flux[2 * t + i]);
                }
            }
#pragma unroll
            for (int t = 0; t < TRACE_TILES; ++t) {
                real slope[DIM][FIELDS][2], lifted[FIELDS][2];
                fragment_zero(lifted);
#pragma unroll
                for (int s = 0; s < TRACE_STEPS; ++s)
                    fragment_multiply(lifted, jump[s],
                                      own_lift[((face * TRACE_TILES + t) * TRACE_STEPS + s) * 32]);
#pragma unroll
                for (int d = 0; d < DIM; ++d)
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k)
#pragma unroll
                        for (int i = 0; i < 2; ++i) slope[d][k][i] = normal[d] * lifted[k][i];
#pragma unroll
                for (int s = 0; s < STATE_STEPS; ++s) {
                    real x[FIELDS];
                    load_row(u + fragment_row(NP, s, j) * FIELDS, x);
                    const real* b = face_slopes + ((face * TRACE_TILES + t) * STATE_STEPS + s) * DIM * 32;
#pragma unroll
                    for (int d = 0; d < DIM; ++d) fragment_multiply(slope[d], x, b[d * 32]);
                }
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    if (2 * t + i >= TRACE_STEPS) continue;
                    real um[FIELDS], reference[DIM * FIELDS], grad[DIM * FIELDS];
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) um[k] = minus[t][k][i];
#pragma unroll
                    for (int d = 0; d < DIM; ++d)
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d][k][i];
                    physical_gradient(g, reference, grad);
                    const int point = fragment_row_or_none(FACE_POINTS, 2 * t + i, j);
                    if (point < 0 || !exists) continue;
                    publish(parameters, p, slot, face * FACE_POINTS + point, boundary, point, um, grad, n, flux[2 * t + i]);
                }
            }
        }

        if (WORK == 1) {
            dg_warp_sync();
            if (BUFFERS == 1) fetch_state(group + stride, state);
            continue;
        }

        // 2. Volume: states and lifted gradients at points, contravariant fluxes, projection.
        const stored* lifted = p.lifted + (u64)slot * TRACE_BLOCK;
        real rate[STATE_TILES][FIELDS][2];
#pragma unroll
        for (int t = 0; t < STATE_TILES; ++t) fragment_zero(rate[t]);
#pragma unroll 1
        for (int t = 0; t < POINT_TILES; ++t) {
            real points[FIELDS][2], slope[DIM][FIELDS][2];
            fragment_zero(points);
#pragma unroll
            for (int d = 0; d < DIM; ++d) fragment_zero(slope[d]);
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                real x[FIELDS];
                load_row(u + fragment_row(NP, s, j) * FIELDS, x);
                if (!COLLOCATED) fragment_multiply(points, x, interp[(t * STATE_STEPS + s) * 32]);
#pragma unroll
                for (int d = 0; d < DIM; ++d)
                    fragment_multiply(slope[d], x, slopes[((t * STATE_STEPS + s) * DIM + d) * 32]);
            }
            // Tables of liftings hold the sign of the face's normal; a face has it in one direction or in all.
#pragma unroll
            for (int face = 0; face < FACES; ++face)
#pragma unroll
                for (int s = 0; s < TRACE_STEPS; ++s) {
                    const real b = point_lift[((face * POINT_TILES + t) * TRACE_STEPS + s) * 32];
                    real x[FIELDS];
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) {
                        if (WORK == 2) x[k] = __ldg(lifted + (face * FACE_POINTS + fragment_row(FACE_POINTS, s, j)) * FIELDS + k);
                        else if (JUMPS) x[k] = jumps[((face * TRACE_STEPS + s) * FIELDS + k) * 32];
                        else x[k] = kept[in_registers ? face : 0][s][k];
                    }
#pragma unroll
                    for (int d = 0; d < DIM; ++d)
                        if (reference_normal[face][d] != 0) fragment_multiply(slope[d], x, b);
                }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (2 * t + i >= POINT_STEPS) continue;
                real x[FIELDS], f[DIM * FIELDS], reference[DIM * FIELDS], grad[DIM * FIELDS], diffusive[DIM * FIELDS];
                if (COLLOCATED) load_row(u + fragment_row(NP, 2 * t + i, j) * FIELDS, x);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (!COLLOCATED) x[k] = points[k][i];
#pragma unroll
                for (int d = 0; d < DIM; ++d)
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d][k][i];
                physical_gradient(g, reference, grad);
                diffusive_flux(parameters, x, grad, diffusive);
                volume_flux(parameters, x, g, f);
                const real* b = project + (2 * t + i) * STATE_TILES * DIM * 32;
#pragma unroll
                for (int d = 0; d < DIM; ++d) {
                    real fd[FIELDS];
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) {
                        fd[k] = f[d * FIELDS + k];
#pragma unroll
                        for (int y = 0; y < DIM; ++y) fd[k] -= g[d * DIM + y] * diffusive[y * FIELDS + k];
                    }
#pragma unroll
                    for (int tile = 0; tile < STATE_TILES; ++tile) fragment_multiply(rate[tile], fd, b[(tile * DIM + d) * 32]);
                }
            }
        }

        // 3. The rows, kept for the second pass.
        if (!STAGED) {
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0 || !exists) continue;
                const u64 at = (u64)slot * STATE_BLOCK + row * FIELDS;
                real y[FIELDS];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) y[k] = rate[s / 2][k][s % 2] + (p.source ? (real)__ldg(p.source + at + k) : 0);
                store_row(p.kept + at, y);
            }
        } else {
            // First where the lanes have it, then along memory.
            dg_warp_sync();
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0 || !exists) continue;
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) group_state[r * STATE_BLOCK + row * FIELDS + k] = rate[s / 2][k][s % 2];
            }
            dg_warp_sync();
            const u64 begin = part_begin + (u64)group * GROUP_STATE;
            for (u32 i = lane; i < elements_of(group) * STATE_BLOCK; i += 32)
                p.kept[begin + i] = group_state[i] + (p.source ? __ldg(p.source + begin + i) : (stored)0);
        }
        dg_warp_sync();
        if (BUFFERS == 1) fetch_state(group + stride, state);
    }
}
