// Limiters, the troubled elements: entropy filter and positivity, one block for each element in turn.
//
// Same computation as limiter/element.rs on the host, always in double precision; states have the type
// STATE_REAL. Elements of all groups are in one list, whose order does not change the result: each element
// depends on the stage's input and on its own result alone.
//
// Macros: FIELDS; BLOCK, threads; MOST, the largest number of coefficients of an element; BISECTIONS; those
// of limiter.cuh. The traced function bounded(parameters, u, out) computes density, pressure and entropy.

#include "limiter.cuh"

// A neighbour, or an element of the list: the group in the highest bits, the slot in the others. The highest
// group stands for outer states at a boundary; the slot is then the index of the first one. The group below
// it stands for elements of other ranks; the slot is then the number of the cut face.
constexpr u32 SLOT_BITS = 29, SLOT = (1u << SLOT_BITS) - 1, OUTSIDE = 7, ABROAD = 6, NOTHING = 0xffffffffu;

// One part of a group. Mirrored by the words of `Piece` in limiter.rs.
struct Piece {
    const double* at;          // [basis function][point]: values at the points from coefficients
    const double* values;      // [mode][point]: from modes
    const double* to_modes;    // [mode][basis function]; null if coefficients are modes
    const double* from_modes;  // [basis function][mode]
    const double* nu;          // means of modes: [mode], [slot of the part][mode] if curved
    const u32* squares;        // [mode]: squares of the degrees
    const u32* across;         // of the group, [slot][face]
    const u32* face_points;    // of the group, [face]: number of points
    float* factors;            // of the group, [slot]
    u64 offset;                // of the group in the state
    u32 first, curved;         // first slot of the part
    u32 np, nc;                // basis functions, points
    u32 lanes, faces;
    u32 row_stride, field_stride;
};

struct Settings {
    const Piece* pieces;  // [group][part]
    const u32* second;    // [group]: first slot of the second part
    const u32* list;
    const u32* listed;
    const double* abroad;  // [cut face][entropy, low, high]: ranges of the elements of other ranks
    double tolerance;     // ln(1 − ε)
    u32 filter, density;  // whether there is a filter, and whether it bounds the density
    u32 keep, unused;     // whether factors only become smaller
};

static __device__ __forceinline__ double least_of_block(double x) {
    __shared__ double of_warp[BLOCK / 32];
    for (u32 m = 16; m > 0; m /= 2) x = lesser(x, dg_shuffle_xor(x, m));
    if (BLOCK == 32) return x;
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    dg_block_sync();
    for (u32 w = 0; w < BLOCK / 32; ++w) x = lesser(x, of_warp[w]);
    dg_block_sync();
    return x;
}

// x^n for n ≥ 0.
static __device__ __forceinline__ double power(double x, u32 n) {
    double result = 1;
    for (;; x *= x) {
        if (n & 1) result *= x;
        n /= 2;
        if (n == 0) return result;
    }
}

// The state at a point: a column of a table times coefficients or modes, [row][field].
static __device__ __forceinline__ void state_at(const Piece& a, const double* table, u32 q, const double* x,
                                                double (&u)[FIELDS]) {
    for (int k = 0; k < FIELDS; ++k) u[k] = 0;
    for (u32 i = 0; i < a.np; ++i) {
        const double w = dg_load(table + i * a.nc + q);
        for (int k = 0; k < FIELDS; ++k) u[k] += w * x[i * FIELDS + k];
    }
}

static __device__ __forceinline__ u64 begin_of(const Piece& a, u32 slot) {
    return a.offset + (u64)(slot / a.lanes) * (a.np * FIELDS * a.lanes) + slot % a.lanes;
}

static __device__ __forceinline__ void load_element(const Piece& a, const STATE_REAL* state, u32 slot, double* to) {
    const STATE_REAL* c = state + begin_of(a, slot);
    for (u32 i = threadIdx.x; i < a.np * FIELDS; i += BLOCK)
        to[i] = (double)c[i / FIELDS * a.row_stride + i % FIELDS * a.field_stride];
    dg_block_sync();
}

static __device__ __forceinline__ const Piece& piece_of(const Settings& s, u32 group, u32 slot) {
    return s.pieces[2 * group + (slot >= s.second[group])];
}

// Smallest entropy, smallest and largest density.
struct Range {
    double entropy, low, high;
};

static __device__ __forceinline__ Range empty_range() {
    Range r;
    r.entropy = r.low = 1.0 / 0.0;
    r.high = -1.0 / 0.0;
    return r;
}

// The range of all threads of the block.
static __device__ __forceinline__ Range of_block(Range r) {
    r.entropy = least_of_block(r.entropy);
    r.low = least_of_block(r.low);
    r.high = -least_of_block(-r.high);
    return r;
}

