// Sums without rounding between their terms: the same bits for any order of the terms, and so for any number
// of ranks.
//
// Same accumulators as `ExactSum`: EXACT_LIMBS limbs of 32 bits in signed words, then the numbers of
// NaN, +inf and -inf; EXACT_WORDS in all. Texts with this header are compiled without fused multiply-adds.
#pragma once
#include "device.cuh"

#define EXACT_LIMBS 67u
#define EXACT_WORDS 70u
// Items of different sizes in a vector, and warps of a block that sums them.
#define ITEM_LISTS 12
#define ITEM_WARPS 8u

// Adds to an integer that other blocks add to as well; the sum does not depend on their order.
DG_DEVICE void add_integer(long long* to, long long value) {
#ifdef DGSUITE_SHIM
    *to += value;
#else
    atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
#endif
}

// What a finite term adds to the limbs `first` to `first + 2`, or a term that is not finite to one word.
struct ExactTerm {
    unsigned first;
    long long parts[3];
};

DG_DEVICE ExactTerm exact_term(double x) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(x), fraction = bits & 0xfffffffffffffull;
    const unsigned exponent = unsigned(bits >> 52) & 0x7ff;
    const bool negative = bits >> 63;
    if (exponent == 0x7ff) return {EXACT_LIMBS, {fraction != 0, fraction == 0 && !negative, fraction == 0 && negative}};
    const unsigned long long integer = exponent == 0 ? fraction : fraction | 0x10000000000000ull;
    const unsigned shift = exponent == 0 ? 0 : exponent - 1, within = shift % 32;
    // The shifted integer has 84 bits; `high` are those from 32 on.
    const unsigned long long low = integer << within, high = integer >> (32 - within);
    const long long sign = negative ? -1 : 1;
    return {shift / 32,
            {sign * (long long)(low & 0xffffffffull), sign * (long long)(high & 0xffffffffull), sign * (long long)(high >> 32)}};
}

// Adds a term to an accumulator, the words of which are `stride` apart.
DG_DEVICE void add_exactly(long long* words, unsigned stride, double x) {
    const ExactTerm term = exact_term(x);
    for (unsigned i = 0; i < 3; ++i) words[(term.first + i) * stride] += term.parts[i];
}

// The value of an accumulator: rounded to the nearest number, ties to even. The words become the digits of
// its magnitude.
DG_DEVICE double exact_value(long long* words) {
    const long long *const flags = words + EXACT_LIMBS;
    if (flags[0] != 0 || (flags[1] != 0 && flags[2] != 0)) return __longlong_as_double(0x7ff8000000000000ll);
    const unsigned long long infinite = 0x7ff0000000000000ull;
    const long long minus = (long long)0x8000000000000000ull;
    if (flags[1] != 0) return __longlong_as_double((long long)infinite);
    if (flags[2] != 0) return __longlong_as_double((long long)infinite | minus);
    unsigned long long* const limbs = reinterpret_cast<unsigned long long*>(words);
    long long carry = 0;
    for (unsigned i = 0; i < EXACT_LIMBS; ++i) {
        const long long full = words[i] + carry;
        limbs[i] = i + 1 < EXACT_LIMBS ? (unsigned long long)full & 0xffffffffull : (unsigned long long)full;
        carry = full >> 32;
    }
    const bool negative = limbs[EXACT_LIMBS - 1] >> 63;
    unsigned top = 0;
    unsigned long long more = negative;
    for (unsigned i = 0; i < EXACT_LIMBS; ++i) {
        if (negative) {
            const unsigned long long opposite = i + 1 < EXACT_LIMBS ? ~limbs[i] & 0xffffffffull : ~limbs[i];
            const unsigned long long full = opposite + more;
            limbs[i] = i + 1 < EXACT_LIMBS ? full & 0xffffffffull : full;
            more = i + 1 < EXACT_LIMBS ? full >> 32 : 0;
        }
        top = limbs[i] ? i : top;
    }
    const long long sign = negative ? minus : 0;
    if (limbs[top] > 0xffffffffull) return __longlong_as_double((long long)infinite | sign);
    const unsigned long long head = limbs[top] << 32 | (top > 0 ? limbs[top - 1] : 0), low = top > 1 ? limbs[top - 2] : 0;
    unsigned zeros = 0;
    while (zeros < 32 && !(head << zeros & 0x8000000000000000ull)) ++zeros;
    // Bits of the sum as an integer in units of 2^-1074; up to 53 of them are the bit pattern of the number.
    const unsigned bits = 32 * top + 32 - zeros;
    if (bits <= 53) {
        const long long pattern = (long long)(top > 0 ? head : head >> 32);
        return __longlong_as_double(pattern == 0 ? 0 : pattern | sign);
    }
    const unsigned long long kept = head << zeros | low >> (32 - zeros), rest = kept & 0x7ff;
    bool below = (low << zeros & 0xffffffffull) != 0;
    for (unsigned i = 0; i + 2 < top; ++i) below = below || limbs[i] != 0;
    const unsigned long long number = kept >> 11;
    const bool up = rest > 0x400 || (rest == 0x400 && (below || (number & 1)));
    const unsigned long long exponent = bits - 53;
    // The leading one adds 1 to the exponent, and so does a carry out of the fraction.
    const unsigned long long found = exponent >= 0x7fe ? infinite : (exponent << 52) + number + up;
    return __longlong_as_double((long long)found | sign);
}

