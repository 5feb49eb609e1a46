// Fused residual and stage: contravariant fluxes, fluxes through faces, sums.
//
// Same computation as residual.rs on the host.
//
// A kind of elements supplies `Residual`, the work of a block on its elements:
// - room(a): the work space of the block
// - Residual(a, parameters, elements, work): loads what is asked for before all else
// - AHEAD: the data across a thread's first face point are loaded before those of the elements
// - load(): operators, and what volume and faces need, with a barrier
// - volume(): contravariant fluxes at volume points
// - own_trace(at, beyond, um): the trace of the element itself
// - normal(at, n): the unit normal; returns the scale of the flux
// - put(at, f): keeps the numerical flux times its scale
// - expect(): loads for the stage that are issued before the barrier after the fluxes
// - finish(): sums of the fluxes, source, metric rule and stage; the pass meets at a barrier before

extern "C" __global__ void __launch_bounds__(BOUNDS) residual(const Arguments a, const Parameters parameters) {
    real* work = Residual::room(a);
    for_elements<PERSISTENT>(a, [&](const Elements& elements) {
        Residual kind(a, parameters, elements, work);
        const auto solve = [&](const FacePoint& at, const Beyond& beyond) {
            real um[FIELDS], f[FIELDS], normal[DIM];
            kind.own_trace(at, beyond, um);
            const real scale = kind.normal(at, normal);
            numerical_flux(parameters, um, beyond.up, normal, f);
#pragma unroll
            for (int k = 0; k < FIELDS; ++k) f[k] *= scale;
            kind.put(at, f);
        };
        Beyond beyond;
        if (Residual::AHEAD && threadIdx.x < elements.n * NF) beyond.load(a, elements, FacePoint(threadIdx.x));
        kind.load();
        kind.volume();
        if (Residual::AHEAD && threadIdx.x < elements.n * NF) solve(FacePoint(threadIdx.x), beyond);
        for (u32 item = threadIdx.x + (Residual::AHEAD ? THREADS : 0); item < elements.n * NF; item += THREADS) {
            const FacePoint at(item);
            beyond.load(a, elements, at);
            solve(at, beyond);
        }
        kind.expect();
        dg_block_sync();
        kind.finish();
    });
}
