// Boundary faces of all conditions: the outer state from the inner one, the flux that leaves, and its time
// integral at each point. The host's twin is `Discretization::boundary`. One thread a point; the points of a
// face lie together; a block works on points of one run, which share condition and group. Always in double
// precision, which times and coordinates need; states are stored in their own. Beside the macros of
// common.cuh: BLOCK threads; KEEP_DATA of boundary_point.cuh.
#include "boundary_point.cuh"

// Time and share are those of `boundary_point`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    boundary(const stored* u, const BoundaryRun* runs, u32 n_runs, const Clock* clock, double time, double part,
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
    InnerTrace inner;
    inner.values = run.traces ? run.traces : u + run.offset;
    inner.begin = run.begin;
    inner.list = run.list;
    inner.weight = run.weight_at;
    inner.places = run.places;
    inner.weights = run.weights;
    inner.n = run.n;
    inner.stride = (u32)run.stride;
    real um[FIELDS], up[FIELDS];
    inner_trace(inner, q, um);
    boundary_point(run, q, um, clock, time, part, share, parameters, up);
}
