// An element of a linelet: its residuals and its correction.
//
// Macros defined by the host: COUNT and ALONG (systems of a line with nodal functions, and nodes across it).
#pragma once

typedef unsigned u32;
typedef unsigned long long u64;

// Marks an element without a linelet, and a member whose functions are dense.
#define NONE 0xffffffffu

// An element of a line.
struct Member {
    u64 factor;   // first entry of its factors
    u32 row;      // its first row in vectors
    u32 nodes;    // number of its rows; with the highest bit if its basis changes
    u32 start;    // its first unknown
    u32 n;        // number of its unknowns, of each system
    u32 reduced;  // first entry of its functions: values, or numbers of nodes
    u32 turn;     // first entry of the systems of its numbers along the layer
};

// Values of dense functions; numbers of nodes of those that are nodal along the layer, with their linear
// functions across it.
struct Functions {
    const real* values;
    const u32* nodes;
    const u32* numbers;
    const u32* places;
    const u32* systems;
    const real* linear;
};

// The residual of unknown b, Rᵀ r, is stored; `at` gives r at a node of the element.
template <class At> DG_DEVICE void restricted(const Member& m, u32 b, const Functions& f, real* unknowns, At at) {
    real sum = 0;
    if (m.turn == NONE) {
        if (b >= m.n) return;
        const u32 n_nodes = m.nodes & 0x7fffffffu;
        for (u32 i = 0; i < n_nodes; ++i) sum += dg_load(f.values + m.reduced + i * m.n + b) * at(i);
    } else {
        if (b >= 2 * COUNT) return;
        const u32* of = f.nodes + m.reduced + f.numbers[m.turn + b % COUNT] * ALONG;
        for (int i = 0; i < ALONG; ++i) sum += dg_load(f.linear + 2 * i + b / COUNT) * at(of[i]);
    }
    unknowns[m.start + b] = sum;
}

// (R x) at a node.
DG_DEVICE real prolongated(const Member& m, u32 node, const Functions& f, const real* unknowns) {
    const real* x = unknowns + m.start;
    if (m.turn != NONE) {
        const u32 place = f.places[m.reduced + node];
        const u32 system = f.systems[m.turn + (place >> 8)], along = place & 255u;
        return dg_load(f.linear + 2 * along) * x[system] + dg_load(f.linear + 2 * along + 1) * x[COUNT + system];
    }
    real sum = 0;
    const real* row = f.values + m.reduced + (u64)node * m.n;
    for (u32 b = 0; b < m.n; ++b) sum += dg_load(row + b) * x[b];
    return sum;
}
