// Sums over elements without rounding between them: the same bits for any order of the elements, and so for
// any number of ranks. The terms are sums of squares of an array like the state, or integrals over the
// elements.
//
// Same accumulators as `ExactSum` of the crate gpu: LIMBS limbs of 32 bits in signed words, then the numbers
// of NaN, +∞ and −∞; WORDS in all. Without fused multiply–adds.
//
// Macros: STATE_REAL; FIELDS, unknowns; LIMBS, WORDS; BLOCK, threads, a multiple of 32 and at least WORDS.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

// Threads of a block that add to accumulators of their own.
constexpr u32 ADDERS = 64;

// The sums of squares in the elements of a part that begins at `x`. Entries are added in a fixed order,
// whatever the layout: one partial sum for every 32nd entry of [row][field], then a tree over the 32 sums.
extern "C" __global__ void __launch_bounds__(BLOCK)
    squares(const STATE_REAL* x, u32 count, u32 rows, u32 lanes, u32 planar, double* out) {
    const u32 len = rows * FIELDS, thread = blockIdx.x * BLOCK + threadIdx.x;
    if (lanes == 1) {
        const u32 e = thread / 32, l = dg_lane();
        if (e >= count) return;
        const STATE_REAL* from = x + (u64)e * len;
        double sum = 0;
        for (u32 i = l; i < len; i += 32) {
            const double v = (double)from[planar ? i % FIELDS * rows + i / FIELDS : i];
            sum += v * v;
        }
        for (u32 m = 16; m > 0; m /= 2) sum += dg_shuffle_xor(sum, m);
        if (l == 0) out[e] = sum;
        return;
    }
    if (thread >= count) return;
    const STATE_REAL* from = x + (u64)(thread / lanes) * len * lanes + thread % lanes;
    double sums[32];
    for (u32 l = 0; l < 32; ++l) {
        sums[l] = 0;
        for (u32 i = l; i < len; i += 32) {
            const double v = (double)from[i * lanes];
            sums[l] += v * v;
        }
    }
    for (u32 m = 16; m > 0; m /= 2)
        for (u32 l = 0; l < m; ++l) sums[l] += sums[l + m];
    out[thread] = sums[0];
}

// Adds a term to the limbs of a thread, `stride` apart.
static __device__ __forceinline__ void add_exactly(i64* limbs, u32 stride, double x) {
    const u64 bits = (u64)__double_as_longlong(x), fraction = bits & 0xfffffffffffffull;
    const u32 exponent = (u32)(bits >> 52) & 0x7ff;
    const bool negative = bits >> 63;
    if (exponent == 0x7ff) {
        limbs[(LIMBS + (fraction != 0 ? 0 : negative ? 2 : 1)) * stride] += 1;
        return;
    }
    const u64 integer = exponent == 0 ? fraction : fraction | 0x10000000000000ull;
    const u32 shift = exponent == 0 ? 0 : exponent - 1, first = shift / 32, within = shift % 32;
    // The shifted integer has 84 bits; `high` are those from 32 on.
    const u64 low = integer << within, high = integer >> (32 - within);
    const i64 parts[3] = {(i64)(low & 0xffffffffull), (i64)(high & 0xffffffffull), (i64)(high >> 32)};
    for (u32 i = 0; i < 3; ++i) limbs[(first + i) * stride] += negative ? -parts[i] : parts[i];
}

// Adds `n` terms of each sum, [sum][term], to one accumulator for each block, `partial`, [sum][block][word].
extern "C" __global__ void __launch_bounds__(BLOCK) add_terms(const double* terms, u32 n, i64* partial) {
    DG_PLANNED_SHARED(i64, columns, sizeof(i64) * WORDS * ADDERS);
    const u32 t = threadIdx.x;
    terms += (u64)blockIdx.y * n;
    partial += (u64)blockIdx.y * gridDim.x * WORDS;
    if (t < ADDERS) {
        for (u32 w = 0; w < WORDS; ++w) columns[w * ADDERS + t] = 0;
        for (u32 i = blockIdx.x * ADDERS + t; i < n; i += gridDim.x * ADDERS) add_exactly(columns + t, ADDERS, terms[i]);
    }
    dg_block_sync();
    if (t >= WORDS) return;
    i64 sum = 0;
    for (u32 k = 0; k < ADDERS; ++k) sum += columns[t * ADDERS + k];
    partial[blockIdx.x * WORDS + t] = sum;
}

// Adds the accumulators of `n` blocks of each sum, `words`, [sum][word]. One block for each sum.
extern "C" __global__ void __launch_bounds__(BLOCK) join_terms(const i64* partial, u32 n, i64* words) {
    const u32 t = threadIdx.x;
    if (t >= WORDS) return;
    i64 sum = 0;
    for (u32 b = 0; b < n; ++b) sum += partial[(blockIdx.x * n + b) * WORDS + t];
    words[blockIdx.x * WORDS + t] = sum;
}

// Rounds a sum of terms that are not negative to the nearest number, ties to even. One thread.
extern "C" __global__ void round_sum(const i64* words, double* result) {
    if (threadIdx.x > 0) return;
    u64 limbs[LIMBS];
    u64 carry = 0;
    u32 top = 0;
    for (u32 i = 0; i < LIMBS; ++i) {
        const u64 full = (u64)words[i] + carry;
        limbs[i] = i + 1 < LIMBS ? full & 0xffffffffull : full;
        carry = full >> 32;
        top = limbs[i] ? i : top;
    }
    if (words[LIMBS] != 0) {
        *result = __longlong_as_double(0x7ff8000000000000ll);
        return;
    }
    if (words[LIMBS + 1] != 0 || limbs[top] > 0xffffffffull) {
        *result = __longlong_as_double(0x7ff0000000000000ll);
        return;
    }
    const u64 head = limbs[top] << 32 | (top > 0 ? limbs[top - 1] : 0), low = top > 1 ? limbs[top - 2] : 0;
    u32 zeros = 0;
    while (zeros < 32 && !(head << zeros & 0x8000000000000000ull)) ++zeros;
    // Bits of the sum as an integer in units of 2^-1074; up to 53 of them are the bit pattern of the number.
    const u32 bits = 32 * top + 32 - zeros;
    if (bits <= 53) {
        *result = __longlong_as_double((i64)(top > 0 ? head : head >> 32));
        return;
    }
    const u64 kept = head << zeros | low >> (32 - zeros), rest = kept & 0x7ff;
    bool below = (low << zeros & 0xffffffffull) != 0;
    for (u32 i = 0; i + 2 < top; ++i) below = below || limbs[i] != 0;
    const u64 number = kept >> 11;
    const bool up = rest > 0x400 || (rest == 0x400 && (below || (number & 1)));
    const u64 exponent = bits - 53;
    // The leading one adds 1 to the exponent, and so does a carry out of the fraction.
    const u64 found = exponent >= 0x7fe ? 0x7ff0000000000000ull : (exponent << 52) + number + up;
    *result = __longlong_as_double((i64)found);
}
