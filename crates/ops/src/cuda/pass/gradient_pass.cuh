// First pass of diffusion: gradients, volume terms and published fluxes.
//
// It computes lifted gradients, stores the sums of the fluxes at volume points, and publishes the elements'
// parts of the fluxes through face points. Same computation as `gradient_block` in diffusion_passes.rs on the
// host.
//
// A kind of elements supplies `Gradient`, the work of a block on its elements:
// - room(a): the work space of the block
// - Gradient(a, p, parameters, elements, work)
// - AHEAD: the data across a thread's first face point are loaded before those of the elements
// - load(): the elements' data; what faces need of them, with a barrier
// - point(item): a face point
// - own_trace(at, beyond, um): the trace of the element itself
// - normal(at, n): the unit normal
// - keep(at, jump, f): keeps half jump and numerical flux
// - derive(): derivatives without liftings; the pass meets at a barrier before
// - volume(): lifted gradients and fluxes at volume points
// - PUBLISHES: when the fluxes through face points are published
// - derive_faces(): before that, after `volume`
// - face_gradient(at, um, jump, f, grad): the physical gradient at a face point, with the lifting of its own
//   face; loads the trace `um` and the numerical flux `f`, unless they are published AT_ONCE, where they and
//   the half jump `jump` are given
// - store(): sums of the fluxes, stored for the second pass; the pass meets at a barrier before

extern "C" __global__ void __launch_bounds__(BOUNDS)
    gradient(const Arguments a, const Published p, const Parameters parameters) {
    real* work = Gradient::room(a);
    for_elements<PERSISTENT>(a, [&](const Elements& elements) {
        Gradient kind(a, p, parameters, elements, work);
        const auto publish_flux = [&](const FacePoint& at, const Across& from, real (&um)[FIELDS], real (&jump)[FIELDS],
                                      real (&f)[FIELDS]) {
            real grad[DIM * FIELDS], normal[DIM];
            kind.face_gradient(at, um, jump, f, grad);
            kind.normal(at, normal);
            publish(parameters, p, elements.slot + at.element, at.q, boundary_begin(a, p, from), at.number, um, grad, normal,
                    f);
        };
        const auto solve = [&](const FacePoint& at, const Beyond& beyond) {
            real um[FIELDS], jump[FIELDS], f[FIELDS], normal[DIM];
            kind.own_trace(at, beyond, um);
            kind.normal(at, normal);
            half_jump(p, boundary_begin(a, p, beyond.from), at.number, um, beyond.up, jump);
            numerical_flux(parameters, um, beyond.up, normal, f);
            kind.keep(at, jump, f);
            if (Gradient::PUBLISHES == AT_ONCE) publish_flux(at, beyond.from, um, jump, f);
        };
        const auto publish_all = [&] {
            for (u32 item = threadIdx.x; item < elements.n * NF; item += THREADS) {
                const FacePoint at = kind.point(item);
                real um[FIELDS], jump[FIELDS], f[FIELDS];
                publish_flux(at, across(a, elements.slot + at.element, at.face), um, jump, f);
            }
        };

        // 1. Half jumps and numerical fluxes.
        Beyond beyond;
        if (Gradient::AHEAD && threadIdx.x < elements.n * NF) beyond.load(a, elements, kind.point(threadIdx.x));
        kind.load();
        if (Gradient::AHEAD && threadIdx.x < elements.n * NF) solve(kind.point(threadIdx.x), beyond);
        for (u32 item = threadIdx.x + (Gradient::AHEAD ? THREADS : 0); item < elements.n * NF; item += THREADS) {
            const FacePoint at = kind.point(item);
            beyond.load(a, elements, at);
            solve(at, beyond);
        }
        dg_block_sync();

        // 2. Volume and published fluxes.
        kind.derive();
        if (Gradient::PUBLISHES == BEFORE_VOLUME) {
            publish_all();
            dg_block_sync();
        }
        kind.volume();
        if (Gradient::PUBLISHES == AFTER_VOLUME) {
            kind.derive_faces();
            publish_all();
        }
        dg_block_sync();

        // 3. Sums.
        kind.store();
    });
}
