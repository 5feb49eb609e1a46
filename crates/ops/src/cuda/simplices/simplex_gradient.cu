// The first pass of diffusion on triangles and tetrahedra, affine or curved, nodal, with the FP64 tensor
// cores. The arithmetic is in double precision; arrays in memory have the type `stored`. Same computation as
// `gradient_block` in diffusion_passes.rs on the host; operators come from simplex_diffusion.rs.
//
// A warp, or two, process eight elements, as in simplex.cu, and keep the half jumps of all faces: a face's
// own lifting is a product at its points, and the liftings of all faces are products at volume points. All
// intermediate results stay in registers, see fragments.cuh. If registers and shared memory do not suffice,
// faces and volume are two consecutive kernels, which pass the half jumps through memory.
//
// On a face, the gradient is computed in directions of the face: along the face, where derivatives are those
// of the trace and depend on its nodes only, and across, in the direction of the lifting. In two dimensions,
// if the last tile has few points, two directions share it: one uses the even columns, one the odd.
//
// Macros beside those of common.cuh, with DIRECT = 1 (`rows` and `own` are rows of face nodes, in the face's
// frame):
// - FACE_NODES, FACE_POINTS: of one face; equal if FACE_INTERP is 0: face points are the nodes
// - FACE_INTERP: face points are interpolated from face nodes
// - CODES: number of tables of rows
// - WORK: 0 faces and volume, 1 faces, 2 volume
// - WARPS, BLOCKS: warps of a block, blocks per multiprocessor
// - TEAM: number of warps that share eight elements: 1, or 2 with JUMPS; then each processes half of the
//   faces and every other tile of volume points, and shared memory also holds operators
// - BUFFERS: memory for the states of this many groups; 2 to copy one group ahead
// - JUMPS: half jumps stay in registers (0) or in shared memory (1); in the latter case faces and tiles are
//   processed one by one, and traces are computed twice, for jumps and for fluxes, so that few numbers are
//   held at a time
// - AHEAD: rows of neighbours are copied to shared memory while the previous group is computed
// - REFERENCE_NORMALS: { N̂ of each face }, with entries −1, 0 and 1
// - TABLES_FROM, TABLES_TO: entries of `tables` that are copied to shared memory: whole operators
//
// `u`, `kept`, and slot `first` in them, are aligned to 16 bytes.

#include "simplex_geometry.cuh"
#include "simplex_gradient.cuh"

extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    constexpr int SCALARS = TEAMS * BUFFERS * GROUP_STATE + WARPS * ACROSS_SPACE;
    DG_PLANNED_SHARED(real, shared, sizeof(real) * (SHARED_TABLES + TEAMS * JUMP_SPACE) + sizeof(stored) * SCALARS + sizeof(u32) * (CODES + FACES) * FACE_NODES);
    stored* states = reinterpret_cast<stored*>(shared + SHARED_TABLES + TEAMS * JUMP_SPACE);
    stored* acrosses = states + TEAMS * BUFFERS * GROUP_STATE;
    u32* shared_rows = reinterpret_cast<u32*>(acrosses + WARPS * ACROSS_SPACE);
    u32* shared_own = shared_rows + CODES * FACE_NODES;
    for (u32 i = 2 * threadIdx.x; i < SHARED_TABLES; i += 64 * WARPS) dg_cp_async16(shared + i, a.tables + TABLES_FROM + i);
    dg_cp_async_commit();
    for (u32 i = threadIdx.x; WORK != 2 && i < CODES * FACE_NODES; i += 32 * WARPS)
        shared_rows[i] = __ldg(a.rows + i / FACE_NODES * a.table_len + i % FACE_NODES);
    for (u32 i = threadIdx.x; WORK != 2 && i < FACES * FACE_NODES; i += 32 * WARPS) shared_own[i] = __ldg(a.own + i);

    const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, r = lane >> 2, j = lane & 3;
    // The team, the warp's number in it, and the thread's.
    const u32 team = warp / TEAM, member = warp % TEAM, mate = threadIdx.x % MATES;
    const auto operator_at = [&](int at) {
        return (at >= TABLES_FROM && at < TABLES_TO ? shared - TABLES_FROM : a.tables) + at + lane;
    };
    const real *interp = operator_at(INTERP_AT), *face_interp = operator_at(FACE_AT);
    const real *point_lift = operator_at(POINT_LIFT_AT), *face_slopes = operator_at(FACE_SLOPE_AT);
    const real *slopes = operator_at(SLOPE_AT), *project = operator_at(PROJECT_AT);
    real* jumps = shared + SHARED_TABLES + team * JUMP_SPACE + lane;
    stored* state = states + team * BUFFERS * GROUP_STATE;
    const u32 groups = (a.count + GROUP - 1) / GROUP, stride = gridDim.x * TEAMS;
    const u64 part_begin = (u64)a.first * STATE_BLOCK;
    const auto elements_of = [&](u32 group) {
        const u32 rest = a.count - group * GROUP;
        return rest < GROUP ? rest : GROUP;
    };
    const auto fetch_state = [&](u32 group, stored* to) {
        if (group < groups) fetch(to, a.u + part_begin + (u64)group * GROUP_STATE, elements_of(group), mate);
        dg_cp_async_commit();
    };

    // The neighbours across an element's faces, found one group ahead, as are the rows of face nodes there.
    // For a face without a neighbour these are the element's own or, if points are nodes, the states of the
    // exterior.
    stored* there = acrosses + warp * ACROSS_SPACE + 2 * lane;
    u32 to_ahead[FACES], code_ahead[FACES], slot_ahead = 0, outside_faces = 0;
    const auto find_ahead = [&](u32 group) {
        const u32 wanted = group * GROUP + r;
        slot_ahead = a.first + (wanted < a.count ? wanted : a.count - 1);
#pragma unroll
        for (int f = 0; f < FACES; ++f) {
            to_ahead[f] = __ldg(a.across + (u64)slot_ahead * FACES + f);
            code_ahead[f] = __ldg(a.code + (u64)slot_ahead * FACES + f);
        }
    };
    const auto fetch_across = [&] {
        outside_faces = 0;
#pragma unroll
        for (int f = 0; f < FACES; ++f) {
            const bool outside = code_ahead[f] == EXTERIOR;
            outside_faces |= (u32)outside << f;
            const u32* rows = outside ? shared_own + f * FACE_NODES : shared_rows + code_ahead[f] * FACE_NODES;
            const stored* from = a.u + (u64)(outside ? slot_ahead : to_ahead[f]) * STATE_BLOCK;
            const bool exterior = outside && !FACE_INTERP;
            if (exterior) from = a.exterior + to_ahead[f];
#pragma unroll
            for (int s = 0; s < NODE_STEPS; ++s) {
                const u32 node = fragment_row(FACE_NODES, s, j);
                const stored* row = from + (exterior ? node * FIELDS : rows[node]);
#pragma unroll
                for (int k = 0; k < FIELDS / 2; ++k)
                    fetch_pair(there + ((f * NODE_STEPS + s) * (FIELDS / 2) + k) * 64, row + 2 * k);
            }
        }
        dg_cp_async_commit();
    };
    // Reads the rows of face nodes across a face from their copies.
    const auto load_across = [&](int face, int s, real (&up)[FIELDS]) {
#pragma unroll
        for (int k = 0; k < FIELDS / 2; ++k) {
            const pair y = *reinterpret_cast<const pair*>(there + ((face * NODE_STEPS + s) * (FIELDS / 2) + k) * 64);
            up[2 * k] = y.x;
            up[2 * k + 1] = y.y;
        }
    };

    u32 group = blockIdx.x * TEAMS + team, buffer = 0;
    if (AHEAD) find_ahead(group);
    fetch_state(group, state);
    dg_cp_async_wait<1>();
    dg_block_sync();
    if (AHEAD) fetch_across();
    for (; group < groups; group += stride, buffer = BUFFERS - 1 - buffer) {
        // Lanes without an element repeat the part's last element; their results are not stored.
        const u32 wanted = group * GROUP + r;
        const bool exists = wanted < a.count;
        const u32 element = exists ? wanted : a.count - 1, slot = a.first + element;
        dg_cp_async_wait<0>();
        team_sync();
        stored* group_state = state + buffer * GROUP_STATE;
        // The state of the lane's element, or of the last existing one.
        const u32 last = elements_of(group) - 1;
        const stored* u = group_state + (r < last ? r : last) * STATE_BLOCK;
        if (BUFFERS > 1) fetch_state(group + stride, state + (1 - buffer) * GROUP_STATE);

        const u32 outsides = outside_faces;
        if (AHEAD) find_ahead(group + stride < groups ? group + stride : group);

        // Data that the stage needs at the end.
        if (!CURVED && (TEAM == 1 || member == 0) && WORK != 1 && a.step != nullptr && a.a != 0.0) {
            prefetch_lines(a.reg + part_begin + (u64)group * GROUP_STATE, elements_of(group) * STATE_BLOCK, lane);
        }

        constexpr bool in_registers = !JUMPS && WORK == 0;
        real kept[in_registers ? FACES : 1][TRACE_STEPS][FIELDS];

        // 1. Faces: both traces, half jumps, numerical fluxes; the gradient there, and the fluxes that the
        //    second pass lifts.
#pragma unroll(in_registers ? FACES : 1)
        for (int face = TEAM == 1 ? 0 : member; face < (WORK == 2 ? 0 : FACES); face += TEAM) {
            u32 to = 0, code = 0;
            if (!AHEAD || outsides >> face & 1) to = __ldg(a.across + (u64)slot * FACES + face);
            if (!AHEAD) code = __ldg(a.code + (u64)slot * FACES + face);
            const bool outside = AHEAD ? outsides >> face & 1 : code == EXTERIOR;
            const long long boundary = outside && to < p.boundary ? (long long)to : -1;
            const u32* own_rows = shared_own + face * FACE_NODES;
            const u32* rows = outside ? own_rows : shared_rows + code * FACE_NODES;
            const stored* neighbour = a.u + (u64)(outside ? slot : to) * STATE_BLOCK;
            // The normal, and duals of the directions across and along the face: n sJ/J = Σ_d N̂_d ∇r_d.
            real n[DIM], along[DIM * DIM];
            if (!CURVED) {
                const u32 across = across_direction(face);
                const real size = normal_at(a, element, face, 0, n), scale = is_slanted(face) ? size : -size;
                const stored* metric = a.metric + (u64)element * (DIM * DIM);
#pragma unroll
                for (int x = 0; x < DIM; ++x) along[x] = scale * n[x];
#pragma unroll
                for (u32 d = 1; d < DIM; ++d)
#pragma unroll
                    for (int x = 0; x < DIM; ++x) along[d * DIM + x] = __ldg(metric + (d <= across ? d - 1 : d) * DIM + x);
            }
            // Traces of a tile on both sides, where face points are interpolated.
            const auto interpolate = [&](int t, real (&minus)[FIELDS][2], real (&plus)[FIELDS][2]) {
                fragment_zero(minus);
                fragment_zero(plus);
// If it were unrolled, the kernel with both would need too many registers.
#pragma unroll(in_registers || WORK == 1 ? NODE_STEPS : 1)
                for (int s = 0; s < NODE_STEPS; ++s) {
                    const u32 node = fragment_row(FACE_NODES, s, j);
                    const real b = face_interp[(t * NODE_STEPS + s) * 32];
                    real um[FIELDS], up[FIELDS];
                    load_row(u + own_rows[node], um);
                    if (AHEAD) load_across(face, s, up);
                    else load_row_constant(neighbour + rows[node], up);
                    fragment_multiply(minus, um, b);
                    fragment_multiply(plus, up, b);
                }
            };
            // The states on both sides at the lane's point of a step.
            const auto states_at = [&](int t, int i, u32 point, const real (&minus)[FIELDS][2], const real (&plus)[FIELDS][2],
                                       real (&um)[FIELDS], real (&up)[FIELDS]) {
                if (FACE_INTERP) {
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) {
                        um[k] = minus[k][i];
                        up[k] = plus[k][i];
                    }
                } else {
                    load_row(u + own_rows[point], um);
                    if (AHEAD) load_across(face, 2 * t + i, up);
                    else load_row_constant(outside ? a.exterior + to + point * FIELDS : neighbour + rows[point], up);
                }
                if (FACE_INTERP && outside) {
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) up[k] = (real)__ldg(a.exterior + to + point * FIELDS + k);
                }
            };
            real trace[in_registers ? TRACE_STEPS : 1][FIELDS], flux[in_registers ? TRACE_STEPS : 1][FIELDS];
