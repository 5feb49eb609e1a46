//! Properties that hold for all admissible states: one module per part of the crate.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod boundaries;
mod boundary_energy;
mod catalogue;
mod closures;
mod derived;
mod diffusion;
mod diffusive_boundaries;
mod fields;
mod fluxes;
mod formulas;
mod incompressible;
mod incompressible_solutions;
mod laws;
mod numbers;
mod random_waves;
mod solutions;
mod sources;
mod states;
mod tangent;
mod tangent_pairs;
mod two_point;
mod wall_models;
