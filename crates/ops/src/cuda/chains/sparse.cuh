// Products with chains of sparse factors, for a few elements in work space, [element][row][field].
//
// A factor is stored by rows: `indices` has `rows + 1` offsets and then the columns, `tables` the entries.
// The host writes one `Factor` for each as a constant, see operators.rs.

struct Factor {
    u32 rows;    // rows of the factor
    u32 cols;    // columns
    u32 first;   // index of its first offset in `indices`
    u32 column;  // index of its first column in `indices`
    u32 entry;   // index of its first entry in `tables`
};

// The work space of the block.
static __device__ __forceinline__ real* work_space(const Arguments& a) {
    DG_PLANNED_SHARED(real, shared, SHARED_WORK ? sizeof(real) * WORK : 0);
    return SHARED_WORK ? shared : a.work + (u64)blockIdx.x * WORK;
}

// out ← A in, for `n` elements. Barriers are needed before and after.
static __device__ __forceinline__ void multiply(const Arguments& a, const Factor& A, u32 n, const real* in, real* out) {
    for (u32 item = threadIdx.x; item < n * A.rows; item += BLOCK) {
        const u32 e = item / A.rows, i = item % A.rows;
        const real* x = in + e * A.cols * FIELDS;
        const u32 begin = __ldg(a.indices + A.first + i), end = __ldg(a.indices + A.first + i + 1);
        real sum[FIELDS];
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) sum[k] = 0;
        for (u32 j = begin; j < end; ++j) {
            const real m = __ldg(a.tables + A.entry + j);
            const real* xj = x + __ldg(a.indices + A.column + j) * FIELDS;
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) sum[k] += m * xj[k];
        }
        real* y = out + item * FIELDS;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) y[k] = sum[k];
    }
}

// Applies a chain of N factors, the first one first: from `in` through `even` and `odd` to `out`. With a
// single factor, `out` must not overlap `in`.
template <int N>
static __device__ __forceinline__ void multiply_chain(const Arguments& a, const Factor (&A)[N], u32 n, const real* in,
                                                      real* even, real* odd, real* out) {
    const real* from = in;
#pragma unroll
    for (int s = 0; s < N; ++s) {
        real* to = s == N - 1 ? out : s % 2 ? odd : even;
        multiply(a, A[s], n, from, to);
        dg_block_sync();
        from = to;
    }
}

// The place in [element][row][field] of entry `i` of the states of elements; LANES = 1.
static __device__ __forceinline__ u32 by_rows(u32 i) {
    const u32 entry = i % STATE_BLOCK;
    return PLANAR ? i - entry + entry % NP * FIELDS + entry / NP : i;
}

// Loads the states of `n` elements from `slot` on, as [element][row][field]. A barrier is needed after.
static __device__ __forceinline__ void load_states(const Arguments& a, u32 slot, u32 n, real* to) {
    constexpr u32 len = NP * FIELDS;
    for (u32 i = threadIdx.x; i < n * len; i += BLOCK) {
        if (LANES > 1) {
            const u32 e = i % n, entry = i / n;
            to[e * len + entry] = __ldg(a.u + slot_begin(slot + e, STATE_BLOCK) + entry * LANES);
        } else {
            to[by_rows(i)] = __ldg(a.u + (u64)slot * len + i);
        }
    }
}