static __device__ __forceinline__ void add_state(const Parameters& parameters, const double (&u)[FIELDS], Range& r) {
    double found[3];
    bounded(parameters, u, found);
    r.low = lesser(found[0], r.low);
    r.high = greater(found[0], r.high);
    r.entropy = lesser(found[2], r.entropy);
}

// Extends the range by the states of an element at its points; `room` has space for its coefficients.
static __device__ __forceinline__ void add_element(const Parameters& parameters, const Piece& a, const STATE_REAL* u,
                                                   u32 slot, double* room, Range& r) {
    load_element(a, u, slot, room);
    for (u32 q = threadIdx.x; q < a.nc; q += BLOCK) {
        double state[FIELDS];
        state_at(a, a.at, q, room, state);
        add_state(parameters, state, r);
    }
    dg_block_sync();
}

// The range of the stage's input in an element, in its neighbours and at boundaries.
static __device__ __forceinline__ Range range_near(const Parameters& parameters, const Settings& s, const Piece& a,
                                                   u32 slot, const STATE_REAL* u, const STATE_REAL* exterior,
                                                   double* room) {
    Range r = empty_range();
    add_element(parameters, a, u, slot, room, r);
    for (u32 f = 0; f < a.faces; ++f) {
        const u32 neighbour = a.across[slot * a.faces + f];
        if (neighbour == NOTHING) continue;
        const u32 group = neighbour >> SLOT_BITS, at = neighbour & SLOT;
        if (group == ABROAD) {
            const double* other = s.abroad + 3 * (u64)at;
            r.entropy = lesser(other[0], r.entropy);
            r.low = lesser(other[1], r.low);
            r.high = greater(other[2], r.high);
            continue;
        }
        if (group != OUTSIDE) {
            add_element(parameters, piece_of(s, group, at), u, at, room, r);
            continue;
        }
        for (u32 q = threadIdx.x; q < a.face_points[f]; q += BLOCK) {
            double state[FIELDS];
            for (int k = 0; k < FIELDS; ++k) state[k] = (double)exterior[at + q * FIELDS + k];
            add_state(parameters, state, r);
        }
    }
    return of_block(r);
}

// Multiplies the modes above the constant by `f`, or by the power of `f` that belongs to their degree, in the
// first `fields` unknowns, and changes the constant so that the mean stays. `to` may be `from`.
static __device__ __forceinline__ void scale(const Piece& a, const double* nu, const double* from, double* to, double f,
                                             bool powers, u32 fields) {
    double lost = 0;
    if (a.curved && threadIdx.x < fields)
        for (u32 i = 1; i < a.np; ++i) {
            const double g = powers ? power(f, a.squares[i]) : f;
            lost += (1.0 - g) * nu[i] * from[i * FIELDS + threadIdx.x];
        }
    dg_block_sync();
    for (u32 i = threadIdx.x; i < a.np * FIELDS; i += BLOCK) {
        // Entry i < FIELDS belongs to thread i.
        double x = from[i];
        if (i < FIELDS) x += lost / nu[0];
        else if (i % FIELDS < fields) x *= powers ? power(f, a.squares[i / FIELDS]) : f;
        to[i] = x;
    }
    dg_block_sync();
}

// Whether the modes fit the bounds.
static __device__ __forceinline__ bool fits(const Parameters& parameters, const Piece& a, const double* modes,
                                            const Range& bounds, bool density) {
    double yes = 1;
    for (u32 q = threadIdx.x; q < a.nc; q += BLOCK) {
        double u[FIELDS], found[3];
        state_at(a, a.values, q, modes, u);
        bounded(parameters, u, found);
        const bool inside = !density || (found[0] >= bounds.low && found[0] <= bounds.high);
        if (!(found[2] >= bounds.entropy && inside)) yes = 0;
    }
    return least_of_block(yes) > 0;
}

// The smallest density (0) or pressure (1) of the modes.
static __device__ __forceinline__ double least_of(const Parameters& parameters, const Piece& a, const double* modes,
                                                  int which) {
    double least = 1.0 / 0.0;
    for (u32 q = threadIdx.x; q < a.nc; q += BLOCK) {
        double u[FIELDS], found[3];
        state_at(a, a.values, q, modes, u);
        bounded(parameters, u, found);
        least = lesser(found[which], least);
    }
    return least_of_block(least);
}

// The factor by which the deviation from a mean is scaled so that the smallest value becomes the floor.
static __device__ __forceinline__ double to_floor(double mean, double floor, double least) {
    return least >= floor ? 1.0 : greater(0.0, lesser(1.0, (mean - floor) / (mean - least)));
}

