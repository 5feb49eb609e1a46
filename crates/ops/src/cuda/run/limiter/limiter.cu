// Limiters, the passes over all elements of a part: troubled elements, means, slopes.
//
// Same computation as limiter/element.rs on the host, always in double precision; states have the type
// STATE_REAL. A warp processes EACH = 32 / WIDTH elements with WIDTH lanes each, on a copy of their states in
// shared memory. Sums have a fixed order.
//
// Macros:
// - FIELDS, LANES, PLANAR, NP, NQ: as in common.cuh
// - NC: points at which states are bounded; the first NQ are the volume points
// - NODES: which of them are the NP nodes: none (0), the first (1), the last (2)
// - CURVED: means for each element (1), or for the part (0)
// - BLOCK, WIDTH, ROOM: threads of a block, lanes of an element, numbers of shared memory of an element
// - PER: points that a lane processes at a time; MODES: modes that a lane processes at a time
// - TOP: number of modes below the highest degree, which come first in `sensor`; THRESHOLD: largest share of
//   the others in a function that is smooth
// - LINEAR, LINEAR_MODES: the modes above the constant of degree at most 1
// - FLOOR, ENERGY_FLOOR: of limiter.cuh
//
// The traced function bounded(parameters, u, out) computes density, pressure and entropy.
#include "limiter_elements.cuh"

// Points whose states are products, the length of a row of their table, and that of a row of the sensor.
constexpr u32 DENSE = NODES ? NC - NP : NC;
constexpr u32 DENSE_ROW = (DENSE + WIDTH * PER - 1) / (WIDTH * PER) * WIDTH * PER;
constexpr u32 SENSOR_ROW = (NP + WIDTH * MODES - 1) / (WIDTH * MODES) * WIDTH * MODES;

// Loads the state of a slot by the lanes of its element; `l` is the number of this lane.
static __device__ __forceinline__ void load_slot(const STATE_REAL* state, u32 slot, u32 l, double* to) {
    const STATE_REAL* begin = state + (u64)(slot / LANES) * (LEN * LANES) + slot % LANES;
    for (u32 i = l; i < LEN; i += WIDTH) fetch(to + (PLANAR ? i % NP * FIELDS + i / NP : i), begin + (u64)i * LANES);
    dg_cp_async_commit();
    dg_cp_async_wait<0>();
    dg_warp_sync();
}

