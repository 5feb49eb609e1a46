//! The pipeline file as a text: a tree with the place of each value, typed reading of its sections, the table
//! of keys, and mistakes with their places and hints. What the sections mean is in the rooms above.

pub mod beginning;
pub mod every;
pub mod expression;
pub mod key;
pub mod keys;
pub mod node;
pub mod number;
pub mod problem;
pub mod quantity;
pub mod section;
pub mod source;
pub mod tree;
