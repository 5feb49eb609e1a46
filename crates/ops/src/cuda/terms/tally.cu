// The boundary's time integrals as terms of exact sums, and running sums of time integration schemes.

// Moves the sums and corrections of `n` points, [part][point][field], to `terms`, [field][part][point], and
// resets them to zero.
extern "C" __global__ void __launch_bounds__(BLOCK) take_sums(double* sums, u64 n, double* terms) {
    const u64 i = (u64)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= 2 * n * FIELDS) return;
    terms[i % FIELDS * 2 * n + i / FIELDS] = sums[i];
    sums[i] = 0;
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
