// Boundary faces of all conditions: outer state, numerical flux, and its time integral at each point.
//
// Same computation as `Discretization::boundary` on the host. One thread per point. The points of a face are
// consecutive, and a block processes points of one run, which have the same condition and group. The
// arithmetic is always in double precision, which times and coordinates need; states are stored in their own
// precision. Macros beside those of common.cuh: BLOCK threads; KEEP_DATA of boundary_point.cuh.
#include "boundary_point.cuh"

// Arguments of time and weight as in `boundary_point`.
extern "C" __global__ void __launch_bounds__(BLOCK)
    boundary(const stored* u, const BoundaryRun* runs, u32 n_runs, const Clock* clock, double time, double part,
             double share, const Parameters parameters) {
    // From here on the next residual kernel may load its operators and states: the kernels before this one
    // have finished.
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
