// Boundary faces of all conditions: the outer state from the inner one, the flux that leaves, and its time
// integral at
// each point. The host's twin is `Discretization::boundary`. One thread a point; the points of a face lie
// together; a
// block works on points of one run, which share condition and group.
//
// Beside the macros of common.cuh: BLOCK threads; the traced function `numerical_flux`; from boundary.rs
// `outer_state(kind, …)`, which leads to the condition's own function, and `prescribed_state(kind, …)`,
// which evaluates
// states that change with time.

// Points of one condition in one group. Mirrored by `Run::words` in boundary.rs.
struct BoundaryRun {
    const u64* begin;        // InnerTrace
    const u32* list;
    const u32* weight_at;
    const u32* places;
    const real* weights;
    const real* traces;      // of the group; null where traces are read from the state
    u64 offset;              // of the group in the state
    const real* normal;      // [point][DIM]
    const real* weight;      // cubature weight times sJ
    const real* data;        // prescribed states, [point][FIELDS]
    const double* position;  // [point][3], or null where the data do not change with time
    const real* parameters;  // of the condition and of its data
    real* exterior;          // outer states, [point][FIELDS]
    double* sums;            // time integrals of the flux, [point][FIELDS], …
    double* corrections;     // … and what they lost by rounding
    u32 n, kind;             // rows of a trace; condition
    u32 first, count;        // first block; points
    u64 stride;              // between the unknowns of a row
};

// The step's own time and size are those of `clock`; without one (null) the time is `time` and nothing is
// integrated.
// The stage's time is that of the clock and `part` of the step; `share` is its weight in the integral over
// the step.
extern "C" __global__ void __launch_bounds__(BLOCK)
    boundary(const real* u, const BoundaryRun* runs, u32 n_runs, const Clock* clock, double time, double part,
             double share, const Parameters parameters) {
    // The residual behind may fetch its operators and states from here on: what is before this kernel is
    // done.
    dg_wait_for_kernels_before();
    dg_let_next_kernel_start();
    u32 i = 0;
    while (i + 1 < n_runs && blockIdx.x >= runs[i + 1].first) ++i;
    const BoundaryRun run = runs[i];
    const u32 q = (blockIdx.x - run.first) * BLOCK + threadIdx.x;
    if (q >= run.count) return;
    const u64 at = (u64)q * FIELDS;
    InnerTrace inner;
    inner.values = run.traces ? run.traces : u + run.offset;
    inner.begin = run.begin;
    inner.list = run.list;
    inner.weight = run.weight_at;
    inner.places = run.places;
    inner.weights = run.weights;
    inner.n = run.n;
    inner.stride = (u32)run.stride;
    real um[FIELDS], outside[FIELDS], up[FIELDS], f[FIELDS], direction[DIM];
    inner_trace(inner, q, um);
    if (run.position) {
        if (clock && part >= 0) time = clock->t + part * clock->dt;
        real x[3];
#pragma unroll
        for (int d = 0; d < 3; ++d) x[d] = (real)run.position[3 * (u64)q + d];
        prescribed_state(run.kind, run.parameters, x, (real)time, outside);
    } else {
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) outside[k] = run.data[at + k];
    }
#pragma unroll
    for (int x = 0; x < DIM; ++x) direction[x] = run.normal[(u64)q * DIM + x];
    outer_state(run.kind, run.parameters, um, direction, outside, up);
    numerical_flux(parameters, um, up, direction, f);
    const real weight = run.weight[q];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) run.exterior[at + k] = up[k];
    if (!clock) return;
    // ∫ −∮ f* dS dt, point by point, compensated (Neumaier 1974).
    const double factor = -share * clock->dt;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) {
        const double add = factor * (double)(weight * f[k]), old = run.sums[at + k], total = old + add;
        run.corrections[at + k] += fabs(old) >= fabs(add) ? (old - total) + add : (add - total) + old;
        run.sums[at + k] = total;
    }
}
