// Rows of the state (LANES = 1): loads and stores, in packs if unknowns are contiguous, and the stage.
#pragma once

// Numbers that are moved together: two, or four in single precision.
#if defined(DG_SINGLE) || defined(DG_STORED_SINGLE)
typedef float2 pair;
constexpr bool IN_FOURS = FIELDS % 4 == 0;
#else
typedef double2 pair;
constexpr bool IN_FOURS = false;
#endif
template <bool four> struct PackOf { typedef pair type; };
template <> struct PackOf<true> { typedef float4 type; };
typedef PackOf<IN_FOURS>::type pack;
constexpr int PACK = IN_FOURS ? 4 : 2;

static __device__ __forceinline__ stored entry(const pack& y, int i) {
    return reinterpret_cast<const stored*>(&y)[i];
}

// Loads the unknowns of one row of the state.
static __device__ __forceinline__ void load_row(const stored* p, real (&x)[FIELDS]) {
    if (FIELDS % PACK == 0) {
#pragma unroll
        for (int k = 0; k < FIELDS / PACK; ++k) {
            const pack y = reinterpret_cast<const pack*>(p)[k];
#pragma unroll
            for (int i = 0; i < PACK; ++i) x[PACK * k + i] = entry(y, i);
        }
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = p[k];
    }
}

// As `load_row`, from memory that the kernel does not write.
static __device__ __forceinline__ void load_row_constant(const stored* p, real (&x)[FIELDS]) {
    if (FIELDS % PACK == 0) {
#pragma unroll
        for (int k = 0; k < FIELDS / PACK; ++k) {
            const pack y = __ldg(reinterpret_cast<const pack*>(p) + k);
#pragma unroll
            for (int i = 0; i < PACK; ++i) x[PACK * k + i] = entry(y, i);
        }
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) x[k] = __ldg(p + k);
    }
}

static __device__ __forceinline__ void store_row(stored* p, const real (&x)[FIELDS]) {
    if (FIELDS % PACK == 0) {
#pragma unroll
        for (int k = 0; k < FIELDS / PACK; ++k) {
            pack y;
#pragma unroll
            for (int i = 0; i < PACK; ++i) reinterpret_cast<stored*>(&y)[i] = x[PACK * k + i];
            reinterpret_cast<pack*>(p)[k] = y;
        }
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) p[k] = x[k];
    }
}

// Loads two consecutive numbers.
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

// Prefetches the cache lines of `n` numbers; each lane takes some of them.
static __device__ __forceinline__ void prefetch_lines(const stored* from, u32 n, u32 lane) {
    constexpr u32 LINE = 128 / sizeof(stored);
    for (u32 i = lane * LINE; i < n; i += 32 * LINE) dg_prefetch(from + i);
}

// Updates the stage for one row, see `finish`. `before` is the row of the register, used if `reads_register`;
// `u` its state, `r` its residual; `at` its offset in the state.
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

// As `finish_row_with`, loading the register from `reg`; `reg` is null if the stage does not read it.
static __device__ __forceinline__ void finish_row(const Arguments& a, const StageFactors& s, const stored* reg, u64 at,
                                                  const real (&u)[FIELDS], const real (&r)[FIELDS]) {
    real before[FIELDS];
    if (reg) load_row(reg, before);
    finish_row_with(a, s, reg != nullptr, before, at, u, r);
}

// Loads the unknowns whose first is at `p`: a row in the layout of the state or, with the stride 1 between
// unknowns, in that of the exterior buffer.
static __device__ __forceinline__ void load_node(const stored* p, real (&x)[FIELDS], u32 stride = FIELD_STRIDE) {
    if (!PLANAR) return load_row_constant(p, x);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] = __ldg(p + k * stride);
}

// As `load_node`, from memory that the kernel writes.
static __device__ __forceinline__ void load_register(const stored* p, real (&x)[FIELDS]) {
    if (!PLANAR) return load_row(p, x);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] = p[k * FIELD_STRIDE];
}

// Adds the unknowns whose first is at `p`.
static __device__ __forceinline__ void add_node(const stored* p, real (&x)[FIELDS]) {
    real more[FIELDS];
    load_node(p, more);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] += more[k];
}

// The metric rule where nodes are points: multiplies by 1/J, entry `i` of the part, if elements are curved.
static __device__ __forceinline__ void apply_inverse_jacobian(const Arguments& a, u64 i, real (&x)[FIELDS]) {
    if (!CURVED) return;
    const real inverse = __ldg(a.inverse_jacobian + i);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) x[k] *= inverse;
}

// As `finish_row_with`, in either layout of the state.
static __device__ __forceinline__ void finish_node(const Arguments& a, const StageFactors& s, bool reads_register,
                                                   const real (&before)[FIELDS], u64 at, const real (&u)[FIELDS],
                                                   const real (&r)[FIELDS]) {
    if (!PLANAR) return finish_row_with(a, s, reads_register, before, at, u, r);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) finish_with(a, s, at + k * FIELD_STRIDE, reads_register, before[k], u[k], r[k]);
}