#pragma unroll(in_registers ? TRACE_TILES : 1)
            for (int t = 0; t < TRACE_TILES; ++t) {
                real minus[FIELDS][2], plus[FIELDS][2];
                if (FACE_INTERP) interpolate(t, minus, plus);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const int step = 2 * t + i;
                    if (step >= TRACE_STEPS) continue;
                    const u32 point = fragment_row(FACE_POINTS, step, j);
                    real um[FIELDS], up[FIELDS], jump[FIELDS];
                    states_at(t, i, point, minus, plus, um, up);
                    half_jump(p, boundary, point, um, up, jump);
                    if (WORK == 1 && exists && fragment_row_or_none(FACE_POINTS, step, j) >= 0) {
                        stored* to = p.lifted + (u64)slot * TRACE_BLOCK + (face * FACE_POINTS + point) * FIELDS;
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) to[k] = jump[k];
                    }
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) {
                        if (in_registers) {
                            kept[face][step][k] = jump[k];
                            trace[step][k] = um[k];
                        } else {
                            jumps[((JUMP_FACES > 1 ? face : 0) * TRACE_STEPS + step) * FIELDS * 32 + k * 32] = jump[k];
                        }
                    }
#if CURVED
                    if (in_registers) curved_normal(a, p, element, face, face * FACE_POINTS + point, n);
