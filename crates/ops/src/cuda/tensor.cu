// The fused residual and Runge–Kutta stage on quadrilaterals and hexahedra with collocated Gauss–Lobatto nodes, affine
// or curved. The host's twin is residual.rs; operators come from tensor.rs.
//
// One thread a node, a few elements a block. A thread at the end of a line forms the numerical flux there itself, so
// that its own trace and the flux never leave its registers; where few nodes are at ends, face points are dealt out to
// all threads instead, and traces and fluxes go through shared memory. Contravariant fluxes go to shared memory; after
// one barrier each node sums along its lines. State is [element][node][field] (LANES = 1); rows of an odd number of
// unknowns are read and written along memory, by way of shared memory.
//
// Beside the macros of common.cuh, with DIRECT = 1 and COLLOCATED = 1:
//   NODES             nodes along a line
//   ELEMENTS          of a block
//   BLOCKS            blocks of a multiprocessor
//   AHEAD             registers of the stage arrive in shared memory while fluxes are computed; odd rows only
//   DEAL              face points are dealt out (1), or done where lines end (0)
//   ASK               directions in which neighbours' states are asked for before the first flux; DEAL = 0
//   FACE_AT           [direction][end]: number of the face there
//   FACE_POINT        [direction, end][number across the lines]: point of the face, counted within it, at a node
// `tables` has the 1-D matrix P, [node][node], and the lifts at both ends.
// Where BLOCK_STATE is even, `u`, `reg`, `start` and `out` begin at multiples of 16 bytes, and so does slot `first`.

constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_point[FACES][FACE_POINTS] = FACE_POINT;
constexpr int THREADS = ELEMENTS * NP;
constexpr bool STAGED = FIELDS % 2 != 0;
constexpr int LINE = NODES | 1;                          // row of P in shared memory, against bank conflicts
constexpr int BLOCK_STATE = ELEMENTS * NP * FIELDS;
constexpr bool PAIRS = BLOCK_STATE % 2 == 0;             // every block begins at a multiple of 16 bytes
// The plan of shared memory.
constexpr int FLUX_AT = (NODES * LINE + 1) / 2 * 2;      // [element][direction][field][node]
constexpr int STATE_AT = (FLUX_AT + DIM * BLOCK_STATE + 1) / 2 * 2;  // [element][node][field]
constexpr int AHEAD_AT = STATE_AT + (STAGED ? (BLOCK_STATE + 1) / 2 * 2 : 0);
// [element][field][direction, end][number across the lines]
constexpr int FACE_FLUX_AT = AHEAD_AT + (STAGED && AHEAD ? (BLOCK_STATE + 1) / 2 * 2 : 0);

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : d == 1 ? NODES : NODES * NODES; }

// The number of a node among those with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) {
    return d == 0 ? node / NODES : d == 1 ? node / (NODES * NODES) * NODES + node % NODES : node % (NODES * NODES);
}

// Starts to copy the states or registers of the block.
static __device__ __forceinline__ void fetch(real* to, const real* from, u32 n) {
    if (PAIRS) {
        for (u32 i = 2 * threadIdx.x; i + 1 < n; i += 2 * THREADS) copy_pair_async(to + i, from + i);
        if (n % 2 && threadIdx.x == 0) to[n - 1] = from[n - 1];
    } else {
        for (u32 i = threadIdx.x; i < n; i += THREADS) copy_one_async(to + i, from + i);
    }
}

// A node at the end of a line, and the state on the other side.
struct End {
    bool is;    // whether the node is one
    u32 face;   // number of the face
    u32 point;  // number of the point within it
    real up[FIELDS];
};

