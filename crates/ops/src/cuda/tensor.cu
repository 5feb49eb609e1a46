// The fused residual and Runge–Kutta stage on quadrilaterals and hexahedra with collocated Gauss–Lobatto nodes, affine or
// curved. The host's twin is residual.rs; operators come from tensor.rs.
//
// One thread a node, a few elements a block. Contravariant fluxes at the nodes and numerical fluxes at the face points go to
// shared memory; after one barrier each node sums along its lines. State is [element][node][field] (LANES = 1).
// Rows of an odd number of unknowns are read and written along memory, by way of shared memory.
//
// Beside the macros of common.cuh, with DIRECT = 1 and COLLOCATED = 1:
//   NODES             nodes along a line
//   ELEMENTS          of a block
//   BLOCKS            blocks of a multiprocessor
//   AHEAD             registers of the stage arrive in shared memory while fluxes are computed; odd rows only
//   FACE_DIRECTION    { direction that each face is normal to }
//   FACE_END          { its end of the line: 0 or 1 }
// `tables` has the 1-D matrix P, [node][node], and the lifts at both ends.
// `u`, `reg`, `start` and `out` begin at multiples of 16 bytes, and so does slot `first` in them.

constexpr int FACE_POINTS = NF / FACES;
constexpr int THREADS = ELEMENTS * NP;
constexpr bool STAGED = FIELDS % 2 != 0;
constexpr int LINE = NODES | 1;                               // row of P in shared memory, against bank conflicts
constexpr int BLOCK_STATE = ELEMENTS * NP * FIELDS;
constexpr bool PAIRS = BLOCK_STATE % 2 == 0;                  // every block begins at a multiple of 16 bytes
// The plan of shared memory.
constexpr int MATRIX_AT = 0;
constexpr int FLUX_AT = MATRIX_AT + (NODES * LINE + 3) / 2 * 2;     // [element][direction][field][node]
constexpr int FACE_AT = FLUX_AT + DIM * BLOCK_STATE;          // [element][field][direction, end][point]
constexpr int STATE_AT = (FACE_AT + ELEMENTS * NF * FIELDS + 1) / 2 * 2;  // [element][node][field]
constexpr int AHEAD_AT = STATE_AT + (BLOCK_STATE + 1) / 2 * 2;

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : d == 1 ? NODES : NODES * NODES; }

// The number of a node among those with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) {
    return d == 0 ? node / NODES : d == 1 ? node / (NODES * NODES) * NODES + node % NODES : node % (NODES * NODES);
}

