//! The layout of a group's values, and who chooses it.

use crate::space::scheme::{Form, PartSpec};
use dgsuite_basis::{BasisError, Shape};
use dgsuite_gpu::SimdLevel;

/// Memory layout of a group's values: `[block][row][field][lane]`, or `[block][field][row]` if `planar` (with
/// one lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Lanes of a block.
    pub lanes: usize,
    /// Blocks.
    pub blocks: usize,
    /// Rows of a block: basis functions, or face points of a trace.
    pub rows: usize,
    /// Unknowns.
    pub fields: usize,
    /// Whether the rows of one unknown are contiguous; a block is then one element.
    pub planar: bool,
}

impl Layout {
    /// Scalars of one block.
    #[must_use]
    pub const fn block_len(&self) -> usize {
        self.rows * self.fields * self.lanes
    }

    /// Scalars in all.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.blocks * self.block_len()
    }

    /// True if there are no values.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of the value of `slot`, `row`, `field`.
    #[must_use]
    pub const fn index(&self, slot: usize, row: usize, field: usize) -> usize {
        (slot / self.lanes) * self.block_len()
            + row * self.row_stride()
            + field * self.field_stride()
            + slot % self.lanes
    }

    /// Scalars between consecutive rows of a block.
    #[must_use]
    pub const fn row_stride(&self) -> usize {
        if self.planar { 1 } else { self.fields * self.lanes }
    }

    /// Scalars between consecutive unknowns of a row.
    #[must_use]
    pub const fn field_stride(&self) -> usize {
        if self.planar { self.rows } else { self.lanes }
    }
}

/// Whether geometry is one value per block (affine elements) or one per point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerPoint {
    /// The same at every point of an element (or of a face).
    No,
    /// Different at every point.
    Yes,
}

/// What a device chooses a layout for: the elements of one shape and the terms of the equation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) shape: Shape,
    /// The specifications of affine and of curved elements.
    pub(crate) specs: [Option<PartSpec>; 2],
    pub(crate) form: Form,
    /// Number of unknowns.
    pub(crate) fields: usize,
    pub(crate) terms: Terms,
}

/// The terms of an equation on which the kernels of a device depend.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) diffusion: bool,
    /// Whether rows are added to the residual: those of a source, or of reactions.
    pub(crate) rows: bool,
}

/// Returns the lanes of a block, and whether the layout is planar.
pub(crate) type Chooser = fn(&Wanted) -> Result<(usize, bool), BasisError>;

/// The machine that a layout is made for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lanes {
    /// The CPU: packs of a SIMD level.
    Simd(SimdLevel),
    /// A device, which chooses by its kernels and the terms of the equation.
    Device(Chooser, Terms),
}
