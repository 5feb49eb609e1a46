// Limiters, the search for elements that may be troubled: all others need no evaluation at points.
//
// The elements that are not suspects are not troubled in the sense of the screen (limiter.cu), up to
// rounding. At all points of an element the state is its mean ū plus a sum of products of basis functions and
// `d`, the coefficients less those of the mean. Bounds of these sums bound the change of the density, δρ, of
// each unknown, and of the linear part of the pressure, q = ∇p(ū)·(u − ū). The law bounds the remainder r of
// p = p̄ + q + r from those of the unknowns. The screen's conditions follow from
//
//     ρp = ρ̄p̄ + g + (δρ q + ρ r),   g = ρ̄ q + p̄ δρ :
//
// g is in the element's space, and its modes of the highest degree are known exactly; the rest is of second
// order.
//
// Macros beside those of limiter_elements.cuh:
// - MODAL: bounds are sums over the coefficients (1), with weights, or products of the largest one (0)
// - TOP: number of modes of the highest degree, for MODAL = 0
// - ROOT_THRESHOLD: root of the largest share of these modes in a function that is smooth
// - OF_ONE: mode 0 of the constant 1
// - OF_MODE, OF_TOP: largest mode 0, and largest norm of the modes of the highest degree, of a function whose
//   values at the volume points are within ±1
//
// `reach` holds the largest size of each basis function at a point or, for MODAL = 0, of the sum of their
// sizes. `top` holds 1 for the modes of the highest degree and 0 for others or, for MODAL = 0, the matrix to
// these modes, [basis function][mode].
//
// The traced functions tangent(parameters, u, out) and remainder(parameters, u, delta, out) compute density,
// pressure and its gradient, and the bound of the remainder.
#include "limiter_elements.cuh"

// Factor of bounds that must hold in spite of rounding.
constexpr double ROUNDED = 1.0 - 1e-9;

extern "C" __global__ void __launch_bounds__(BLOCK) find_suspects(const Elements a, const Parameters parameters) {
    DG_PLANNED_SHARED(double, shared, sizeof(double) * WARPS * EACH * ROOM);
    const u32 lane = dg_lane(), l = lane % WIDTH, e = lane / WIDTH, first = a.begin + first_of_warp(true);
    if (first >= a.end) return;
    const u32 left = a.end - first, n = left < EACH ? left : EACH;
    double* base = shared + threadIdx.x / 32 * (EACH * ROOM);
    load_elements(a.state, first, n, base);
    // Lanes without an element repeat the work of the first one.
    const u32 own = e < n ? e : 0;
    const double* c = base + own * ROOM;
    double* change = base + e * ROOM + LEN;
    double mean[FIELDS], middle[2 + FIELDS];
    if (MODAL && !CURVED)
        for (int k = 0; k < FIELDS; ++k) mean[k] = dg_load(a.mean) * c[k];
    else
        mean_of(a, first + own, l, c, mean);
    tangent(parameters, mean, middle);
    const double density = middle[0], pressure = middle[1];

    // 1. Bounds of the changes of the unknowns, and of the linear part of the pressure.
    double delta[FIELDS], linear = 0, top = 0;
    for (int k = 0; k < FIELDS; ++k) delta[k] = 0;
    for (u32 i = l; i < NP; i += WIDTH) {
        const double one = dg_load(a.one + i);
        double d[FIELDS], q = 0;
        for (int k = 0; k < FIELDS; ++k) {
            d[k] = c[i * FIELDS + k] - one * mean[k];
            q += middle[2 + k] * d[k];
        }
        const double g = density * q + pressure * d[0];
        if (MODAL) {
            const double w = dg_load(a.reach + i);
            for (int k = 0; k < FIELDS; ++k) delta[k] += w * fabs(d[k]);
            linear += w * fabs(q);
            top += dg_load(a.top + i) * (g * g);
        } else {
            for (int k = 0; k < FIELDS; ++k) delta[k] = greater(delta[k], fabs(d[k]));
            linear = greater(linear, fabs(q));
            change[i] = g;
        }
    }
    for (int k = 0; k < FIELDS; ++k)
        delta[k] = MODAL ? sum_of_lanes(delta[k]) : dg_load(a.reach) * largest_of_lanes(delta[k]);
    linear = MODAL ? sum_of_lanes(linear) : dg_load(a.reach) * largest_of_lanes(linear);

    // 2. Density and pressure. Comparisons with NaN are false.
    double rest[1];
    remainder(parameters, mean, delta, rest);
    const Floors low = lowest(a, density, pressure, mean[FIELDS - 1]);
    bool calm = delta[0] <= ROUNDED * (density - low.density) && linear + rest[0] <= ROUNDED * (pressure - low.pressure);

    // 3. The modes of ρp of the highest degree.
    if (a.filter) {
        const double g = density * linear + pressure * delta[0];
        const double second = delta[0] * linear + (density + delta[0]) * rest[0];
        const double all = OF_ONE * (density * pressure) - OF_MODE * (g + second);
        const double room = ROUNDED * ROOT_THRESHOLD * all - OF_TOP * second;
        bool fits = false;
        if (!MODAL) {
            fits = OF_TOP * g <= room;
            dg_warp_sync();
        }
        if (MODAL || dg_any(calm && !fits)) {
            if (!MODAL)
                for (u32 m = l; m < TOP; m += WIDTH) {
                    double mode = 0;
                    for (u32 i = 0; i < NP; ++i) mode += dg_load(a.top + i * TOP + m) * change[i];
                    top += mode * mode;
                }
            top = sum_of_lanes(top);
            fits = fits || (room >= 0 && top <= room * room);
        }
        calm = calm && fits;
    }
    if (l == 0 && e < n) {
        if (!calm) dg_append(a.suspects, a.suspected, first + e);
        else if (!a.keep) a.factors[first + e] = 1;
    }
}
