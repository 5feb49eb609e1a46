// Step bound of each element, unit / (λ + ν σ/τ), the smallest over a part, and the detection of bad states.
//
// A state that is not finite or not admissible is reported by its slot. A block processes ELEMENTS elements
// at a time, and TEAM threads share an element: each computes AT_ONCE of its points at once. Same computation
// as `Discretization::time_step` on the host.
//
// Macros beside those of common.cuh: BLOCK threads; ELEMENTS; TEAM; AT_ONCE; the layout of the work space
// STATE_AT, FOUND_AT and its size WORK; it is in shared memory if SHARED_WORK; DIFFUSION if the law has a
// diffusivity. With BY_LANES states are kept as [row][field][element] with the stride STRIDE, and the
// interpolation is the dense table [node][point] at DENSE_AT; otherwise it is the chain INTERP, with
// POINTS_AT, EVEN_AT, ODD_AT.
#if COEFFICIENTS
//
// With a coefficient of each element the diffusivity depends on the gradient: that of the element itself,
// without the jumps at its faces. The chain GRADIENT gives it from states beside half jumps of zero at
// JOINED_AT, with the states at volume points in front unless they are nodes, to GRADIENTS_AT.
#endif

constexpr u32 NONE = 0xffffffffu;

static __device__ __forceinline__ StepBound lesser_bound(StepBound a, StepBound b) {
    a.step = b.step < a.step ? b.step : a.step;
    a.bad = b.bad < a.bad ? b.bad : a.bad;
    return a;
}

// The smallest bound of the block, by a tree of fixed shape; thread 0 returns the result. BLOCK is a power of
// two.
static __device__ __forceinline__ StepBound least_of_block(StepBound bound) {
    __shared__ StepBound tree[BLOCK];
    tree[threadIdx.x] = bound;
    dg_block_sync();
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tree[threadIdx.x] = lesser_bound(tree[threadIdx.x], tree[threadIdx.x + half]);
        dg_block_sync();
    }
    return tree[0];
}

// The states of `n` elements from `slot` on, as [row][field][element]. A barrier is needed after.
static __device__ __forceinline__ void load_lanes(const Arguments& a, u32 slot, u32 n, real* to) {
    constexpr u32 len = NP * FIELDS;
    for (u32 i = threadIdx.x; i < ELEMENTS * len; i += BLOCK) {
        const u32 e = LANES > 1 ? i % ELEMENTS : i / len, entry = LANES > 1 ? i / ELEMENTS : i % len;
        if (e >= n) continue;
        const u32 at = PLANAR ? entry % NP * FIELDS + entry / NP : entry;
        to[at * STRIDE + e] = __ldg(a.u + slot_begin(slot + e, STATE_BLOCK) + entry * LANES);
    }
}

#if COEFFICIENTS
constexpr u32 JOINED = NP + NF, STATES = COLLOCATED ? 0 : NQ, GRADIENTS = STATES + DIM * NQ;

// The states of `n` elements from `slot` on, beside half jumps of zero. A barrier is needed after.
static __device__ __forceinline__ void load_joined(const Arguments& a, u32 slot, u32 n, real* to) {
    for (u32 i = threadIdx.x; i < n * JOINED * FIELDS; i += BLOCK) {
        const u32 e = i / (JOINED * FIELDS), at = i % (JOINED * FIELDS);
        const u32 entry = PLANAR ? at % FIELDS * NP + at / FIELDS : at;
        to[i] = at < NP * FIELDS ? (real)__ldg(a.u + slot_begin(slot + e, STATE_BLOCK) + entry * LANES) : (real)0;
    }
}