#endif
                    if (in_registers) numerical_flux(parameters, um, up, n, flux[step]);
                }
            }
#pragma unroll(in_registers ? TRACE_TILES : 1)
            for (int t = 0; t < TRACE_TILES; ++t) {
                // Derivatives across and along the face.
                real slope[DIM][FIELDS][2];
#pragma unroll
                for (int d = 0; d < DIM; ++d) fragment_zero(slope[d]);
                const real* b = face_slopes + (face * FACE_TILES + t * FACE_TILE) * 32;
#pragma unroll
                for (int s = 0; s < TRACE_STEPS; ++s) {
                    real x[FIELDS];
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k)
                        x[k] = in_registers ? kept[in_registers ? face : 0][s][k]
                                            : jumps[((JUMP_FACES > 1 ? face : 0) * TRACE_STEPS + s) * FIELDS * 32 + k * 32];
                    fragment_multiply(slope[0], x, b[s * 32]);
                }
                b += TRACE_STEPS * 32;
#pragma unroll
                for (int s = 0; s < STATE_STEPS; ++s) {
                    real x[FIELDS];
                    load_row(u + fragment_row(NP, s, j) * FIELDS, x);
                    fragment_multiply(slope[0], x, b[s * 32]);
                }
                b += STATE_STEPS * 32;
                if (TRACE_SHARED && t == TRACE_TILES - 1) {
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) slope[1][k][0] = slope[0][k][1];
                } else {
#pragma unroll
                    for (int s = 0; s < NODE_STEPS; ++s) {
                        real x[FIELDS];
                        if (FACE_INTERP || !in_registers) load_row(u + own_rows[fragment_row(FACE_NODES, s, j)], x);
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k)
                            if (!FACE_INTERP && in_registers) x[k] = trace[in_registers ? s : 0][k];
#pragma unroll
                        for (int d = 1; d < DIM; ++d) fragment_multiply(slope[d], x, b[(s * (DIM - 1) + d - 1) * 32]);
                    }
                }
                real minus[FIELDS][2], plus[FIELDS][2];
                if (FACE_INTERP && !in_registers) interpolate(t, minus, plus);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    const int step = 2 * t + i;
                    if (step >= TRACE_STEPS) continue;
                    real um[FIELDS], f[FIELDS], reference[DIM * FIELDS], grad[DIM * FIELDS];
#if CURVED
                    face_directions(a, p, element, face, face * FACE_POINTS + fragment_row(FACE_POINTS, step, j), n, along);
#endif
                    if (in_registers) {
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) {
                            um[k] = trace[in_registers ? step : 0][k];
                            f[k] = flux[in_registers ? step : 0][k];
                        }
                    } else {
                        real up[FIELDS];
                        states_at(t, i, fragment_row(FACE_POINTS, step, j), minus, plus, um, up);
                        numerical_flux(parameters, um, up, n, f);
                    }
#pragma unroll
                    for (int d = 0; d < DIM; ++d)
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d][k][i];
                    physical_gradient(along, reference, grad);
                    const int point = fragment_row_or_none(FACE_POINTS, step, j);
                    if (point < 0 || !exists) continue;
                    publish(parameters, p, slot, face * FACE_POINTS + point, boundary, point, um, grad, n, f);
                }
            }
        }

        if (AHEAD) fetch_across();
        if (WORK == 1) {
            team_sync();
            if (BUFFERS == 1) fetch_state(group + stride, state);
            continue;
        }

        if (TEAM > 1) team_sync();

        // 2. Volume: states and lifted gradients at points, contravariant fluxes, projection.
        real g[DIM * DIM];
        if (!CURVED) metric_at(a, element, 0, g);
        const stored* lifted = p.lifted + (u64)slot * TRACE_BLOCK;
        real rate[STATE_TILES][FIELDS][2];
#pragma unroll
        for (int t = 0; t < STATE_TILES; ++t) fragment_zero(rate[t]);
        // If `shares` (a constant), the directions share the tile.
        const auto volume = [&](int t, bool shares) {
            real points[FIELDS][2], slope[DIM][FIELDS][2];
            fragment_zero(points);
            fragment_zero(slope[0]);
            // Tables of liftings contain the sign of the face's normal. The normal of a face has either one
            // component or all: faces with all come first, while the directions are still equal.
            const auto lift = [&](int face, bool all) {
                // Not unrolled if operators are read from global memory: all loads would be issued at once
                // and fill the registers.
#pragma unroll(in_registers ? TRACE_STEPS : 1)
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
                        if (d == (all || shares ? 0 : (int)across_direction(face))) fragment_multiply(slope[d], x, b);
                }
            };