// A face point of the block, and the state on the other side.
struct Point {
    u32 element;  // of the block
    u32 q;        // number among the face points of an element
    u32 at;       // the own trace's row
    real up[FIELDS];
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) residual(const Arguments a, const Parameters parameters) {
    DG_DYNAMIC_SHARED(real, shared);
    real *matrix = shared, *flux = shared + FLUX_AT, *state = shared + STATE_AT, *ahead = shared + AHEAD_AT;
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
    for (u32 i = threadIdx.x; i < NODES * NODES; i += THREADS)
        matrix[i / NODES * LINE + i % NODES] = __ldg(a.tables + i);

    // A thread beyond the last element computes that one again, and stores nothing.
    const u32 local = threadIdx.x / NP, node = threadIdx.x % NP;
    const bool exists = local < n;
    const u32 element = first + (exists ? local : n - 1), slot = a.first + element;
    constexpr u32 face_at[DIM][2] = FACE_AT;
    const auto ask = [&](int d, End& end) {
        const u32 i = node / power(d) % NODES;
        end.is = i == 0 || i == NODES - 1;
        if (!end.is) return;
        end.face = i == 0 ? face_at[d][0] : face_at[d][1];
        end.point = face_point[2 * d + (i == 0 ? 0 : 1)][across_line(node, d)];
        const Across r = across(a, slot, end.face);
        load_row_constant(r.source + (r.rows ? __ldg(r.rows + end.point) : end.point * FIELDS), end.up);
    };
    const auto ask_item = [&](u32 item, Point& p) {
        p.element = item / NF;
        p.q = item % NF;
        p.at = __ldg(a.own + p.q);
        const Across r = across(a, a.first + first + p.element, p.q / FACE_POINTS);
        const u32 point = p.q % FACE_POINTS;
        load_row_constant(r.source + (r.rows ? __ldg(r.rows + point) : point * FIELDS), p.up);
    };
    const auto solve_item = [&](const Point& p) {
        real um[FIELDS], f[FIELDS];
        if (STAGED) load_row(state + p.element * STATE_BLOCK + p.at, um);
        else load_row_constant(a.u + begin + p.element * STATE_BLOCK + p.at, um);
        const u32 face = p.q / FACE_POINTS;
        face_flux(a, parameters, first + p.element, face, p.q, um, p.up, f);
        u32 end = 0, number = 0;
#pragma unroll
        for (int d = 0; d < DIM; ++d)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (face == face_at[d][e]) {
                    end = 2 * d + e;
                    number = across_line(p.at / FIELDS, d);
                }
        real* y = shared + FACE_FLUX_AT + p.element * NF * FIELDS + end * FACE_POINTS + number;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k * NF] = f[k];
    };
    End ends[DIM];
    Point asked;
    if (DEAL) {
        if (threadIdx.x < n * NF) ask_item(threadIdx.x, asked);
    } else {
#pragma unroll
        for (int d = 0; d < ASK; ++d) ask(d, ends[d]);
    }

    real u[FIELDS], rate[FIELDS];
    if (STAGED) {
        dg_cp_async_wait<1>();
        dg_block_sync();
        load_row(state + (exists ? local : n - 1) * STATE_BLOCK + node * FIELDS, u);
    } else {
        load_row_constant(a.u + (u64)slot * STATE_BLOCK + node * FIELDS, u);
    }

    // 1. Contravariant fluxes.
    {
        real g[DIM * DIM], f[DIM * FIELDS];
        metric_at(a, element, node, g);
        volume_flux(parameters, u, g, f);
#pragma unroll
        for (int i = 0; i < DIM * FIELDS; ++i)
            flux[(local * DIM * FIELDS + i) * NP + node] = f[i];
    }

    // 2. Numerical fluxes.
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) rate[k] = 0;
    if (DEAL) {
        if (threadIdx.x < n * NF) solve_item(asked);
        for (u32 item = threadIdx.x + THREADS; item < n * NF; item += THREADS) {
            ask_item(item, asked);
            solve_item(asked);
        }
    } else {
#pragma unroll
        for (int d = 0; d < DIM; ++d) {
            End& end = ends[d];
            if (d >= ASK) ask(d, end);
            if (!end.is) continue;
            real f[FIELDS];
            face_flux(a, parameters, element, end.face, end.face * FACE_POINTS + end.point, u, end.up, f);
            const real lift = __ldg(a.tables + NODES * NODES + (node / power(d) % NODES == 0 ? 0 : 1));
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) rate[k] -= lift * f[k];
        }
    }
    if (STAGED && AHEAD) dg_cp_async_wait<0>();
    dg_block_sync();

    // 3. Sums along the lines.
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
        if (DEAL && (i == 0 || i == NODES - 1)) {
            const u32 e = i == 0 ? 0 : 1;
            const real lift = __ldg(a.tables + NODES * NODES + e);
            const real* y = shared + FACE_FLUX_AT + local * NF * FIELDS;
            y += (2 * d + e) * FACE_POINTS + across_line(node, d);
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
                real x = u[k];
                if (a.b != 0.0 && exists)
                    x = factors.b * __ldg(a.start + begin + threadIdx.x * FIELDS + k) + factors.rest * x;
                y = x + factors.c * y;
            }
            own[k] = y;
        }
        dg_block_sync();
        if (PAIRS) {
            for (u32 i = 2 * threadIdx.x; i + 1 < n * STATE_BLOCK; i += 2 * THREADS) {
                *reinterpret_cast<pair*>(a.out + begin + i) = *reinterpret_cast<const pair*>(state + i);
                if (STAGE && a.keep)
                    *reinterpret_cast<pair*>(a.reg + begin + i) = *reinterpret_cast<const pair*>(ahead + i);
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
