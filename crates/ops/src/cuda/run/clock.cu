// Time and step size on the device, and the control of step sizes by error estimates; one block.
//
// Same sums as `Controller` of timeint on the host, without fused multiply–adds.

// The smallest of `n` bounds; thread 0 returns the result. BLOCK threads, a power of two.
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

// t + low ← t + low + dt (two-sum; Dekker), and increments the number of steps.
static __device__ __forceinline__ void tick_once(Clock* clock) {
    const double dt = clock->dt + clock->low;
    const double t = clock->t + dt, seen = t - clock->t;
    clock->low = (clock->t - (t - seen)) + (dt - seen);
    clock->t = t;
    clock->steps += 1;
}

// Writes the smallest of `n` bounds to `result`.
extern "C" __global__ void __launch_bounds__(BLOCK) least(const StepBound* partial, u32 n, StepBound* result) {
    const StepBound bound = least_of(partial, n);
    if (threadIdx.x == 0) *result = bound;
}

// Sets the clock. If cfl > 0, the step is cfl times `bound`.
extern "C" __global__ void set_clock(Clock* clock, double t, double low, double dt, double cfl,
                                     const StepBound* bound) {
    if (threadIdx.x > 0) return;
    clock->t = t;
    clock->low = low;
    clock->dt = cfl > 0 ? cfl * bound->step : dt;
}

// Ends a step of constant size.
extern "C" __global__ void tick(Clock* clock) {
    if (threadIdx.x == 0) tick_once(clock);
}

// Ends a step whose new state has these bounds: writes the smallest to `bound` and to the ring `record` of
// `ring` places; if cfl > 0, computes the size of the next step.
extern "C" __global__ void __launch_bounds__(BLOCK)
    end_step(const StepBound* partial, u32 n, StepBound* bound, StepBound* record, u32 ring, Clock* clock, double cfl) {
    const StepBound found = least_of(partial, n);
    if (threadIdx.x > 0) return;
    *bound = found;
    record[clock->steps % ring] = found;
    tick_once(clock);
    if (cfl > 0) clock->dt = cfl * found.step;
}

// Data for accepting or rejecting steps. Same as `Adaptive` of timeint on the host; mirrored by
// `ControlWords` in control.rs.
struct Control {
    double wanted, second, third;  // desired step; errors of the last two accepted steps
    double limit;                  // the step bound of the present state
    // cfl: largest multiple of that bound that is allowed for a step
    double tolerance, cfl;
    u64 attempts;                  // number of attempts since the device was set up
    // rejections since the last accepted step; whether to restore the state before the last step
    u32 rejected, restore;
};

// The record of one attempt, as the host reads it.
struct Attempt {
    double dt, error, limit;
    u64 good;
};

// x^(n/64) by square roots and products, which give the same bits as on the host.
static __device__ double root_power(double x, u32 n) {
    double root = x, product = 1;
    for (u32 bit = 32; bit > 0; bit /= 2) {
        root = sqrt(root);
        if (n & bit) product *= root;
    }
    return product;
}

static __device__ double clamped(double x, double least, double most) {
    return x < least ? least : x > most ? most : x;
}

// Computes the size of the next attempt.
static __device__ void choose(const Control* c, Clock* clock) {
    const double most = c->cfl * c->limit;
    clock->dt = most < c->wanted ? most : c->wanted;
}

// Sets the size of the first attempt; the state has the bound `bound`.
extern "C" __global__ void begin_attempts(const Control* c, Clock* clock) {
    if (threadIdx.x == 0) choose(c, clock);
}

// Ends an attempt whose new state has these bounds and whose weighted errors have the sum of squares
// `square`: accepts or rejects it, and computes the size of the next attempt. The record of attempt i is
// stored at i modulo `ring`. One block.
extern "C" __global__ void __launch_bounds__(BLOCK)
    judge(const StepBound* partial, u32 n, const double* square, Control* c, Attempt* record, u32 ring, Clock* clock) {
    const StepBound found = least_of(partial, n);
    if (threadIdx.x > 0) return;
    const double dt = clock->dt;
    double error = sqrt(*square) / c->tolerance;
    if (error <= 1 && found.bad != 0xffffffffu) error = 1.0 / 0.0;
    const bool good = error <= 1;
    if (!good) {
        const bool finite = error - error == 0;
        c->wanted = dt * clamped(finite ? 0.9 / root_power(error, 21) : 0.2, 0.2, 0.9);
        c->rejected += 1;
    } else {
        const u32 rejected = c->rejected;
        c->rejected = 0;
        c->limit = found.step;
        if (!(dt < c->wanted * (1 - 1e-6))) {
            const double least = error > 1e-10 ? error : 1e-10;
            const double factor = 0.9 * root_power(c->second, 7) / (root_power(least, 14) * root_power(c->third, 1));
            c->wanted = dt * clamped(factor, 0.2, rejected > 0 ? 1.0 : 2.0);
            c->third = c->second;
            c->second = least;
        }
        tick_once(clock);
    }
    Attempt* const seen = record + c->attempts % ring;
    seen->dt = dt;
    seen->error = error;
    seen->limit = c->limit;
    seen->good = good;
    c->restore = !good;
    c->attempts += 1;
    choose(c, clock);
}

// to ← from, word by word, if the last step is to be undone.
extern "C" __global__ void restore(const Control* c, u32* to, const u32* from, u64 n) {
    if (!c->restore) return;
    for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) to[i] = from[i];
}
