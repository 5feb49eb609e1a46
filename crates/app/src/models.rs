//! What the words of a model mean: its variables, the names in formulas, states by formulas or known
//! solutions, and the reference state.

pub mod inflow;
pub mod initial_waves;
pub mod reference;
pub mod scalars;
pub mod state;
pub mod states;
pub mod variables;
pub mod vocabulary;
