// Step bounds with the stiffness r of the reactions: 1/Δt grows by r.
//
// Macros beside those of common.cuh: BLOCK threads.

// `bounds`: `n` of them; `steps`: of `slots` slots, or null. Same computation as `limited_by_reactions` on
// the host.
extern "C" __global__ void __launch_bounds__(BLOCK)
    limit_steps(StepBound* bounds, u32 n, real* steps, u32 slots, double stiffness) {
    const u32 i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) bounds[i].step = 1.0 / (1.0 / bounds[i].step + stiffness);
    if (steps && i < slots) steps[i] = (real)(1.0 / (1.0 / (double)steps[i] + stiffness));
}
