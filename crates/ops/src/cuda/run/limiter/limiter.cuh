// Floors of density and pressure, for the kernels of limiters.
//
// Macros: FLOOR, ENERGY_FLOOR, relative to the mean's density and pressure, and to its total energy.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

struct Floors {
    double density, pressure;
};

// The smallest density and pressure that are allowed in an element with these values for its mean.
static __device__ __forceinline__ Floors floors_of(double density, double pressure, double energy) {
    Floors f;
    f.density = FLOOR * density;
    f.pressure = lesser(greater(FLOOR * pressure, ENERGY_FLOOR * fabs(energy)), 0.5 * pressure);
    return f;
}
