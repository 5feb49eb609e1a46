// Constants and helpers of simplex_gradient.cu: layout of operators, directions of faces, copies.

constexpr int STATE_STEPS = fragment_steps(NP), STATE_TILES = fragment_tiles(NP);
constexpr int POINT_STEPS = fragment_steps(NQ), POINT_TILES = fragment_tiles(NQ);
constexpr int NODE_STEPS = fragment_steps(FACE_NODES);
constexpr int TRACE_STEPS = fragment_steps(FACE_POINTS), TRACE_TILES = fragment_tiles(FACE_POINTS);
// Offsets of the operators in `tables`, in the order of simplex_diffusion.rs.
constexpr int FACE_AT = 0;                                                                   // [tile][step]
constexpr bool TRACE_SHARED = DIM == 2 && fragment_half(FACE_POINTS), POINT_SHARED = DIM == 2 && fragment_half(NQ);
// For each face and tile: [step] the lifting, [step] the direction across, [step][direction] the directions
// along, from face nodes.
constexpr int FACE_TILE = TRACE_STEPS + STATE_STEPS + (DIM - 1) * NODE_STEPS;
constexpr int FACE_TILES = TRACE_TILES * FACE_TILE - (TRACE_SHARED ? NODE_STEPS : 0);
constexpr int FACE_SLOPE_AT = FACE_AT + (FACE_INTERP ? TRACE_TILES * NODE_STEPS * 32 : 0);   // [face][tile]
constexpr int INTERP_AT = FACE_SLOPE_AT + FACES * FACE_TILES * 32;                           // [tile][step]
constexpr int POINT_LIFT_AT = INTERP_AT + (COLLOCATED ? 0 : POINT_TILES * STATE_STEPS * 32); // [face][tile][step]
constexpr int SLOPE_AT = POINT_LIFT_AT + FACES * POINT_TILES * TRACE_STEPS * 32;             // [tile][step][direction]
constexpr int PROJECT_AT = SLOPE_AT + (DIM * POINT_TILES - POINT_SHARED) * STATE_STEPS * 32; // [step][tile][direction]
constexpr int SHARED_TABLES = TABLES_TO - TABLES_FROM;

constexpr int GROUP = 8;  // elements of a team
constexpr int TEAMS = WARPS / TEAM, MATES = 32 * TEAM;  // and number of threads of a team
static_assert(TEAM == 1 || (FIELDS % 2 != 0 && JUMPS && WORK == 0 && !AHEAD), "where two warps share elements, they meet in shared memory");
constexpr int GROUP_STATE = GROUP * STATE_BLOCK;
// Results go through shared memory if a row is not a whole number of pairs.
constexpr bool STAGED = FIELDS % 2 != 0;
// Barrier of the team.
static __device__ __forceinline__ void team_sync() {
    if (TEAM == 1) dg_warp_sync();
    else dg_pair_sync();
}

// Number of faces whose half jumps are stored here: all, or one if the volume has its own kernel.
constexpr int JUMP_FACES = WORK == 1 ? 1 : JUMPS ? FACES : 0;
constexpr int JUMP_SPACE = JUMP_FACES * TRACE_STEPS * FIELDS * 32;  // of a team: [face][step][field][lane]

// The rows that the first pass stores, see `Keep`. The rows of a curved element are stored unchanged: the
// second pass applies the metric rule to them and to the fluxes that it lifts.
static __device__ __forceinline__ Keep own_keep(const Arguments& a, u32 slot) {
    if (!CURVED) return keep_factors(a, slot);
    Keep k;
    k.a = 0;
    k.dt = 1;
    k.reads_register = false;
    return k;
}

constexpr int ACROSS_SPACE = AHEAD ? FACES * NODE_STEPS * FIELDS * 32 : 0;  // of a warp: [face][step][pair][lane]

// Starts to copy a pair of numbers.
static __device__ __forceinline__ void fetch_pair(stored* to, const stored* from) {
    if (sizeof(stored) == 8) dg_cp_async16(to, from);
    else dg_cp_async8(to, from);
}

// Starts to copy the state of `n` elements; an odd scalar at the end is copied at once.
static __device__ __forceinline__ void fetch(stored* to, const stored* from, u32 n, u32 mate) {
    const u32 pairs = n * STATE_BLOCK / 2;
#pragma unroll 4
    for (int i = 0; i < (GROUP_STATE / 2 + MATES - 1) / MATES; ++i) {
        const u32 p = i * MATES + mate;
        if (p >= pairs) continue;
        fetch_pair(to + 2 * p, from + 2 * p);
    }
    if (STATE_BLOCK % 2 && n % 2 && mate == 0) to[2 * pairs] = from[2 * pairs];
}

// Stores the `n` numbers at `rows` of a group from `slot` on, whose offset in the state is `begin`. The team
// must synchronise before.
static __device__ __forceinline__ void keep_rows(const Arguments& a, const Published& p, const Keep& keep, u32 slot, u64 begin,
                                                 u32 n, u32 mate, stored* rows) {
    if (p.source) {
#pragma unroll 1
        for (u32 i = mate; i < n; i += MATES) rows[i] += __ldg(p.source + begin + i);
    }
    real dt = keep.dt;
    if (!CURVED && a.step != nullptr && a.local) {
        dt = *a.step;
#pragma unroll 1
        for (u32 i = mate; i < n; i += MATES) rows[i] *= __ldg(a.local + slot + i / STATE_BLOCK);
    }
    team_sync();
    // In pairs; an odd number is at the end of the part.
#pragma unroll 4
    for (u32 i = 2 * mate; i + 1 < n; i += 2 * MATES) {
        const pair x = *reinterpret_cast<const pair*>(rows + i);
        real y[2] = {dt * x.x, dt * x.y};
        if (keep.reads_register) {
            real before[2];
            load_two(a.reg + begin + i, before);
            y[0] += keep.a * before[0];
            y[1] += keep.a * before[1];
        }
        store_two(p.kept + begin + i, y);
    }
    if (n % 2 && mate == 0) {
        real y = dt * (real)rows[n - 1];
        if (keep.reads_register) y += keep.a * (real)a.reg[begin + n - 1];
        p.kept[begin + n - 1] = y;
    }
}
