// Ends of the lines of nodes of quadrilaterals and hexahedra at Gauss–Lobatto nodes.
//
// Face points are nodes at −1 or +1 of the line normal to the face.
//
// Macros beside those of common.cuh: NODES of a line; FACE_AT and FACE_POINT as written by tensor.rs.

#define EQUAL_FACES 1
constexpr int FACE_POINTS = NF / FACES;
static __device__ const unsigned short face_point[FACES][FACE_POINTS] = FACE_POINT;

static __device__ __forceinline__ constexpr int power(int d) { return d == 0 ? 1 : d == 1 ? NODES : NODES * NODES; }

// The number of a node among the nodes with the same coordinate in direction d.
static __device__ __forceinline__ u32 across_line(u32 node, int d) {
    return d == 0 ? node / NODES : d == 1 ? node / (NODES * NODES) * NODES + node % NODES : node % (NODES * NODES);
}

// A node at the end of its line.
struct LineEnd {
    bool is;    // whether the node is at an end
    u32 end;    // 0 at −1, 1 at +1
    u32 face;   // number of the face there
    u32 point;  // number of the point within the face
};

static __device__ __forceinline__ LineEnd line_end(u32 node, int d) {
    constexpr u32 face_at[DIM][2] = FACE_AT;
    LineEnd r;
    const u32 i = node / power(d) % NODES;
    r.is = i == 0 || i == NODES - 1;
    r.end = i == 0 ? 0 : 1;
    r.face = i == 0 ? face_at[d][0] : face_at[d][1];
    r.point = r.is ? face_point[2 * d + r.end][across_line(node, d)] : 0;
    return r;
}
