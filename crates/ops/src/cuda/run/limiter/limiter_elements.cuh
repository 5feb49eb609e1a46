// Limiters, common parts of the passes over the elements of a part: a warp processes EACH = 32 / WIDTH
// elements with WIDTH lanes each, on a copy of their states in shared memory.
//
// Macros:
// - FIELDS, LANES, PLANAR, NP: as in common.cuh
// - CURVED: means for each element (1), or for the part (0)
// - BLOCK, WIDTH, ROOM: threads of a block, lanes of an element, numbers of shared memory of an element
// - FLOOR, ENERGY_FLOOR: of limiter.cuh
#pragma once
#include "limiter.cuh"

constexpr u32 EACH = 32 / WIDTH, WARPS = BLOCK / 32, LEN = NP * FIELDS;

// Elements of a part. Mirrored by `Elements` in limiter.rs. Slots count from the part's first one, except
// those of `near` and `all_means`, which count from the first slot of the first group.
struct Elements {
    STATE_REAL* state;        // from the part's first slot on
    const double* at;         // [basis function][point whose state is a product]
    const double* sensor;     // [volume point][mode]
    const double* mean;       // [basis function], [slot][basis function] if CURVED
    float* factors;           // [slot]
    u32* list;                // troubled elements
    u32* listed;              // their number
    double* means;            // [slot][field]
    const double* all_means;  // [slot of any group][field]
    const u32* first_near;    // [slot]: index in `near`
    const u32* near;          // neighbours
    const double* nu;         // means of modes: [mode], [slot][mode] if CURVED
    const double* linear;     // [linear mode][basis function]
    const double* points;     // [linear mode][point]
    const double* back;       // [basis function][constant and linear modes]
    u32* suspects;            // slots of elements that may be troubled, or null: all may be
    u32* suspected;           // their number
    const double* one;        // coefficients of the constant 1
    const double* reach;      // see limiter_suspects.cu
    const double* top;        // see limiter_suspects.cu
    u32 begin, end;           // the elements of this launch
    u32 name;                 // of the first slot, in `list`
    u32 filter;               // whether there is a filter
    u32 keep;                 // whether factors of other elements stay
    u32 unused;
};

// The number of the first element of this warp, from 0. A pass that runs backwards begins where the pass
// before ended, with states that are still in the cache.
static __device__ __forceinline__ u32 first_of_warp(bool backwards) {
    const u32 block = backwards ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    return (block * WARPS + threadIdx.x / 32) * EACH;
}

// Starts to copy a number; numbers in double precision do not pass through registers.
static __device__ __forceinline__ void fetch(double* to, const double* from) { dg_cp_async8(to, from); }
static __device__ __forceinline__ void fetch(double* to, const float* from) { *to = (double)*from; }

// Loads the states of `n` elements from `first` on, [element][row][field].
static __device__ __forceinline__ void load_elements(const STATE_REAL* state, u32 first, u32 n, double* to) {
#pragma unroll 4
    for (u32 i = dg_lane(); i < EACH * LEN; i += 32) {
        if (LANES > 1) {
            const u32 e = i % EACH, entry = i / EACH, slot = first + e;
            const u64 begin = (u64)(slot / LANES) * (LEN * LANES) + slot % LANES;
            if (e < n) fetch(to + e * ROOM + entry, state + begin + entry * LANES);
        } else {
            const u32 e = i / LEN, entry = i % LEN;
            const u32 place = PLANAR ? entry % NP * FIELDS + entry / NP : entry;
            if (e < n) fetch(to + e * ROOM + place, state + (u64)first * LEN + i);
        }
    }
    dg_cp_async_commit();
    dg_cp_async_wait<0>();
    dg_warp_sync();
}

// Sum, smallest and largest number, over the lanes of an element.
static __device__ __forceinline__ double sum_of_lanes(double x) {
    for (u32 m = WIDTH / 2; m > 0; m /= 2) x += dg_shuffle_xor(x, m);
    return x;
}

static __device__ __forceinline__ double least_of_lanes(double x) {
    for (u32 m = WIDTH / 2; m > 0; m /= 2) x = lesser(x, dg_shuffle_xor(x, m));
    return x;
}

static __device__ __forceinline__ double largest_of_lanes(double x) {
    for (u32 m = WIDTH / 2; m > 0; m /= 2) x = greater(x, dg_shuffle_xor(x, m));
    return x;
}

// Density and pressure at a point below which an element is troubled, from the values for its mean and the
// mean's total energy.
static __device__ __forceinline__ Floors lowest(const Elements& a, double density, double pressure, double energy) {
    Floors f = floors_of(density, pressure, energy);
    if (a.filter) f = {greater(0.5 * density, f.density), greater(0.5 * pressure, f.pressure)};
    return f;
}

// The mean of element `e`, with the state `c`, for its lane `l`.
static __device__ __forceinline__ void mean_of(const Elements& a, u32 e, u32 l, const double* c, double (&mean)[FIELDS]) {
    const double* weights = a.mean + (CURVED ? (u64)e * NP : 0);
    for (int k = 0; k < FIELDS; ++k) mean[k] = 0;
    for (u32 i = l; i < NP; i += WIDTH) {
        const double w = dg_load(weights + i);
        for (int k = 0; k < FIELDS; ++k) mean[k] += w * c[i * FIELDS + k];
    }
    for (int k = 0; k < FIELDS; ++k) mean[k] = sum_of_lanes(mean[k]);
}
