// Traces I_f u of groups whose traces are not nodal values, [slot][face point][field].
//
// A block processes ELEMENTS elements. Same computation as `trace_blocks` in residual.rs on the host.
//
// Macros beside those of common.cuh: BLOCK threads, ELEMENTS elements, the chain TRACE, the layout of the
// work space EVEN_AT, ODD_AT, OUT_AT and its size WORK; it is in shared memory if SHARED_WORK.

extern "C" __global__ void __launch_bounds__(BLOCK) traces(const Arguments a) {
    real* work = work_space(a);
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) {
        const u32 slot = a.first + group * ELEMENTS;
        const u32 left = a.count - group * ELEMENTS, n = left < ELEMENTS ? left : ELEMENTS;
        load_states(a, slot, n, work);
        dg_block_sync();
        real* out = work + OUT_AT;
        multiply_chain(a, TRACE, n, work, work + EVEN_AT, work + ODD_AT, out);
        real* to = a.out + (u64)slot * TRACE_BLOCK;
        for (u32 i = threadIdx.x; i < n * TRACE_BLOCK; i += BLOCK) to[i] = out[i];
        dg_block_sync();
    }
}
