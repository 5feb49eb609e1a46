// Traces I_f u of groups whose traces are not nodal values, [slot][face point][field].
//
// Same computation as `trace_blocks` in residual.rs on the host.
//
// A kind of elements supplies `Traces`:
// - room(a): the work space of the block
// - state_at(i): the place in work space of entry i of the states of a block's elements
// - load(a, work): loads operators
// - interpolate(a, n, work): from the states of n elements to their traces; begins after a barrier and ends
//   with one
// - trace_at(i): the place in work space of entry i of the traces

extern "C" __global__ void __launch_bounds__(BOUNDS) traces(const Arguments a) {
    real* work = Traces::room(a);
    for_elements<PERSISTENT>(a, [&](const Elements& elements) {
        const stored* from = a.u + elements.begin;
        for (u32 i = threadIdx.x; i < elements.n * STATE_BLOCK; i += THREADS) work[Traces::state_at(i)] = __ldg(from + i);
        Traces::load(a, work);
        dg_block_sync();
        Traces::interpolate(a, elements.n, work);
        stored* to = a.out + (u64)elements.slot * TRACE_BLOCK;
        for (u32 i = threadIdx.x; i < elements.n * TRACE_BLOCK; i += THREADS) to[i] = work[Traces::trace_at(i)];
        if (PERSISTENT) dg_block_sync();
    });
}