// Starts to copy the states or registers of the block.
static __device__ __forceinline__ void fetch(real* to, const real* from, u32 n) {
    if (PAIRS) {
        for (u32 i = 2 * threadIdx.x; i + 1 < n; i += 2 * THREADS) dg_cp_async16(to + i, from + i);
        if (n % 2 && threadIdx.x == 0) to[n - 1] = from[n - 1];
    } else {
        for (u32 i = threadIdx.x; i < n; i += THREADS) dg_cp_async8(to + i, from + i);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    real *matrix = shared + MATRIX_AT, *flux = shared + FLUX_AT, *faces = shared + FACE_AT;
    real *state = shared + STATE_AT, *ahead = shared + AHEAD_AT;
    const u32 first = blockIdx.x * ELEMENTS;  // of the part
    const u32 n = a.count - first < ELEMENTS ? a.count - first : ELEMENTS;
    const u64 begin = (u64)(a.first + first) * STATE_BLOCK;
    const bool reads_register = STAGE && a.a != 0.0;
    if (STAGED) {
        fetch(state, a.u + begin, n * STATE_BLOCK);
        dg_cp_async_commit();
        if (AHEAD && reads_register) fetch(ahead, a.reg + begin, n * STATE_BLOCK);
        dg_cp_async_commit();
    }
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS) matrix[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);

    // A thread beyond the last element computes that one's fluxes again, and stores nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;

    // 1. Numerical fluxes. The neighbours' states are asked for before the block meets.
    constexpr int direction[FACES] = FACE_DIRECTION, end[FACES] = FACE_END;
    struct Point {
        u32 element, q, face, at;  // `at`: where the own trace lies in an element
        real up[FIELDS];
    };
    const auto ask = [&](u32 item) {
        Point p;
        p.element = item / NF;
        p.q = item % NF;
        p.face = p.q / FACE_POINTS;
        p.at = __ldg(a.own + p.q);
        const Across r = across(a, a.first + first + p.element, p.face);
        const u32 point = p.q % FACE_POINTS;
        if (FIELDS % 2 == 0) load_row_constant(r.source + (r.rows ? __ldg(r.rows + point) : point * FIELDS), p.up);
        else state_across(r, point, p.up);
        return p;
    };
    const auto solve = [&](const Point& p) {
        real um[FIELDS], f[FIELDS];
        if (STAGED) load_row(state + p.element * STATE_BLOCK + p.at, um);
        else load_row_constant(a.u + begin + p.element * STATE_BLOCK + p.at, um);
        face_flux(a, parameters, first + p.element, p.face, p.q, um, p.up, f);
        int d = direction[0], e = end[0];
#pragma unroll
        for (int i = 1; i < FACES; ++i) {
            d = p.face == i ? direction[i] : d;
            e = p.face == i ? end[i] : e;
        }
        const u32 own = p.at / FIELDS;
        const u32 b = d == 0 ? across_line(own, 0) : DIM == 2 || d == 1 ? across_line(own, 1) : across_line(own, 2);
        real* y = faces + p.element * NF * FIELDS + (2 * d + e) * FACE_POINTS + b;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    };
    real g[DIM * DIM];
    metric_at(a, element, node, g);
    constexpr int ROUNDS = (ELEMENTS * NF + THREADS - 1) / THREADS;
    Point asked;
    if (threadIdx.x < n * NF) asked = ask(threadIdx.x);
    if (STAGED) {
        dg_cp_async_wait<1>();
        dg_block_sync();
    }
    if (threadIdx.x < n * NF) solve(asked);
#pragma unroll
    for (int i = 1; i < ROUNDS; ++i)
        if (threadIdx.x + i * THREADS < n * NF) solve(ask(threadIdx.x + i * THREADS));

    // 2. Contravariant fluxes.
    real u[FIELDS];
    if (STAGED) load_row(state + (exists ? local : n - 1) * STATE_BLOCK + node * FIELDS, u);
    else load_row_constant(a.u + (u64)slot * STATE_BLOCK + node * FIELDS, u);
    {
        real f[DIM * FIELDS];
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i) flux[(local * DIM * FIELDS + i) * NP + node] = f[i];
    }
    if (STAGED && AHEAD) dg_cp_async_wait<0>();
    dg_block_sync();

    // 3. Sums along the lines.
    real rate[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
#pragma unroll
    for (int d = 0; d < DIM; ++d) {
        const u32 i = node / power(d) % NODES;
        const real* row = matrix + i * LINE;
        const real* f = flux + (local * DIM + d) * FIELDS * NP + node - i * power(d);
#pragma unroll
        for (int m = 0; m < NODES; ++m) {
            const real p = row[m];
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] += p * f[k * NP + m * power(d)];
        }
        if (i == 0 || i == NODES - 1) {
            const u32 e = i == 0 ? 0 : 1;
            const real lift = __ldg(a.tables + NODES * NODES + e);
            const real* y = faces + local * NF * FIELDS + (2 * d + e) * FACE_POINTS + across_line(node, d);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * y[k * NF];
        }
    }
    if (CURVED) {
        const real scale = __ldg(a.inverse_jacobian + (u64)element * NP + node);
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) rate[k] *= scale;
    }

    // 4. The stage.
    const StageFactors factors = stage_factors(a, slot);
    if (!STAGED) {
        const u64 at = (u64)slot * STATE_BLOCK + node * FIELDS;
        if (exists) finish_row(a, factors, reads_register ? a.reg + at : nullptr, at, u, rate);
        return;
    }
    // First by nodes: the next state in place of the state, the register beside it.
    real* own = state + threadIdx.x * FIELDS;
    real* reg = ahead + threadIdx.x * FIELDS;
    if (AHEAD) {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            real y = rate[k];
            if (STAGE) {
                y *= factors.dt;
                if (reads_register) y += factors.a * reg[k];
                reg[k] = y;
                if (a.b != 0.0 && exists)
                    u[k] = factors.b * __ldg(a.start + begin + threadIdx.x * FIELDS + k) + factors.rest * u[k];
                y = u[k] + factors.c * y;
            }
            own[k] = y;
        }
        dg_block_sync();
        if (PAIRS) {
            for (u32 i = 2 * threadIdx.x; i + 1 < n * STATE_BLOCK; i += 2 * THREADS) {
                *reinterpret_cast<double2*>(a.out + begin + i) = *reinterpret_cast<const double2*>(state + i);
                if (STAGE && a.keep)
                    *reinterpret_cast<double2*>(a.reg + begin + i) = *reinterpret_cast<const double2*>(ahead + i);
            }
        }
        // What is left over, or everything.
        for (u32 i = PAIRS ? n * STATE_BLOCK / 2 * 2 + threadIdx.x : threadIdx.x; i < n * STATE_BLOCK; i += THREADS) {
            a.out[begin + i] = state[i];
            if (STAGE && a.keep) a.reg[begin + i] = ahead[i];
        }
    } else {
        dg_block_sync();  // fluxes have been read
        real* staged = flux;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) staged[threadIdx.x * FIELDS + k] = STAGE ? rate[k] * factors.dt : rate[k];
        dg_block_sync();
        StageFactors whole = factors;
        whole.dt = 1;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            const u32 i = threadIdx.x + k * THREADS;
            if (i < n * STATE_BLOCK) finish(a, whole, begin + i, state[i], staged[i]);
        }
    }
}
