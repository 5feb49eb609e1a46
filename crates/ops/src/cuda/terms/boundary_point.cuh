// One point of a boundary: the outer state, the numerical flux out of the domain, and its time integral.
//
// Besides the macros of common.cuh it needs the traced function `numerical_flux` and, from boundary.rs,
// `outer_state(kind, …)`, which calls the function of the condition, and `prescribed_state(kind, …)`, which
// evaluates states that change with time.
#pragma once

// Whether other kernels, such as those of diffusion, read prescribed data that change with time.
#ifndef KEEP_DATA
#define KEEP_DATA 0
#endif

// Points of one condition in one group. Mirrored by the words of a run in boundary.rs.
struct BoundaryRun {
    const u64* begin;        // arrays of InnerTrace
    const u32* list;
    const u32* weight_at;
    const u32* places;
    const stored* weights;
    const stored* traces;    // of the group; null if traces are read from the state
    u64 offset;              // offset of the group in the state
    const stored* normal;    // [point][DIM]
    const stored* weight;    // cubature weight times sJ
    stored* data;            // prescribed states, [point][FIELDS]
    const double* position;  // [point][3], or null if the data do not change with time
    const real* parameters;  // of the condition and of its data
    stored* exterior;        // outer states, [point][FIELDS]
    double* sums;            // time integrals of the flux, [point][FIELDS], …
    double* corrections;     // … and their corrections for rounding errors
    u32 n, kind;             // rows of a trace; condition
    u32 first, count;        // first block; points
    u64 stride;              // between the unknowns of a row
};

// Writes the outer state at point `q` of a run to the exterior buffer, computed from the inner state `um`,
// and adds the flux to the time integrals. `clock` holds time and size of the step; if it is null, the time
// is `time` and nothing is integrated. The time of the stage is the clock's time plus `part` of the step, or
// `time` if `part` is negative; `share` is the weight of the stage in the integral over the step.
static __device__ __forceinline__ void boundary_point(const BoundaryRun& run, u32 q, const real (&um)[FIELDS],
                                                      const Clock* clock, double time, double part, double share,
                                                      const Parameters& parameters, real (&up)[FIELDS]) {
    const u64 at = (u64)q * FIELDS;
    real outside[FIELDS], f[FIELDS], direction[DIM];
    // Loaded before any computation: on small meshes the latency of these loads dominates a stage.
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
    // ∫ −∮ f* dS dt, for each point, with compensated summation (Neumaier 1974).
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        const double add = factor * (double)(weight * f[k]), total = old[k] + add;
        const double loss = fabs(old[k]) >= fabs(add) ? (old[k] - total) + add : (add - total) + old[k];
        run.corrections[at + k] = lost[k] + loss;
        run.sums[at + k] = total;
    }
}
