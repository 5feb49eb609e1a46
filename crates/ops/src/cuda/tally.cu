// Small work between stages: the time integral of the fluxes through the boundary and the least of the step bounds,
// sums and minima of fixed shape by one block; the step's size; running sums.

struct StepBound {
    double step;
    u32 bad;
    u32 unused;
};

// integrals_k ← integrals_k − weight step Σ_q flux_qk, compensated (Neumaier 1974): `integrals` holds FIELDS sums, then
// FIELDS corrections. BLOCK threads, a power of two.
extern "C" __global__ void __launch_bounds__(BLOCK)
    tally(const double* flux, u64 n, double weight, const double* step, double* integrals) {
    __shared__ double tree[BLOCK];
    for (u32 k = 0; k < FIELDS; ++k) {
        double sum = 0;
        for (u64 q = threadIdx.x; q < n; q += BLOCK) sum += flux[q * FIELDS + k];
        tree[threadIdx.x] = sum;
        dg_block_sync();
        for (u32 half = BLOCK / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
            dg_block_sync();
        }
        if (threadIdx.x == 0) {
            const double add = -weight * *step * tree[0], old = integrals[k], total = old + add;
            integrals[FIELDS + k] += fabs(old) >= fabs(add) ? (old - total) + add : (add - total) + old;
            integrals[k] = total;
        }
        dg_block_sync();
    }
}

// The least of `n` bounds to `result`.
extern "C" __global__ void __launch_bounds__(BLOCK) least(const StepBound* partial, u32 n, StepBound* result) {
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
    if (threadIdx.x == 0) *result = tree[0];
}

// *to ← value.
extern "C" __global__ void assign(double* to, double value) {
    if (threadIdx.x == 0) *to = value;
}

// sum ← p sum + q u + d reg, entry by entry; what has a factor of zero is not read.
extern "C" __global__ void running_sum(real* sum, const real* u, const real* reg, u64 n, double p, double q, double d) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    real s = 0;
    if (p != 0.0) s = (real)p * sum[i];
    if (q != 0.0) s += (real)q * u[i];
    if (d != 0.0) s += (real)d * reg[i];
    sum[i] = s;
}