// State and physical gradient of element `e` of the block at point `q`; `element`: its number in the part.
static __device__ __forceinline__ void gradient_at(const Arguments& a, const real* work, u32 e, u32 element, u32 q,
                                                   real (&state)[FIELDS], real (&grad)[DIM * FIELDS]) {
    const real* values = COLLOCATED ? work + JOINED_AT + (e * JOINED + q) * FIELDS
                                    : work + GRADIENTS_AT + (e * GRADIENTS + q) * FIELDS;
    const real* slopes = work + GRADIENTS_AT + (e * GRADIENTS + STATES + q) * FIELDS;
    real g[DIM * DIM];
    metric_at(a, element, q, g);
    const real scale = CURVED ? (real)__ldg(a.inverse_jacobian + (u64)element * NQ + q) : (real)1;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        state[k] = values[k];
#pragma unroll
        for (int x = 0; x < DIM; ++x) {
            real sum = g[x] * slopes[k];
#pragma unroll
            for (int d = 1; d < DIM; ++d) sum += g[d * DIM + x] * slopes[d * NQ * FIELDS + k];
            grad[x * FIELDS + k] = scale * sum;
        }
    }
}
#else
// The states of element `e` of the block at the points `first`, `first` + TEAM, …; the last point takes the
// place of points that do not exist.
static __device__ __forceinline__ void states_at(const Arguments& a, const real* work, u32 e, u32 first,
                                                 real (&state)[AT_ONCE][FIELDS]) {
    u32 q[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) q[i] = first + i * TEAM < NQ ? first + i * TEAM : NQ - 1;
#if !BY_LANES
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[i][k] = work[POINTS_AT + (e * NQ + q[i]) * FIELDS + k];
#elif COLLOCATED
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[i][k] = work[STATE_AT + (q[i] * FIELDS + k) * STRIDE + e];
#else
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) state[i][k] = 0;
#pragma unroll 2
    for (u32 j = 0; j < NP; ++j) {
        real x[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = work[STATE_AT + (j * FIELDS + k) * STRIDE + e];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const real m = __ldg(a.tables + DENSE_AT + j * NQ + q[i]);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) state[i][k] += m * x[k];
        }
    }
#endif
}
#endif

// Largest speed and diffusivity of some points, and whether a state is bad.
struct Largest {
    real speed, diffusivity;
    bool bad;
};
#if DIRECTED

// The rate at which waves of this state cross element `element` of the part, at point `q`.
static __device__ __forceinline__ real rate_at(const Arguments& a, const Parameters& parameters, u32 element, u32 q,
                                               const real (&state)[FIELDS]) {
    real g[DIM * DIM], rate[1];
    metric_at(a, element, q, g);
    const real scale = CURVED ? (real)__ldg(a.inverse_jacobian + (u64)element * NQ + q) : (real)1;
#pragma unroll
    for (int i = 0; i < DIM * DIM; ++i) g[i] *= scale;
    wave_rate(parameters, state, g, rate);
    return rate[0];
}
#endif

#if COEFFICIENTS
static __device__ __forceinline__ void add_point(const Parameters& parameters, const real (&state)[FIELDS],
                                                 const real (&grad)[DIM * FIELDS], Largest& l) {
#else
static __device__ __forceinline__ void add_point(const Parameters& parameters, const real (&state)[FIELDS],
                                                 Largest& l) {
#endif
    bool finite = true;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) finite = finite && state[k] - state[k] == 0;
    real w[2];
    wave(parameters, state, w);
    l.bad = l.bad || !(finite && w[0] - w[0] == 0 && w[1] > 0);
    l.speed = w[0] > l.speed ? w[0] : l.speed;
#if DIFFUSION
    real nu[1];
#if COEFFICIENTS
    diffusivity(parameters, state, grad, nu);
#else
    diffusivity(parameters, state, nu);
#endif
    l.bad = l.bad || !(nu[0] - nu[0] == 0);
    l.diffusivity = nu[0] > l.diffusivity ? nu[0] : l.diffusivity;
#endif
}