// Screens the elements of a warp, whose states are at `base`; this lane is number `l` of those of element
// `e < EACH` of the warp, which is `slot`. `exists` is false for lanes without an element, which repeat the
// work of the first one, at `c`.
static __device__ __forceinline__ void screen_elements(const Elements& a, const Parameters& parameters, double* base,
                                                       const double* c, u32 e, u32 l, u32 slot, bool exists) {
    double* product = base + e * ROOM + LEN;
    double mean[FIELDS], middle[3];
    mean_of(a, slot, l, c, mean);
    bounded(parameters, mean, middle);

    double least_density = 1.0 / 0.0, least_pressure = 1.0 / 0.0;
    const auto add = [&](const double(&u)[FIELDS], bool inside, u32 q) {
        double found[3];
        bounded(parameters, u, found);
        least_density = lesser(found[0], least_density);
        least_pressure = lesser(found[1], least_pressure);
        if (inside) product[q] = found[0] * found[1];
    };
    for (u32 begin = l; begin < DENSE; begin += WIDTH * PER) {
        double u[PER][FIELDS];
#pragma unroll
        for (int s = 0; s < PER; ++s)
            for (int k = 0; k < FIELDS; ++k) u[s][k] = 0;
        const double* table = a.at + begin;
        for (u32 i = 0; i < NP; ++i, table += DENSE_ROW) {
            double x[FIELDS];
            for (int k = 0; k < FIELDS; ++k) x[k] = c[i * FIELDS + k];
#pragma unroll
            for (int s = 0; s < PER; ++s) {
                const double w = dg_load(table + s * WIDTH);
                for (int k = 0; k < FIELDS; ++k) u[s][k] += w * x[k];
            }
        }
#pragma unroll
        for (int s = 0; s < PER; ++s) {
            const u32 q = begin + s * WIDTH;
            if (q < DENSE) add(u[s], NODES != 1 && q < NQ, q);
        }
    }
    if (NODES)
        for (u32 i = l; i < NP; i += WIDTH) {
            double u[FIELDS];
            for (int k = 0; k < FIELDS; ++k) u[k] = c[i * FIELDS + k];
            add(u, NODES == 1, i);
        }
    dg_warp_sync();
    least_density = least_of_lanes(least_density);
    least_pressure = least_of_lanes(least_pressure);
    const Floors low = lowest(a, middle[0], middle[1], mean[FIELDS - 1]);
    bool troubled = !(least_density >= low.density && least_pressure >= low.pressure);
    if (a.filter) {
        double all = 0, top = 0;
        for (u32 begin = l; begin < NP; begin += WIDTH * MODES) {
            double modes[MODES];
#pragma unroll
            for (int s = 0; s < MODES; ++s) modes[s] = 0;
            const double* table = a.sensor + begin;
            for (u32 q = 0; q < NQ; ++q, table += SENSOR_ROW) {
                const double x = product[q];
#pragma unroll
                for (int s = 0; s < MODES; ++s) modes[s] += dg_load(table + s * WIDTH) * x;
            }
#pragma unroll
            for (int s = 0; s < MODES; ++s) {
                const double square = modes[s] * modes[s];
                all += square;
                if (begin + s * WIDTH >= TOP) top += square;
            }
        }
        all = sum_of_lanes(all);
        top = sum_of_lanes(top);
        troubled = troubled || !(top <= THRESHOLD * all);
    }
    if (l == 0 && exists) {
        // The end of the step reports a bad mean.
        if (troubled && middle[0] > 0 && middle[1] > 0) {
            dg_append(a.list, a.listed, a.name + slot);
        } else if (!a.keep) {
            a.factors[slot] = 1;
        }
    }
}

// Finds the elements that need a limiter, among all elements or the suspects: with a filter, those where
// density or pressure are below half of those of the mean at a point, or where the modes of the highest
// degree have too large a share of ρp; without one, those where density or pressure are below their floors.
// Their numbers are appended to the list; the factors of all others are 1.
extern "C" __global__ void __launch_bounds__(BLOCK) screen(const Elements a, const Parameters parameters) {
    DG_PLANNED_SHARED(double, shared, sizeof(double) * WARPS * EACH * ROOM);
    const u32 lane = dg_lane(), l = lane % WIDTH, e = lane / WIDTH;
    double* base = shared + threadIdx.x / 32 * (EACH * ROOM);
    const u32 begin = a.suspects ? 0 : a.begin, end = a.suspects ? *a.suspected : a.end;
    for (u32 first = begin + first_of_warp(true); first < end; first += gridDim.x * (WARPS * EACH)) {
        const u32 left = end - first, n = left < EACH ? left : EACH;
        // Lanes without an element repeat the work of the first one.
        const u32 own = e < n ? e : 0, slot = a.suspects ? a.suspects[first + own] : first + own;
        if (a.suspects) load_slot(a.state, slot, l, base + e * ROOM);
        else load_elements(a.state, first, n, base);
        screen_elements(a, parameters, base, base + (a.suspects ? e : own) * ROOM, e, l, slot, e < n);
        dg_warp_sync();
    }
}

// Computes the means of the elements.
extern "C" __global__ void __launch_bounds__(BLOCK) means(const Elements a) {
    DG_PLANNED_SHARED(double, shared, sizeof(double) * WARPS * EACH * ROOM);
    const u32 lane = dg_lane(), l = lane % WIDTH, e = lane / WIDTH, first = a.begin + first_of_warp(true);
    if (first >= a.end) return;
    const u32 left = a.end - first, n = left < EACH ? left : EACH, own = e < n ? e : 0;
    double* base = shared + threadIdx.x / 32 * (EACH * ROOM);
    load_elements(a.state, first, n, base);
    double mean[FIELDS];
    mean_of(a, first + own, l, base + own * ROOM, mean);
    if (l == 0 && e < n)
        for (int k = 0; k < FIELDS; ++k) a.means[(u64)(first + e) * FIELDS + k] = mean[k];
}

