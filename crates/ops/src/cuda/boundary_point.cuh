// A point of a boundary: the outer state, the flux that leaves, and its time integral.
//
// Beside the macros of common.cuh: the traced function `numerical_flux`; from boundary.rs
// `outer_state(kind, …)`, which leads to the condition's own function, and `prescribed_state(kind, …)`, which
// evaluates states that change with time.
#pragma once

// Whether others, as diffusion does, read prescribed data that change with time.
#ifndef KEEP_DATA
#define KEEP_DATA 0
#endif

// Points of one condition in one group. Mirrored by the words of a run in boundary.rs.
struct BoundaryRun {
    const u64* begin;        // InnerTrace
    const u32* list;
    const u32* weight_at;
    const u32* places;
    const stored* weights;
    const stored* traces;    // of the group; null where traces are read from the state
    u64 offset;              // of the group in the state
    const stored* normal;    // [point][DIM]
    const stored* weight;    // cubature weight times sJ
    stored* data;            // prescribed states, [point][FIELDS]
    const double* position;  // [point][3], or null where the data do not change with time
    const real* parameters;  // of the condition and of its data
    stored* exterior;        // outer states, [point][FIELDS]
    double* sums;            // time integrals of the flux, [point][FIELDS], …
    double* corrections;     // … and what they lost by rounding
    u32 n, kind;             // rows of a trace; condition
    u32 first, count;        // first block; points
    u64 stride;              // between the unknowns of a row
};

// The outer state at point `q` of a run to the exterior buffer, from the inner one, `um`, and its flux to the
// time integrals. The step's own time and size are those of `clock`; without one (null) the time is `time`
// and nothing is integrated. The stage's time is that of the clock and `part` of the step, or `time` if
// `part` is negative; `share` is its weight in the integral over the step.
static __device__ __forceinline__ void boundary_point(const BoundaryRun& run, u32 q, const real (&um)[FIELDS],
                                                      const Clock* clock, double time, double part, double share,
                                                      const Parameters& parameters, real (&up)[FIELDS]) {
    const u64 at = (u64)q * FIELDS;
    real outside[FIELDS], f[FIELDS], direction[DIM];
    // Asked for before anything is calculated: on small meshes a stage waits for little else.
    const double factor = clock ? -share * clock->dt : 0;
    double old[FIELDS], lost[FIELDS];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        old[k] = clock ? run.sums[at + k] : 0;
        lost[k] = clock ? run.corrections[at + k] : 0;
    }
    if (run.position) {
        if (clock && part >= 0) time = clock->t + part * clock->dt;
        real x[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) x[d] = (real)run.position[3 * (u64)q + d];
        prescribed_state(run.kind, run.parameters, x, (real)time, outside);
#if KEEP_DATA
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) run.data[at + k] = (stored)outside[k];
#endif
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) outside[k] = run.data[at + k];
    }
#pragma unroll
    for (int x = 0; x < DIM; ++x) direction[x] = run.normal[(u64)q * DIM + x];
    const real weight = run.weight[q];
    outer_state(run.kind, run.parameters, um, direction, outside, up);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) run.exterior[at + k] = (stored)up[k];
    if (!clock) return;
    numerical_flux(parameters, um, up, direction, f);
    // ∫ −∮ f* dS dt, point by point, compensated (Neumaier 1974).
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        const double add = factor * (double)(weight * f[k]), total = old[k] + add;
        const double loss = fabs(old[k]) >= fabs(add) ? (old[k] - total) + add : (add - total) + old[k];
        run.corrections[at + k] = lost[k] + loss;
        run.sums[at + k] = total;
    }
}
