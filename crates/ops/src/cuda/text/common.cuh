// Definitions shared by all kernels of the operators: arguments, traces of neighbours, the Runge–Kutta stage.
//
// The host defines beforehand the type `real`, the traced functions of the law, and these macros:
// - DIM, FIELDS, LANES: dimension, unknowns, elements of a block of the layout
// - PLANAR: rows of one unknown are contiguous in the state (1); then LANES = 1
// - NP, NQ, NF, FACES: basis functions, volume points, face points, faces of an element
// - FACE_FIRST: { first point of each face, …, NF }
// - CURVED: geometry for each point (1), or for each element and face (0)
// - COLLOCATED: volume points are the nodes
// - DIRECT: face points are nodes, and traces are read from the state
// - STAGE: residual alone (0), or fused with a stage (1)
// - SOURCE: defined where a fast residual without diffusion adds the rows of a source
//
// Index orders are those of the host: state [block][row][field][lane] or [block][field][row] (PLANAR), metric
// [d][x] or [point][d][x], face geometry [face or point][DIM + 1] (unit normal, scale), each interleaved by
// lanes.

// `stored` is the number type of arrays in memory except operators: that of the arithmetic, or a smaller one
// with DG_STORED_SINGLE.
#ifdef DG_STORED_SINGLE
typedef float stored;
#else
typedef real stored;
#endif
typedef unsigned int u32;
typedef unsigned char u8;
typedef unsigned long long u64;

// Number of scalars of one block of the state, and of the traces.
constexpr u32 STATE_BLOCK = NP * FIELDS * LANES;
constexpr u32 TRACE_BLOCK = NF * FIELDS * LANES;
// Stride between rows of the state, and between unknowns.
constexpr u32 ROW_STRIDE = PLANAR ? 1 : FIELDS * LANES;
constexpr u32 FIELD_STRIDE = PLANAR ? NP : LANES;
// The code of a face whose trace lies in the exterior buffer.
constexpr u32 EXTERIOR = 255;

// Step size, and time as the sum of two numbers, `t + low`, like the host's `TimePoint`. Stages read `dt`.
struct Clock {
    double dt, t, low;
    u64 steps;  // number of steps since the device was set up
};

// Result of a step bound: the smallest step for cfl = 1, and the first bad slot (0xffffffff for none).
struct StepBound {
    double step;
    u32 bad;
    u32 unused;
};

// Arguments of the kernels of a group: arrays of the group and of the part that the launch processes, and the
// destination. Mirrored by `Arguments` in arguments.rs.
struct Arguments {
    const stored* u;               // state of the group
    const stored* traces;          // traces of the group, if they are not read from the state
    const stored* exterior;        // traces of boundaries and other groups, [face][point][field]
    const u32* across;             // [block][face][lane]: slot across, or index of the trace in `exterior`
    const u8* code;                // [block][face][lane]: table of rows to use, or EXTERIOR
    const u32* rows;               // [code][point]: offset of the row in a block
    const u32* own;                // [face point]: offset of the row of the element's own trace in a block
    const stored* metric;          // of the part
    const stored* face;            // of the part
    const stored* inverse_jacobian;  // of the part, [point]; curved only
    const stored* weighted;        // of the part, for the weight-adjusted rule
    const stored* inverse;         // of the part, for the stored rule
    const stored* map;             // of the part, see quadratic.cuh
    const real* tables;            // operators, in the order of the kernel
    const u32* indices;            // their indices, if they are sparse
    const stored* local;           // factor of the step by slot, or null
    const stored* start;           // state at the beginning of the step; read if b ≠ 0
    stored* reg;                   // register of the stage
    stored* out;                   // residual, or next state
    real* work;                    // work space, if shared memory is too small
    const double* step;            // step size
    const stored* source;          // of the group: rows of the source, as the state, or null; residuals read it
    double a, b, c;                // stage: reg ← a reg + dt R, out ← b start + (1 − b) u + c reg
    u32 keep;                      // whether the register is stored
    u32 first;                     // first slot of the part
    u32 count;                     // elements of the part
    u32 table_len;                 // entries of a table of rows
};