#if DIRECTED
// `spread` is the factor of the rate, with which it is the inverse of the step, or 0 if the speed in all
// directions counts.
#endif
// `unit`, `spread`: of each slot; `spread` is σ/τ and read with DIFFUSION only; `steps`: the step of each
// slot, or null; `partial`: one bound per block.
extern "C" __global__ void __launch_bounds__(BLOCK)
#if COEFFICIENTS
    wave_speed(const Arguments a, const Parameters of_all, const double* unit, const double* spread,
               real* steps, StepBound* partial, const stored* coefficients) {
#else
    wave_speed(const Arguments a, const Parameters parameters, const double* unit, const double* spread,
               real* steps, StepBound* partial) {
#endif
    real* work = work_space(a);
    // The element of a thread, and its place in the team: threads of a warp read different elements with
    // BY_LANES, different points otherwise.
    const u32 e = BY_LANES ? threadIdx.x % ELEMENTS : threadIdx.x / TEAM;
    const u32 member = BY_LANES ? threadIdx.x / ELEMENTS : threadIdx.x % TEAM;
    // [member][element]: the largest speed, or −1 if a state is bad, and the largest diffusivity.
    real *speeds = work + FOUND_AT, *diffusivities = speeds + BLOCK;
    StepBound bound;
    bound.step = 1.0 / 0.0;
    bound.bad = NONE;
    bound.unused = 0;
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;
        const u32 left = a.count - element, n = left < ELEMENTS ? left : ELEMENTS;
        const u32 slot = a.first + element + threadIdx.x;
        const double own_unit = threadIdx.x < n ? __ldg(unit + slot) : 0;
#if DIFFUSION
        const double own_spread = threadIdx.x < n ? __ldg(spread + slot) : 0;
#endif
#if DIRECTED
        const double own_factor = threadIdx.x < n ? __ldg(spread + slot) : 0;
#endif
#if COEFFICIENTS
        load_joined(a, a.first + element, n, work + JOINED_AT);
        dg_block_sync();
        multiply_chain(a, GRADIENT, n, work + JOINED_AT, work + EVEN_AT, work + ODD_AT, work + GRADIENTS_AT);
#else
#if BY_LANES
        load_lanes(a, a.first + element, n, work + STATE_AT);
        dg_block_sync();
#else
        load_states(a, a.first + element, n, work + STATE_AT);
        dg_block_sync();
        multiply_chain(a, INTERP, n, work + STATE_AT, work + EVEN_AT, work + ODD_AT, work + POINTS_AT);
#endif
#endif
        if (e < n) {
            Largest l = {0, 0, false};
#if COEFFICIENTS
            Parameters parameters = of_all;
            parameters.mixing = __ldg(coefficients + a.first + element + e);
            for (u32 q = member; q < NQ; q += TEAM) {
                real state[FIELDS], grad[DIM * FIELDS];
                gradient_at(a, work, e, element + e, q, state, grad);
                add_point(parameters, state, grad, l);
            }
#else
            for (u32 first = member; first < NQ; first += TEAM * AT_ONCE) {
                real state[AT_ONCE][FIELDS];
                states_at(a, work, e, first, state);
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) add_point(parameters, state[i], l);
#if DIRECTED
                // The place of the diffusivity, which such laws do not have.
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i) {
                    const u32 q = first + i * TEAM < NQ ? first + i * TEAM : NQ - 1;
                    const real rate = rate_at(a, parameters, element + e, q, state[i]);
                    l.diffusivity = rate > l.diffusivity ? rate : l.diffusivity;
                }
#endif
            }
#endif
            speeds[member * ELEMENTS + e] = l.bad ? (real)(-1) : l.speed;
#if DIFFUSION
            diffusivities[member * ELEMENTS + e] = l.diffusivity;
#endif
#if DIRECTED
            diffusivities[member * ELEMENTS + e] = l.diffusivity;
#endif
        }
        dg_block_sync();
        if (threadIdx.x < n) {
            real fastest = 0;
            bool bad = false;
            for (u32 m = 0; m < TEAM; ++m) {
                const real s = speeds[m * ELEMENTS + threadIdx.x];
                bad = bad || s < 0;
                fastest = s > fastest ? s : fastest;
            }
#if DIFFUSION
            // Diffusion increases the speed of waves by ν σ/τ.
            real largest = 0;
            for (u32 m = 0; m < TEAM; ++m) {
                const real nu = diffusivities[m * ELEMENTS + threadIdx.x];
                largest = nu > largest ? nu : largest;
            }
            fastest += (real)(own_spread * (double)largest);
#endif
#if DIRECTED
            real largest = 0;
            for (u32 m = 0; m < TEAM; ++m) {
                const real rate = diffusivities[m * ELEMENTS + threadIdx.x];
                largest = rate > largest ? rate : largest;
            }
            const double per_time = own_factor > 0 ? own_factor * (double)largest : (double)fastest / own_unit;
            const double step = per_time > 0 ? 1.0 / per_time : 1.0 / 0.0;
#else
            const double step = fastest > 0 ? own_unit / (double)fastest : 1.0 / 0.0;
#endif
            if (steps) steps[slot] = (real)step;
            StepBound mine;
            mine.step = step;
            mine.bad = bad ? slot : NONE;
            mine.unused = 0;
            bound = lesser_bound(bound, mine);
        }
        dg_block_sync();
    }
    bound = least_of_block(bound);
    if (threadIdx.x == 0) partial[blockIdx.x] = bound;
}
