// Rows of a state whose unknowns are contiguous (LANES = 1), read and written in pairs where they come in pairs, and the
// stage on such rows.
#pragma once

// Two numbers that are moved together.
#if defined(DG_SINGLE) || defined(DG_STORED_SINGLE)
typedef float2 pair;
#else
typedef double2 pair;
#endif

// The unknowns of one row of the state, contiguous (LANES = 1), in pairs where they come in pairs.
static __device__ __forceinline__ void load_row(const stored* p, real (&x)[FIELDS]) {
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
static __device__ __forceinline__ void load_row_constant(const stored* p, real (&x)[FIELDS]) {
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

static __device__ __forceinline__ void store_row(stored* p, const real (&x)[FIELDS]) {
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

// Two numbers that lie together.
static __device__ __forceinline__ void load_two(const stored* p, real (&x)[2]) {
    const pair y = __ldg(reinterpret_cast<const pair*>(p));
    x[0] = y.x;
    x[1] = y.y;
}

static __device__ __forceinline__ void store_two(stored* p, const real (&x)[2]) {
    pair y;
    y.x = x[0];
    y.y = x[1];
    *reinterpret_cast<pair*>(p) = y;
}

// Brings the lines of `n` numbers near, each lane some.
static __device__ __forceinline__ void prefetch_lines(const stored* from, u32 n, u32 lane) {
    constexpr u32 LINE = 128 / sizeof(stored);
    for (u32 i = lane * LINE; i < n; i += 32 * LINE) dg_prefetch(from + i);
}

// The stage for one row: see `finish`. `before` is the row of the register, read where `reads_register`; `u` its state, `r`
// its residual; `at` where it lies.
static __device__ __forceinline__ void finish_row_with(const Arguments& a, const StageFactors& s, bool reads_register,
                                                       const real (&before)[FIELDS], u64 at, const real (&u)[FIELDS],
                                                       const real (&r)[FIELDS]) {
    real next[FIELDS];
    if (STAGE) {
        real y[FIELDS], x[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) {
            x[k] = u[k];
            y[k] = s.dt * r[k];
        }
        if (reads_register) {
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) y[k] += s.a * before[k];
        }
        if (a.keep) store_row(a.reg + at, y);
        if (a.b != 0.0) {
            real start[FIELDS];
            load_row_constant(a.start + at, start);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) x[k] = s.b * start[k] + s.rest * x[k];
        }
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) next[k] = x[k] + s.c * y[k];
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) next[k] = r[k];
    }
    store_row(a.out + at, next);
}

// Likewise from where the register lies; `reg` is null where the stage does not read it.
static __device__ __forceinline__ void finish_row(const Arguments& a, const StageFactors& s, const stored* reg, u64 at,
                                                  const real (&u)[FIELDS], const real (&r)[FIELDS]) {
    real before[FIELDS];
    if (reg) load_row(reg, before);
    finish_row_with(a, s, reg != nullptr, before, at, u, r);
}
