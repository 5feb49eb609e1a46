// Rows of a state whose unknowns are contiguous (LANES = 1), read and written in pairs where they come in pairs, and the
// stage on such rows.

// Two numbers that are moved together.
#ifdef DG_SINGLE
typedef float2 pair;
#else
typedef double2 pair;
#endif

// Starts to copy two numbers, or one, from global to shared memory.
static __device__ __forceinline__ void copy_pair_async(real* to, const real* from) {
    if (sizeof(real) == 8) dg_cp_async16(to, from);
    else dg_cp_async8(to, from);
}

static __device__ __forceinline__ void copy_one_async(real* to, const real* from) {
    if (sizeof(real) == 8) dg_cp_async8(to, from);
    else *to = *from;  // less than the hardware copies; seen after the barrier that follows the wait
}

// The unknowns of one row of the state, contiguous (LANES = 1), in pairs where they come in pairs.
static __device__ __forceinline__ void load_row(const real* p, real (&x)[FIELDS]) {
    if (FIELDS % 2 == 0) {
#pragma unroll
        for (int k = 0; k < FIELDS / 2; ++k) {
            const pair y = reinterpret_cast<const pair*>(p)[k];
            x[2 * k] = y.x;
            x[2 * k + 1] = y.y;
        }
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = p[k];
    }
}

// Likewise from memory that the kernel does not write.
static __device__ __forceinline__ void load_row_constant(const real* p, real (&x)[FIELDS]) {
    if (FIELDS % 2 == 0) {
#pragma unroll
        for (int k = 0; k < FIELDS / 2; ++k) {
            const pair y = __ldg(reinterpret_cast<const pair*>(p) + k);
            x[2 * k] = y.x;
            x[2 * k + 1] = y.y;
        }
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = __ldg(p + k);
    }
}

static __device__ __forceinline__ void store_row(real* p, const real (&x)[FIELDS]) {
    if (FIELDS % 2 == 0) {
#pragma unroll
        for (int k = 0; k < FIELDS / 2; ++k) {
            pair y;
            y.x = x[2 * k];
            y.y = x[2 * k + 1];
            reinterpret_cast<pair*>(p)[k] = y;
        }
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) p[k] = x[k];
    }
}

// The stage for one row: see `finish`. `reg` is the row's register, null where the stage does not read it; `u` its state,
// `r` its residual; `at` where it lies.
static __device__ __forceinline__ void finish_row(const Arguments& a, const StageFactors& s, const real* reg, u64 at,
                                                  const real (&u)[FIELDS], const real (&r)[FIELDS]) {
    real next[FIELDS];
    if (STAGE) {
        real y[FIELDS], before[FIELDS], x[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            x[k] = u[k];
            y[k] = s.dt * r[k];
        }
        if (reg) {
            load_row(reg, before);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) y[k] += s.a * before[k];
        }
        if (a.keep) store_row(a.reg + at, y);
        if (a.b != 0.0) {
            load_row_constant(a.start + at, before);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) x[k] = s.b * before[k] + s.rest * x[k];
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) next[k] = x[k] + s.c * y[k];
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) next[k] = r[k];
    }
    store_row(a.out + at, next);
}
