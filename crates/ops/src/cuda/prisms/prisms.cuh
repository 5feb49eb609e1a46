// Prisms with collocated nodes: layout of operators and face points, and sums over the sides.
//
// Macros beside those of common.cuh, with PLANAR = 1:
// - NODES: nodes along a line
// - TRIANGLE: nodes of a layer
// - FACE_PLACE: [face point], nodes of the lower and of the upper layer, then [side][layer][number]
//
// `tables` begins with the layer's matrices [direction][column][row], the lifts of the sides
// [side][number][row], the line's matrix [row][column], and the lifts of the lower and upper face.

#include "rows.cuh"

static __device__ const unsigned short face_place[NF] = FACE_PLACE;
constexpr int LAYER = TRIANGLE * TRIANGLE;
constexpr int SIDES_AT = 2 * LAYER;
constexpr int LINE_AT = SIDES_AT + 3 * NODES * TRIANGLE;
constexpr int ENDS_AT = LINE_AT + NODES * NODES;
constexpr int ENTRIES = ENDS_AT + 2;

// Sums, at node `t` of layer `z`, the lifts from the points of a side of an element: `lifts` holds the lifts
// of all sides, `values` is [field][place].
static __device__ __forceinline__ void side_sum(const real* lifts, const real* values, int side, u32 z, u32 t,
                                                real (&sum)[FIELDS]) {
#pragma unroll
    for (int k = 0; k < FIELDS; ++k) sum[k] = 0;
#pragma unroll
    for (int m = 0; m < NODES; ++m) {
        const real c = lifts[(side * NODES + m) * TRIANGLE + t];
        const real* v = values + 2 * TRIANGLE + (side * NODES + z) * NODES + m;
#pragma unroll
        for (int k = 0; k < FIELDS; ++k) sum[k] += c * v[k * NF];
    }
}