static __device__ __forceinline__ void limit_element(const Parameters& parameters, const Settings& s, u32 name,
                                                     const STATE_REAL* u, STATE_REAL* next, const STATE_REAL* exterior,
                                                     double* modes, double* trial) {
    __shared__ double of_mean[FIELDS];
    const u32 slot = name & SLOT;
    const Piece& a = piece_of(s, name >> SLOT_BITS, slot);
    const double* nu = a.nu + (a.curved ? (u64)(slot - a.first) * a.np : 0);
    load_element(a, next, slot, trial);
    for (u32 i = threadIdx.x; i < a.np * FIELDS; i += BLOCK) {
        double sum = trial[i];
        if (a.to_modes) {
            sum = 0;
            for (u32 j = 0; j < a.np; ++j) sum += dg_load(a.to_modes + i / FIELDS * a.np + j) * trial[j * FIELDS + i % FIELDS];
        }
        modes[i] = sum;
    }
    dg_block_sync();
    if (threadIdx.x < FIELDS) {
        double sum = 0;
        for (u32 i = 0; i < a.np; ++i) sum += nu[i] * modes[i * FIELDS + threadIdx.x];
        of_mean[threadIdx.x] = sum;
    }
    dg_block_sync();
    double mean[FIELDS], middle[3];
    for (int k = 0; k < FIELDS; ++k) mean[k] = of_mean[k];
    bounded(parameters, mean, middle);
    double found = 1;
    const bool good = middle[0] > 0 && middle[1] > 0;
    if (good && s.filter) {
        Range bounds = range_near(parameters, s, a, slot, u, exterior, trial);
        bounds.entropy = lesser(middle[2], bounds.entropy) + s.tolerance;
        bounds.low = lesser(middle[0], bounds.low) * (1.0 - 1e-12);
        bounds.high = greater(middle[0], bounds.high) * (1.0 + 1e-12);
        if (!fits(parameters, a, modes, bounds, s.density)) {
            double high = 1;
            found = 0;
            for (int i = 0; i < BISECTIONS; ++i) {
                const double f = 0.5 * (found + high);
                scale(a, nu, modes, trial, f, true, FIELDS);
                if (fits(parameters, a, trial, bounds, s.density)) found = f;
                else high = f;
            }
            scale(a, nu, modes, modes, found, true, FIELDS);
        }
    }
    if (good) {
        const Floors floors = floors_of(middle[0], middle[1], mean[FIELDS - 1]);
        const double first = to_floor(middle[0], floors.density, least_of(parameters, a, modes, 0));
        if (first < 1) scale(a, nu, modes, modes, first, false, 1);
        const double second = to_floor(middle[1], floors.pressure, least_of(parameters, a, modes, 1));
        if (second < 1) scale(a, nu, modes, modes, second, false, FIELDS);
        found = lesser(found, lesser(first, second));
    }
    if (found < 1) {
        STATE_REAL* c = next + begin_of(a, slot);
        for (u32 i = threadIdx.x; i < a.np * FIELDS; i += BLOCK) {
            double sum = modes[i];
            if (a.from_modes) {
                sum = 0;
                for (u32 j = 0; j < a.np; ++j)
                    sum += dg_load(a.from_modes + i / FIELDS * a.np + j) * modes[j * FIELDS + i % FIELDS];
            }
            c[i / FIELDS * a.row_stride + i % FIELDS * a.field_stride] = (STATE_REAL)sum;
        }
    }
    if (threadIdx.x == 0) {
        float* factor = a.factors + slot;
        *factor = s.keep ? lesser(*factor, (float)found) : (float)found;
    }
    dg_block_sync();
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    limit_troubled(const STATE_REAL* u, STATE_REAL* next, const STATE_REAL* exterior, const Settings s,
                   const Parameters parameters) {
    DG_PLANNED_SHARED(double, shared, sizeof(double) * 2 * MOST);
    const u32 n = *s.listed;
    for (u32 i = blockIdx.x; i < n; i += gridDim.x)
        limit_element(parameters, s, s.list[i], u, next, exterior, shared, shared + MOST);
}

// The ranges of the states `u` in the elements at cut faces, for other ranks: `out`, [cut face][3]. One block
// for each.
extern "C" __global__ void __launch_bounds__(BLOCK)
    ranges(const STATE_REAL* u, const u32* names, double* out, const Settings s, const Parameters parameters) {
    DG_PLANNED_SHARED(double, shared, sizeof(double) * 2 * MOST);
    const u32 name = names[blockIdx.x], slot = name & SLOT;
    Range r = empty_range();
    add_element(parameters, piece_of(s, name >> SLOT_BITS, slot), u, slot, shared, r);
    r = of_block(r);
    if (threadIdx.x != 0) return;
    double* to = out + 3 * (u64)blockIdx.x;
    to[0] = r.entropy;
    to[1] = r.low;
    to[2] = r.high;
}

// Copies the means of the elements at cut faces, `slots`, for other ranks: `out`, [cut face][field].
extern "C" __global__ void __launch_bounds__(BLOCK)
    gather_means(const double* means, const u32* slots, u32 n, double* out) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n * FIELDS) out[i] = means[(u64)slots[i / FIELDS] * FIELDS + i % FIELDS];
}