#pragma unroll
            for (int face = 0; face < FACES; ++face)
                if (is_slanted(face)) lift(face, true);
#pragma unroll
            for (int d = 1; d < DIM; ++d)
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
#pragma unroll
                    for (int i = 0; i < 2; ++i) slope[d][k][i] = slope[0][k][i];
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                real x[FIELDS];
                load_row(u + fragment_row(NP, s, j) * FIELDS, x);
                if (!COLLOCATED) fragment_multiply(points, x, interp[(t * STATE_STEPS + s) * 32]);
                const real* b = slopes + (t * STATE_STEPS * DIM + s * (shares ? 1 : DIM)) * 32;
#pragma unroll
                for (int d = 0; d < DIM; ++d)
                    if (d == 0 || !shares) fragment_multiply(slope[d], x, b[d * 32]);
            }
#pragma unroll
            for (int face = 0; face < FACES; ++face)
                if (!is_slanted(face)) lift(face, false);
            if (shares) {
#pragma unroll
                for (int k = 0; k < FIELDS; ++k) slope[1][k][0] = slope[0][k][1];
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                if (2 * t + i >= POINT_STEPS || (shares && i == 1)) continue;
                real x[FIELDS], f[DIM * FIELDS], reference[DIM * FIELDS], grad[DIM * FIELDS], diffusive[DIM * FIELDS];
                if (COLLOCATED) load_row(u + fragment_row(NP, 2 * t + i, j) * FIELDS, x);
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    if (!COLLOCATED) x[k] = points[k][i];
#pragma unroll
                for (int d = 0; d < DIM; ++d)
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) reference[d * FIELDS + k] = slope[d][k][i];
#if CURVED
                const real inverse = volume_geometry(a, element, fragment_row(NQ, 2 * t + i, j), g);
#endif
                physical_gradient(g, reference, grad);
#if CURVED
#pragma unroll
                for (int k = 0; k < DIM * FIELDS; ++k) grad[k] *= inverse;
#endif
#if COEFFICIENTS
                diffusive_flux(own_parameters(parameters, p, slot), x, grad, diffusive);
#else
                diffusive_flux(parameters, x, grad, diffusive);
#endif
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
        };
#pragma unroll 1
        for (int t = TEAM == 1 ? 0 : member; t < POINT_TILES - POINT_SHARED; t += TEAM) volume(t, false);
        if (POINT_SHARED) volume(POINT_TILES - 1, true);

        // 3. The rows, kept for the second pass.
        const Keep keep = own_keep(a, slot);
        if (!STAGED) {
#pragma unroll
            for (int s = 0; s < STATE_STEPS; ++s) {
                const int row = fragment_row_or_none(NP, s, j);
                if (row < 0 || !exists) continue;
                const u64 at = (u64)slot * STATE_BLOCK + row * FIELDS;
                real y[FIELDS];
#pragma unroll
                for (int k = 0; k < FIELDS; ++k)
                    y[k] = keep.dt * (rate[s / 2][k][s % 2] + (p.source ? (real)__ldg(p.source + at + k) : 0));
                if (keep.reads_register) {
                    real before[FIELDS];
                    load_row(a.reg + at, before);
#pragma unroll
                    for (int k = 0; k < FIELDS; ++k) y[k] += keep.a * before[k];
                }
                store_row(p.kept + at, y);
            }
        } else {
            // Stored first in the distribution over lanes, then copied in the order of memory.
            team_sync();
#pragma unroll
            for (int turn = 0; turn < TEAM; ++turn) {
                if (TEAM == 1 || member == turn) {
#pragma unroll
                    for (int s = 0; s < STATE_STEPS; ++s) {
                        const int row = fragment_row_or_none(NP, s, j);
                        if (row < 0 || !exists) continue;
                        stored* to = group_state + r * STATE_BLOCK + row * FIELDS;
#pragma unroll
                        for (int k = 0; k < FIELDS; ++k) to[k] = rate[s / 2][k][s % 2] + (turn > 0 ? (real)to[k] : 0);
                    }
                }
                team_sync();
            }
            const u64 begin = part_begin + (u64)group * GROUP_STATE;
            const u32 n = elements_of(group) * STATE_BLOCK;
            keep_rows(a, p, keep, a.first + group * GROUP, begin, n, mate, group_state);
        }
        team_sync();
        if (BUFFERS == 1) fetch_state(group + stride, state);
    }
}