// Offset of a slot in an array of blocks of `block` scalars.
static __device__ __forceinline__ u64 slot_begin(u32 slot, u32 block) {
    return LANES == 1 ? (u64)slot * block : (u64)(slot / LANES) * block + slot % LANES;
}

// Offset of row `row` of a part's table, [element][rows][width] interleaved by lanes.
static __device__ __forceinline__ u64 part_row(u32 element, u32 rows, u32 row, u32 width) {
    return LANES == 1 ? ((u64)element * rows + row) * width
                      : ((u64)(element / LANES) * rows + row) * width * LANES + element % LANES;
}

// Location of the trace across a face: an array, and a table of rows (null if the trace is contiguous).
struct Across {
    const stored* values;
    const u32* rows;
};

// The index of what lies across a face, and its code.
struct FaceLink {
    u32 to, code;
};

static __device__ __forceinline__ FaceLink link_of(const Arguments& a, u32 slot, u32 face) {
    const u64 at = LANES == 1 ? (u64)slot * FACES + face : ((u64)(slot / LANES) * FACES + face) * LANES + slot % LANES;
    return {__ldg(a.across + at), __ldg(a.code + at)};
}

static __device__ __forceinline__ Across across(const Arguments& a, const FaceLink& b) {
    Across r;
    if (b.code == EXTERIOR) {
        r.values = a.exterior + b.to;
        r.rows = nullptr;
    } else {
        r.values = DIRECT ? a.u + slot_begin(b.to, STATE_BLOCK) : a.traces + slot_begin(b.to, TRACE_BLOCK);
        r.rows = a.rows + b.code * a.table_len;
    }
    return r;
}

static __device__ __forceinline__ Across across(const Arguments& a, u32 slot, u32 face) {
    return across(a, link_of(a, slot, face));
}

// Loads the state across point `point` of the face.
static __device__ __forceinline__ void state_across(const Across& r, u32 point, real (&up)[FIELDS]) {
    const bool outside = r.rows == nullptr;
    const stored* p = r.values + (outside ? point * FIELDS : __ldg(r.rows + point));
    const u32 stride = outside ? 1 : DIRECT ? FIELD_STRIDE : LANES;
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) up[k] = __ldg(p + k * stride);
}

// Computation of the inner trace at a face point: `n` rows of an element, given by a table of places, with
// weights, in the order in which kernels add them up, so that both compute the same bits. Face points that
// are nodes, or whose traces are stored, have one row of weight 1.
struct InnerTrace {
    const stored* values;  // state or traces
    const u64* begin;     // [point]: offset of the element's block
    const u32* list;      // [point]: index of its first place in `places`
    const u32* weight;    // [point]: index of its first weight in `weights`
    const u32* places;
    const stored* weights;
    u32 n;
    u32 stride;           // stride between the unknowns of a row
};

static __device__ __forceinline__ void inner_trace(const InnerTrace& t, u32 q, real (&u)[FIELDS]) {
    const stored* p = t.values + t.begin[q];
    const u32 *place = t.places + t.list[q];
    const stored* w = t.weights + t.weight[q];
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) u[k] = t.n > 1 ? real(0) : real(-0.0);  // a single term is not changed
    for (u32 m = 0; m < t.n; ++m)
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) u[k] = fma((real)w[m], (real)p[place[m] + k * t.stride], u[k]);
}

// Loads the metric terms of an element at a volume point: ∇r_d, or J∇r_d if curved.
static __device__ __forceinline__ void metric_at(const Arguments& a, u32 element, u32 q, real (&g)[DIM * DIM]) {
    const stored* p = a.metric + part_row(element, CURVED ? NQ : 1, CURVED ? q : 0, DIM * DIM);
#pragma unroll
    for (int i = 0; i < DIM * DIM; ++i) g[i] = __ldg(p + i * LANES);
}