// Limits the slopes of the elements so that the values at the points lie within the means of the element and
// its neighbours. Sets their factors.
extern "C" __global__ void __launch_bounds__(BLOCK) slopes(const Elements a) {
    constexpr u32 mode_of[LINEAR] = LINEAR_MODES;
    DG_PLANNED_SHARED(double, shared, sizeof(double) * WARPS * EACH * ROOM);
    const u32 lane = dg_lane(), l = lane % WIDTH, e = lane / WIDTH, first = a.begin + first_of_warp(false);
    if (first >= a.end) return;
    const u32 left = a.end - first, n = left < EACH ? left : EACH, own = e < n ? e : 0, slot = first + own;
    double* base = shared + threadIdx.x / 32 * (EACH * ROOM);
    load_elements(a.state, first, n, base);
    const double* c = base + own * ROOM;
    // The linear modes, [mode][field], and how far values may lie below and above the mean.
    double *modes = base + e * ROOM + LEN, *low = modes + LINEAR * FIELDS, *high = low + FIELDS;
    const double* mean = a.means + (u64)slot * FIELDS;
    const double* nu = a.nu + (CURVED ? (u64)slot * NP : 0);
    for (u32 item = l; item < LINEAR * FIELDS; item += WIDTH) {
        double sum = 0;
        for (u32 i = 0; i < NP; ++i) sum += dg_load(a.linear + item / FIELDS * NP + i) * c[i * FIELDS + item % FIELDS];
        modes[item] = sum;
    }
    const u32 begin = dg_load(a.first_near + slot), end = dg_load(a.first_near + slot + 1);
    for (u32 k = l; k < FIELDS; k += WIDTH) {
        double least = mean[k], largest = mean[k];
        for (u32 i = begin; i < end; ++i) {
            const double m = a.all_means[(u64)dg_load(a.near + i) * FIELDS + k];
            least = lesser(m, least);
            largest = greater(m, largest);
        }
        low[k] = least - mean[k];
        high[k] = largest - mean[k];
    }
    dg_warp_sync();
    double factor[FIELDS], shift[FIELDS], least = 1;
    for (int k = 0; k < FIELDS; ++k) {
        factor[k] = 1;
        shift[k] = 0;
        if (CURVED)
            for (u32 j = 0; j < LINEAR; ++j) shift[k] += nu[mode_of[j]] * modes[j * FIELDS + k];
    }
    for (u32 q = l; q < NC; q += WIDTH)
        for (int k = 0; k < FIELDS; ++k) {
            double change = 0;
            for (u32 j = 0; j < LINEAR; ++j) change += dg_load(a.points + j * NC + q) * modes[j * FIELDS + k];
            change -= shift[k];
            const double room = change > 0 ? high[k] : low[k];
            // Changes of the size of rounding are allowed.
            const bool counts = fabs(change) > 1e-12 * greater(fabs(mean[k]), 1e-300);
            if (counts && fabs(change) > fabs(room)) factor[k] = lesser(factor[k], room / change);
        }
    for (int k = 0; k < FIELDS; ++k) {
        factor[k] = least_of_lanes(factor[k]);
        least = lesser(least, factor[k]);
    }
    if (e >= n) return;
    if (l == 0) a.factors[slot] = (float)least;
    if (!(least < 1)) return;
    for (int k = 0; k < FIELDS; ++k) {
        if (!(factor[k] < 1)) continue;
        // The constant that keeps the mean.
        const double constant = (mean[k] - factor[k] * shift[k]) / nu[0];
        for (u32 i = l; i < NP; i += WIDTH) {
            const double* row = a.back + i * (1 + LINEAR);
            double sum = dg_load(row) * constant;
            for (u32 j = 0; j < LINEAR; ++j) sum += dg_load(row + 1 + j) * (factor[k] * modes[j * FIELDS + k]);
            const u64 block = (u64)(slot / LANES) * (LEN * LANES) + slot % LANES;
            a.state[block + (PLANAR ? k * NP + i : (i * FIELDS + k) * LANES)] = (STATE_REAL)sum;
        }
    }
}
