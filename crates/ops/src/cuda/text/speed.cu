// Step bound of each element, unit / (λ + ν σ/τ), the smallest over a part, and the detection of bad states.
//
// A state that is not finite or not admissible is reported by its slot. A block processes ELEMENTS elements
// at a time. Same computation as `Discretization::time_step` on the host.
//
// Macros beside those of common.cuh: BLOCK threads; ELEMENTS elements; the chain INTERP; the layout of the
// work space POINTS_AT, EVEN_AT, ODD_AT, FOUND_AT and its size WORK; it is in shared memory if SHARED_WORK;
// DIFFUSION if the law has a diffusivity, and then DIFFUSIVITY_AT.

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

// `unit`, `spread`: of each slot; `spread` is σ/τ and read with DIFFUSION only; `steps`: the step of each
// slot, or null; `partial`: one bound per block.
extern "C" __global__ void __launch_bounds__(BLOCK)
    wave_speed(const Arguments a, const Parameters parameters, const double* unit, const double* spread,
               real* steps, StepBound* partial) {
    real* work = work_space(a);
    real* u = work;
    real* points = COLLOCATED ? work : work + POINTS_AT;
    StepBound bound;
    bound.step = 1.0 / 0.0;
    bound.bad = NONE;
    bound.unused = 0;
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 element = group * ELEMENTS;
        const u32 left = a.count - element, n = left < ELEMENTS ? left : ELEMENTS;
        load_states(a, a.first + element, n, u);
        dg_block_sync();
        if (!COLLOCATED) multiply_chain(a, INTERP, n, u, work + EVEN_AT, work + ODD_AT, points);
        // The speed at each point, or −1 if the state is bad.
        real* found = work + FOUND_AT;
        for (u32 item = threadIdx.x; item < n * NQ; item += BLOCK) {
            real state[FIELDS], w[2];
            bool finite = true;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) {
                state[k] = points[item * FIELDS + k];
                finite = finite && state[k] - state[k] == 0;
            }
            wave(parameters, state, w);
            finite = finite && w[0] - w[0] == 0;
            found[item] = finite && w[1] > 0 ? w[0] : (real)(-1);
#if DIFFUSION
            real nu[1];
            diffusivity(parameters, state, nu);
            work[DIFFUSIVITY_AT + item] = nu[0];
#endif
        }
        dg_block_sync();
        for (u32 e = threadIdx.x; e < n; e += BLOCK) {
            real fastest = 0;
            bool bad = false;
            for (u32 q = 0; q < NQ; ++q) {
                const real s = found[e * NQ + q];
                bad = bad || s < 0;
                fastest = s > fastest ? s : fastest;
            }
            const u32 slot = a.first + element + e;
#if DIFFUSION
            // Diffusion increases the speed of waves by ν σ/τ.
            real largest = 0;
            for (u32 q = 0; q < NQ; ++q) {
                const real nu = work[DIFFUSIVITY_AT + e * NQ + q];
                bad = bad || !(nu - nu == 0);
                largest = nu > largest ? nu : largest;
            }
            fastest += (real)(spread[slot] * (double)largest);
#endif
            const double step = fastest > 0 ? unit[slot] / (double)fastest : 1.0 / 0.0;
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
