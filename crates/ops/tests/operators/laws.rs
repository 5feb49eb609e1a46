//! Mathematical properties of the operators, for every shape, scheme and geometry.

mod boundary_energy;
mod boundary_spectrum;
mod closures;
mod conservation;
mod convergence;
mod diffusion;
mod diffusion_orders;
mod free_stream;
mod limiter;
mod linear;
mod oracle;
mod ranks;
mod reactions;
mod reconstruction;
mod split_form;
mod step_bound;
mod taylor;
mod threads;
mod unknowns;