// The values of `n` accumulators, at most N, which become empty. One block with a thread for each.
template <unsigned N> DG_DEVICE void exact_values(long long* words, unsigned n, double* results) {
    __shared__ long long all[N * EXACT_WORDS];
    for (unsigned i = threadIdx.x; i < n * EXACT_WORDS; i += blockDim.x) {
        all[i] = words[i];
        words[i] = 0;
    }
    dg_block_sync();
    if (threadIdx.x < n) results[threadIdx.x] = exact_value(all + threadIdx.x * EXACT_WORDS);
}

// ---- sums over the items of a vector --------------------------------------------------------------

// Lists of items of the same number of entries, one item after the other, as in summation.rs. A power of two
// of threads sums an item, and a warp has as many items at a time as it has room for: a chunk.
struct ItemLists {
    unsigned long long first[ITEM_LISTS];
    unsigned items[ITEM_LISTS];
    // Items that are counted, the first ones.
    unsigned counted[ITEM_LISTS];
    unsigned rows[ITEM_LISTS];
    unsigned threads[ITEM_LISTS];
    // Chunks of this list and all before it.
    unsigned ends[ITEM_LISTS];
    unsigned chunks;
};

// Adds the sum of `term(i)` over the entries of each item to an accumulator: one block of ITEM_WARPS warps of
// any number. The order of the sum within an item depends on its number of entries alone.
template <class Term> DG_DEVICE void sum_items(const ItemLists& lists, long long* words, Term term) {
    __shared__ long long sums[ITEM_WARPS * EXACT_WORDS];
    const unsigned warp = threadIdx.x / 32, lane = dg_lane();
    for (unsigned i = threadIdx.x; i < ITEM_WARPS * EXACT_WORDS; i += 32 * ITEM_WARPS) sums[i] = 0;
    dg_block_sync();
    long long* const own = sums + warp * EXACT_WORDS;
    for (unsigned chunk = blockIdx.x * ITEM_WARPS + warp; chunk < lists.chunks; chunk += gridDim.x * ITEM_WARPS) {
        unsigned l = 0, begin = 0;
        while (chunk >= lists.ends[l]) begin = lists.ends[l++];
        const unsigned threads = lists.threads[l], rows = lists.rows[l];
        const unsigned first = (chunk - begin) * (32 / threads), item = first + lane / threads;
        double sum = 0;
        if (item < lists.items[l]) {
            const unsigned long long entry = lists.first[l] + (unsigned long long)item * rows;
#pragma unroll 4
            for (unsigned i = lane % threads; i < rows; i += threads) sum += term(entry + i);
        }
        for (unsigned m = threads / 2; m > 0; m /= 2) sum += dg_shuffle_xor(sum, m);
        const unsigned counted = lists.counted[l] > first ? lists.counted[l] - first : 0;
        for (unsigned k = 0; k < 32 / threads; ++k) {
            const double x = dg_shuffle(sum, k * threads);
            // One lane for each limb that changes.
            if (k < counted && lane < 3) {
                const ExactTerm of = exact_term(x);
                own[of.first + lane] += lane == 0 ? of.parts[0] : lane == 1 ? of.parts[1] : of.parts[2];
            }
            dg_warp_sync();
        }
    }
    dg_block_sync();
    if (threadIdx.x >= EXACT_WORDS) return;
    long long all = 0;
    for (unsigned w = 0; w < ITEM_WARPS; ++w) all += sums[w * EXACT_WORDS + threadIdx.x];
    if (all != 0) add_integer(words + threadIdx.x, all);
}
