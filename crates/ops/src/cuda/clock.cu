// Time and step size on the device: the host's twin is `Controller` of timeint, whose sums these are,
// without fusing. One block.

// The least of `n` bounds; the result is thread 0's. BLOCK threads, a power of two.
static __device__ __forceinline__ StepBound least_of(const StepBound* partial, u32 n) {
    __shared__ StepBound tree[BLOCK];
    StepBound bound;
    bound.step = 1.0 / 0.0;
    bound.bad = 0xffffffffu;
    bound.unused = 0;
    for (u32 i = threadIdx.x; i < n; i += BLOCK) {
        const StepBound b = partial[i];
        bound.step = b.step < bound.step ? b.step : bound.step;
        bound.bad = b.bad < bound.bad ? b.bad : bound.bad;
    }
    tree[threadIdx.x] = bound;
    dg_block_sync();
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const StepBound b = tree[threadIdx.x + half];
            StepBound m = tree[threadIdx.x];
            m.step = b.step < m.step ? b.step : m.step;
            m.bad = b.bad < m.bad ? b.bad : m.bad;
            tree[threadIdx.x] = m;
        }
        dg_block_sync();
    }
    return tree[0];
}

// t + low ← t + low + dt (Dekker's two-sum), and a step more.
static __device__ __forceinline__ void tick_once(Clock* clock) {
    const double dt = clock->dt + clock->low;
    const double t = clock->t + dt, seen = t - clock->t;
    clock->low = (clock->t - (t - seen)) + (dt - seen);
    clock->t = t;
    clock->steps += 1;
}

// The least of `n` bounds to `result`.
extern "C" __global__ void __launch_bounds__(BLOCK) least(const StepBound* partial, u32 n, StepBound* result) {
    const StepBound bound = least_of(partial, n);
    if (threadIdx.x == 0) *result = bound;
}

// Sets the clock; with cfl > 0 the step is that multiple of `bound`.
extern "C" __global__ void set_clock(Clock* clock, double t, double low, double dt, double cfl,
                                     const StepBound* bound) {
    if (threadIdx.x > 0) return;
    clock->t = t;
    clock->low = low;
    clock->dt = cfl > 0 ? cfl * bound->step : dt;
}

// The end of a step whose size stays.
extern "C" __global__ void tick(Clock* clock) {
    if (threadIdx.x == 0) tick_once(clock);
}

// The end of a step whose state has these bounds: the least, to `bound` and to the ring `record` of `ring`
// places; with
// cfl > 0 the next step's size.
extern "C" __global__ void __launch_bounds__(BLOCK)
    end_step(const StepBound* partial, u32 n, StepBound* bound, StepBound* record, u32 ring, Clock* clock, double cfl) {
    const StepBound found = least_of(partial, n);
    if (threadIdx.x > 0) return;
    *bound = found;
    record[clock->steps % ring] = found;
    tick_once(clock);
    if (cfl > 0) clock->dt = cfl * found.step;
}