// Loads the unit normal at a face point; returns the scale of the flux: sJ/J, or sJ if curved.
static __device__ __forceinline__ real normal_at(const Arguments& a, u32 element, u32 face, u32 q, real (&n)[DIM]) {
    const stored* p = a.face + part_row(element, CURVED ? NF : FACES, CURVED ? q : face, DIM + 1);
#pragma unroll
    for (int x = 0; x < DIM; ++x) n[x] = __ldg(p + x * LANES);
    return __ldg(p + DIM * LANES);
}

// Computes the numerical flux in the direction of a normal, times a scale.
static __device__ __forceinline__ void scaled_flux(const Parameters& parameters, const real (&um)[FIELDS],
                                            const real (&up)[FIELDS], const real (&n)[DIM], real scale,
                                            real (&f)[FIELDS]) {
    numerical_flux(parameters, um, up, n, f);
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) f[k] *= scale;
}

// Computes the numerical flux times its scale at a face point, from both traces.
static __device__ __forceinline__ void face_flux(const Arguments& a, const Parameters& parameters, u32 element, u32 face,
                                          u32 q, const real (&um)[FIELDS], const real (&up)[FIELDS],
                                          real (&f)[FIELDS]) {
    real n[DIM];
    const real scale = normal_at(a, element, face, q, n);
    scaled_flux(parameters, um, up, n, scale, f);
}

// The coefficients of a stage, in the kernel's precision.
struct StageFactors {
    real a, b, rest, c, dt;
};

static __device__ __forceinline__ StageFactors stage_factors(const Arguments& a, u32 slot) {
    StageFactors s;
    s.a = (real)a.a;
    s.b = (real)a.b;
    s.rest = (real)(1.0 - a.b);
    s.c = (real)a.c;
    s.dt = (real)(STAGE ? *a.step : 0.0);
    if (STAGE && a.local) s.dt *= __ldg(a.local + slot);
    return s;
}

// Finishes one entry `r` of the residual, at position `at` of the state, where the state has the value `u`:
// stores it, or updates the stage.
static __device__ __forceinline__ void finish(const Arguments& a, const StageFactors& s, u64 at, real u, real r) {
    if (STAGE) {
        real g = r * s.dt;
        if (a.a != 0.0) g += s.a * a.reg[at];
        if (a.keep) a.reg[at] = g;
        if (a.b != 0.0) u = s.b * __ldg(a.start + at) + s.rest * u;
        a.out[at] = u + s.c * g;
    } else {
        a.out[at] = r;
    }
}

// As `finish`, with the register's entry `before` already loaded (it is used only if the stage reads the
// register).
static __device__ __forceinline__ void finish_with(const Arguments& a, const StageFactors& s, u64 at, bool reads_register,
                                                   real before, real u, real r) {
    if (STAGE) {
        real g = r * s.dt;
        if (reads_register) g += s.a * before;
        if (a.keep) a.reg[at] = g;
        if (a.b != 0.0) u = s.b * __ldg(a.start + at) + s.rest * u;
        a.out[at] = u + s.c * g;
    } else {
        a.out[at] = r;
    }
}

// The face that a face point belongs to.
static __device__ __forceinline__ u32 face_of(u32 q) {
    constexpr u32 first[FACES + 1] = FACE_FIRST;
    u32 f = 0;
#pragma unroll
    for (int i = 1; i < FACES; ++i) f += q >= first[i];
    return f;
}

static __device__ __forceinline__ u32 face_first(u32 f) {
    constexpr u32 first[FACES + 1] = FACE_FIRST;
    u32 q = 0;
#pragma unroll
    for (int i = 0; i < FACES; ++i) q = f == i ? first[i] : q;
    return q;
}
