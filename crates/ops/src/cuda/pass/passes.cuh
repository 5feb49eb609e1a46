// Passes over the elements of a part: the elements of a block, and their face points.
//
// A pass is a kernel that is written once, in a file of this folder: the loops over face points, and the
// formulas there. What differs between kinds of elements (operators, the layout of work space, sums) a kind
// supplies as a type of the pass's name, such as `MeanFlux`, in front of the pass.
//
// Macros beside those of common.cuh: ELEMENTS of a block and, for a limit of registers, BLOCKS per
// multiprocessor. A kind defines THREADS of a block; PERSISTENT: whether a block processes several groups of
// elements in turn; and EQUAL_FACES as 1 if all faces have equally many points, so that the face of a point
// is found by division.
#pragma once
#include "rows.cuh"

#ifndef EQUAL_FACES
#define EQUAL_FACES 0
#endif
#ifdef BLOCKS
#define BOUNDS THREADS, BLOCKS
#else
#define BOUNDS THREADS
#endif

// The elements that a block processes at a time.
struct Elements {
    u32 first;  // the first one, numbered in the part
    u32 n;      // their number
    u32 slot;   // slot of the first one
    u64 begin;  // offset of its state; LANES = 1

    DG_DEVICE Elements(const Arguments& a, u32 group)
        : first(group * ELEMENTS), n(a.count - first < ELEMENTS ? a.count - first : ELEMENTS), slot(a.first + first),
          begin((u64)slot * STATE_BLOCK) {}
};

// The thread's own node or point, one of `ROWS` of an element. Threads beyond the last element repeat the
// computation of the last one and store nothing.
template <int ROWS> struct Own {
    u32 local, row;  // element of the block whose place in shared memory is the thread's; the row
    bool exists;
    u32 mine;        // the element, numbered in the block
    u32 element;     // numbered in the part
    u32 slot;

    DG_DEVICE explicit Own(const Elements& elements)
        : local(threadIdx.x / ROWS), row(threadIdx.x % ROWS), exists(local < elements.n),
          mine(exists ? local : elements.n - 1), element(elements.first + mine), slot(elements.slot + mine) {}
    // Offset of the row in the state.
    DG_DEVICE u64 at() const { return (u64)slot * STATE_BLOCK + row * ROW_STRIDE; }
};

// Runs `work` on all groups of elements of a block.
template <bool persistent, class Work>
static __device__ __forceinline__ void for_elements(const Arguments& a, const Work& work) {
    if (!persistent) return work(Elements(a, blockIdx.x));
    const u32 groups = (a.count + ELEMENTS - 1) / ELEMENTS;
    for (u32 group = blockIdx.x; group < groups; group += gridDim.x) work(Elements(a, group));
}

// A face point of a block's elements.
struct FacePoint {
    u32 element;  // numbered in the block
    u32 q;        // numbered among the face points of the element
    u32 face;
    u32 number;   // numbered in the face
    u32 place;    // numbered as the kind of elements does

    DG_DEVICE FacePoint(u32 element, u32 q, u32 place)
        : element(element), q(q), face(EQUAL_FACES ? q / (NF / FACES) : face_of(q)),
          number(EQUAL_FACES ? q % (NF / FACES) : q - face_first(face)), place(place) {}
    DG_DEVICE explicit FacePoint(u32 item) : FacePoint(item / NF, item % NF, item % NF) {}
};

// What a face point reads from elsewhere, loaded before it is needed.
struct Beyond {
    Across from;
    u32 own;  // offset of the element's own trace in its block of the state; if DIRECT
    real up[FIELDS];

    DG_DEVICE void load(const Arguments& a, const Elements& elements, const FacePoint& at) {
        if (DIRECT) own = __ldg(a.own + at.q);
        from = across(a, elements.slot + at.element, at.face);
        if (LANES > 1) return state_across(from, at.number, up);
        const stored* values = from.values + (from.rows ? __ldg(from.rows + at.number) : at.number * FIELDS);
        load_node(values, up, from.rows && DIRECT ? FIELD_STRIDE : 1);
    }
};

// What the kinds of elements have in common: the base of their types.
struct Kind {
    const Arguments& a;
    const Elements elements;
    real* const work;  // work space of the block

    DG_DEVICE Kind(const Arguments& a, const Elements& elements, real* work) : a(a), elements(elements), work(work) {}

    DG_DEVICE FacePoint point(u32 item) const { return FacePoint(item); }

    // The unit normal; returns the scale of the flux.
    DG_DEVICE real normal(const FacePoint& at, real (&n)[DIM]) const {
        return normal_at(a, elements.first + at.element, at.face, at.q, n);
    }
};

// The base of `Residual`.
struct ResidualKind : Kind {
    const Parameters& parameters;

    DG_DEVICE ResidualKind(const Arguments& a, const Parameters& parameters, const Elements& elements, real* work)
        : Kind(a, elements, work), parameters(parameters) {}

    DG_DEVICE void expect() const {}
};
