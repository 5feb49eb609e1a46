// Sums over the boundary's time integrals, and running sums of time integration schemes.

// integrals_k ← integrals_k + Σ_q (sums_qk + corrections_qk), with compensated summation (Neumaier 1974) and
// in fixed order, by one block; resets the sums of the points to zero. `integrals` holds FIELDS sums, then
// FIELDS corrections. BLOCK threads, a power of two.
extern "C" __global__ void __launch_bounds__(BLOCK)
    tally(double* sums, double* corrections, u64 n, double* integrals) {
    __shared__ double tree[BLOCK];
    for (u32 k = 0; k < FIELDS; ++k) {
        double sum = 0;
        for (u64 q = threadIdx.x; q < n; q += BLOCK) {
            const u64 at = q * FIELDS + k;
            sum += sums[at] + corrections[at];
            sums[at] = 0;
            corrections[at] = 0;
        }
        tree[threadIdx.x] = sum;
        dg_block_sync();
        for (u32 half = BLOCK / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
            dg_block_sync();
        }
        if (threadIdx.x == 0) {
            const double add = tree[0], old = integrals[k], total = old + add;
            integrals[FIELDS + k] += fabs(old) >= fabs(add) ? (old - total) + add : (add - total) + old;
            integrals[k] = total;
        }
        dg_block_sync();
    }
}

// sum ← p sum + q u + d reg, entry by entry; vectors with a factor of zero are not read.
extern "C" __global__ void running_sum(real* sum, const real* u, const real* reg, u64 n, double p, double q, double d) {
    const u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    real s = 0;
    if (p != 0.0) s = (real)p * sum[i];
    if (q != 0.0) s += (real)q * u[i];
    if (d != 0.0) s += (real)d * reg[i];
    sum[i] = s;
}
