// Second pass of diffusion: fluxes through face points.
//
// The fluxes are lifted and added to the rows of the first pass; metric rule and stage follow. Same
// computation as `mean_flux_blocks` in diffusion_passes.rs on the host.
//
// A kind of elements supplies `MeanFlux`, the work of a block on its elements:
// - room(a): the work space of the block
// - MeanFlux(a, p, elements, work): loads operators, and what the stage reads; the loads overlap with those
//   of the fluxes
// - put(e, q, f): keeps the flux `f` through face point q of element e, outward, times its scale
// - finish(): lifts the fluxes and updates the stage; the pass meets at a barrier before

extern "C" __global__ void __launch_bounds__(BOUNDS)
    residual(const Arguments a, const Published p, const Parameters parameters) {
    real* work = MeanFlux::room(a);
    for_elements<PERSISTENT>(a, [&](const Elements& elements) {
        MeanFlux kind(a, p, elements, work);
        for (u32 item = threadIdx.x; item < elements.n * NF; item += THREADS) {
            const FacePoint at(item);
            real f[FIELDS];
            flux_through(a, p, elements.first + at.element, at.face, at.number, at.q, 1, f);
            kind.put(at.element, at.q, f);
        }
        dg_block_sync();
        kind.finish();
    });
}
